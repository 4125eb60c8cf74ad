"""Holds an open draft in memory: its state after the last entry that this process has read, and what no checkpoint has written
yet."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from threading import RLock
from typing import Final, Generic

from stepless.drafts.log.editing import Editing, S
from stepless.drafts.log.entries import Last, LogEntry
from stepless.drafts.log.records import Kept, Records
from stepless.limits import LAST_KEPT_MS, MAX_BEHIND_ITEMS, TOMBSTONE_KEPT_MS
from stepless.model.json import JSON
from stepless.ports import Draft

LAST: Final = "last/"
"""Begins the key of the entity that holds the `Last` of a client."""


class WarmDraft(Generic[S]):
    """Change it, and read its state, only under `lock`. `closes` is the next head once the epoch is closed."""

    def __init__(
        self, editing: Editing[S], records: Records, state: S, seq: int, checked: int, from_origin: Collection[str]
    ) -> None:
        self.editing = editing
        self.records = records
        self.state = state
        self.seq = seq
        self.checked = checked
        self.at_ms = 0
        self.last: dict[str, Last] = {}
        self.closes: JSON = None
        self.lock = RLock()
        self.changed: dict[str, int] = {}  # entities that no checkpoint is known to have written → entry that changed them last
        self._from_origin = from_origin
        self._recent: deque[LogEntry] = deque(maxlen=MAX_BEHIND_ITEMS)

    @property
    def draft(self) -> Draft:
        return self.records.draft

    def remember(self, entry: LogEntry) -> None:
        """Keeps an entry for `since`. Of the entry before the first one that is taken, only its time counts."""
        self.at_ms = max(self.at_ms, entry.at_ms)
        self._recent.append(entry)

    def take(self, entry: LogEntry, ages: Mapping[str, int] | None = None) -> None:
        """Folds the next entry. `ages` say which entities of the state are newer than that: effects on them are skipped. Raises
        `StoreUnusable` if it is not the next one."""
        if entry.seq != self.seq + 1 or self.closes is not None:
            raise self.records.damaged(entry.seq, f"it follows {'the end of the epoch' if self.closes is not None else self.seq}")
        with self.records.folding(entry.seq):
            self._fold(entry, ages)

    def _fold(self, entry: LogEntry, ages: Mapping[str, int] | None) -> None:
        fresh = [(key, effect) for effect in entry.effects if self._is_news(key := self.editing.touched(effect), entry.seq, ages)]
        self.editing.fold(self.state, [effect for _, effect in fresh])
        self.changed.update((key, entry.seq) for key, _ in fresh)
        if entry.client and self._is_news(LAST + entry.client, entry.seq, ages):
            self.last[entry.client] = Last(entry.n, entry.seq, entry.tag, entry.by)
            self.changed[LAST + entry.client] = entry.seq
        self.seq = entry.seq
        self.closes = entry.closes
        self.remember(entry)

    def _is_news(self, key: str, seq: int, ages: Mapping[str, int] | None) -> bool:
        return not ages or seq > ages.get(key, 0)

    def catch_up(self) -> None:
        """Takes what was committed since."""
        with self.lock:
            if self.closes is None:
                for entry in self.records.entries(self.seq):
                    self.take(entry)

    def since(self, base: int) -> Sequence[LogEntry] | None:
        """Returns the entries above `base`; None if it is out of the window: ahead, too far behind, or before what is left
        of the log."""
        if not 0 <= self.seq - base <= MAX_BEHIND_ITEMS or base < 0:
            return None
        first = self._recent[0].seq if self._recent else self.seq + 1
        if base + 1 < first:
            older = self.records.some_entries(base, first - 1 - base)
            if [entry.seq for entry in older] != [*range(base + 1, first)]:
                return None
            self._recent.extendleft(reversed(older))
        return [entry for entry in self._recent if entry.seq > base]

    # -- checkpoints ------------------------------------------------------------------------------------------------

    def unchecked(self, now_ms: int) -> Iterator[tuple[Kept, int | None]]:
        """Yields every entity that changed since the last checkpoint as it is now, with its expiry: a tombstone for a deleted
        one, for ever if the origin has it, or opening would bring it back."""
        for key, seq in self.changed.items():
            if key.startswith(LAST):
                last = self.last[key.removeprefix(LAST)]
                yield Kept(key, seq, [last.n, last.tag, last.by]), now_ms + LAST_KEPT_MS
            else:
                value = self.editing.entity(self.state, key)
                expires = value is None and key not in self._from_origin
                yield Kept(key, seq, value), now_ms + TOMBSTONE_KEPT_MS if expires else None

    def was_checked(self, seq: int) -> None:
        """Notes that a checkpoint has written every entity as of this entry."""
        self.checked = max(self.checked, seq)
        self.changed = {key: changed for key, changed in self.changed.items() if changed > self.checked}
