"""Makes the state of a draft from what is stored: the origin, over it the entities, over them the log above `checked`.

The problem: an opening reads many items, one by one, while checkpoints of other processes rewrite them. No read sees one instant.
The entities that it finds are of different ages, each as of some entry, at `checked` or above.

Why the result is exact nevertheless. An effect changes only the entity that it touches, so the state at the head is, entity by
entity, the stored entity and then the effects on it that it does not contain. Each stored entity says as of which entry it is
(its `seq`), so an effect of an entry at or below that is in it already and is skipped (`ages`); a later one is applied. Nothing
is applied twice, which would matter: a splice is not idempotent.

Three things have to be so:

* *The head is read first.* Its `checked` promises that each entity is written up to there, so the log is needed only above it.
* *The log is read after the entities.* It then reaches at least as far as any of them. In the other order an entity could contain
  an entry that the log as it was read does not have, and the state would be of no instant at all. If that is found nevertheless
  (`newest`), entries are missing from the store, and the draft is reported as damaged.
* *A deleted entity stays as a tombstone* with its age. Without it, the origin would bring it back, or an older write would.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic

from stepless.drafts.log.editing import Editing, S
from stepless.drafts.log.entries import Last
from stepless.drafts.log.heads import any_origin
from stepless.drafts.log.records import Records, Storage
from stepless.drafts.log.warm_draft import LAST, WarmDraft
from stepless.model.json import JSON
from stepless.ports import DraftHead


class Opening(Generic[S]):
    """Opens the epoch that a head names. The warm draft is closed if its log is."""

    warm: type[WarmDraft[S]] = WarmDraft

    def __init__(self, storage: Storage, editing: Editing[S]) -> None:
        self._storage = storage
        self._editing = editing

    def origin(self, head: DraftHead) -> Mapping[str, JSON]:
        """Returns the entities of what the epoch was opened from."""
        return self._editing.origin(head.draft, any_origin(head))

    def open(self, head: DraftHead) -> WarmDraft[S]:
        """Raises `StoreUnusable` (draft_damaged) if entries above `checked` are missing."""
        records = Records(self._storage, head.draft)
        with records.folding(head.checked):
            return self._open(head, records)

    def _open(self, head: DraftHead, records: Records) -> WarmDraft[S]:
        entities = dict(self.origin(head))
        from_origin, ages, last = frozenset(entities), dict[str, int](), dict[str, Last]()
        for key, seq, value in records.entities():
            ages[key] = seq
            if key.startswith(LAST):
                last[key.removeprefix(LAST)] = Last(value[0], seq, *value[1:])
            elif value is None:
                entities.pop(key, None)
            else:
                entities[key] = value
        state = self._editing.begin(entities.items())
        warm = self.warm(self._editing, records, state, head.checked, head.checked, from_origin)
        warm.last = last
        for entry in records.entries(max(0, head.checked - 1)):
            if entry.seq == head.checked:
                warm.remember(entry)
            else:
                warm.take(entry, ages)
        newest = max(ages.values(), default=0)
        if newest > warm.seq:
            raise records.damaged(warm.seq + 1, f"it is missing, and there is an entity of item {newest:,}")
        return warm
