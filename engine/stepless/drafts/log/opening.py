"""Makes the state of a draft from what is stored: the origin, over it the entities, over them the log above `checked`.

Checkpoints of other processes go on meanwhile, so the entities are of different ages: each as of some item, at `checked` or
above. Effects only change the entity that they touch, so each entity is brought to the head by itself: an effect of an item that
is not above the entity's own is in it already, and is skipped. The log is read after the entities, and so reaches at least as
far.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic

from stepless.drafts.log.editing import Editing, S
from stepless.drafts.log.entries import Last
from stepless.drafts.log.heads import any_origin
from stepless.drafts.log.records import Records, Storage
from stepless.drafts.log.warm_draft import LAST, Room
from stepless.model.json import JSON
from stepless.ports import DraftHead


class Opening(Generic[S]):
    """Opens the epoch that a head names. The room is closed if its log is."""

    room: type[Room[S]] = Room

    def __init__(self, storage: Storage, editing: Editing[S]) -> None:
        self._storage = storage
        self._editing = editing

    def origin(self, head: DraftHead) -> Mapping[str, JSON]:
        """The entities of what the epoch was opened from."""
        return self._editing.origin(head.draft, any_origin(head))

    def open(self, head: DraftHead) -> Room[S]:
        """Raises `StoreUnusable` (draft_damaged) if items above `checked` are missing."""
        records = Records(self._storage, head.draft)
        with records.folding(head.checked):
            return self._open(head, records)

    def _open(self, head: DraftHead, records: Records) -> Room[S]:
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
        room = self.room(self._editing, records, state, head.checked, head.checked, from_origin)
        room.last = last
        for item in records.items(max(0, head.checked - 1)):
            if item.seq == head.checked:
                room.remember(item)
            else:
                room.take(item, ages)
        newest = max(ages.values(), default=0)
        if newest > room.seq:
            raise records.damaged(room.seq + 1, f"it is missing, and there is an entity of item {newest:,}")
        return room
