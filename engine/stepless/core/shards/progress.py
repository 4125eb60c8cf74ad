"""Folds the log of a shard, and decides which of its items may begin and when a chunk is committed.

A shard logs chunks, never single items. Three rules make that safe:

* *The mark is written ahead.* No item at or behind `started_to` begins. After a death, only items below the mark can have begun;
  those of them without a committed end run again, with their former tokens.
* *What may be lost is bounded.* No item begins while those that run and those whose end is not committed reach
  `commit + lanes`, so however slow an append is, at most so many effects happen twice.
* *An item whose end is committed never runs again.*

A take-over after a death is a record too. After the second one without a chunk in between, the items in doubt run alone, each
behind a record that names it; if the process dies once more, that item has failed (`item_poisoned`), and the shard goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from stepless.limits import DEATHS_BEFORE_ISOLATION
from stepless.model.json import JSON

POISONED: Final = "item_poisoned"
UNKNOWN: Final = "outcome_unknown"
WHOLE: Final = "whole"  # a session that leaves has committed the end of each item that it has begun
INTERRUPTED: Final = "interrupted"  # … has not


class End(NamedTuple):
    """How the item with this number ended: with a result, or with an error {code, message}."""

    item: int
    result: JSON = None
    error: Mapping[str, JSON] | None = None


@dataclass(slots=True)
class Progress:
    """The items of one shard, by their place in it from 0. `ended` has a byte for each, not 0 once its end is committed. `alone`
    is the item that the last record names, `suspect` the one that ran alone when the process died. `left` says how the
    last session left the shard, WHOLE or INTERRUPTED; empty if its process died, or works on it. `rows` are the results of chunks
    in the order of the log, inline or by the key of a blob. `tokens` are the run and the `ended` that tokens of items name which
    have begun in a run that this one repeats."""

    total: int
    sequence: int = 0
    started_to: int = 0
    ended: bytearray = field(default_factory=bytearray)
    completed: int = 0
    failed: int = 0
    deaths: int = 0  # since the last chunk
    alone: int | None = None
    suspect: int | None = None
    left: str = ""
    rows: list[Sequence[Any] | str] = field(default_factory=list)
    tokens: dict[int, tuple[str, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ended = self.ended or bytearray(self.total)

    @property
    def is_over(self) -> bool:
        return self.completed + self.failed == self.total

    @property
    def isolates(self) -> bool:
        """Whether items that were in progress run alone."""
        return self.deaths >= DEATHS_BEFORE_ISOLATION

    def fold(self, record: Mapping[str, Any]) -> None:
        """Applies the next record of the log."""
        self.sequence += 1
        self.left = record.get("left", "")
        if "died" in record:
            self.deaths += 1
            self.suspect, self.alone = self.suspect if self.alone is None else self.alone, None
            return
        self.alone = record.get("alone")
        for run, used, first, bits in record.get("tokens", ()):
            self.tokens.update(dict.fromkeys(places_in(first, bits), (run, used)))
        self.started_to = max(self.started_to, record.get("started_to", 0))
        if "ended" not in record:
            return
        self.suspect = None
        if not record.get("isolated"):  # else other items are still in doubt
            self.deaths = 0
        first, bits = record["ended"]
        for place in places_in(first, bits):
            if not self.ended[place]:
                self.ended[place] = 1
                self.completed += 1
        self.failed += record.get("failed", 0)
        self.completed -= record.get("failed", 0)
        if (rows := record.get("rows")) is not None:
            self.rows.append(rows)

    def open_items(self) -> list[int]:
        """Returns the items without a committed end, in order."""
        return [place for place, ended in enumerate(self.ended) if not ended]

    def in_doubt(self) -> list[int]:
        """Returns the items that may have begun without an end."""
        return [place for place in range(self.started_to) if not self.ended[place]]


def chunk(
    started_to: int, ends: Sequence[End], rows: Sequence[Any] | str, *, isolated: bool = False
) -> dict[str, Any]:
    """Returns the record that commits ends. `rows` are those of `row_of`, or the key of the blob that holds them.
    `isolated`: the items ran alone, and others may still be in doubt."""
    record: dict[str, Any] = {"started_to": started_to}
    if ends:
        record |= {"ended": bits_of([end.item for end in ends]), "rows": rows}
        if failed := sum(end.error is not None for end in ends):
            record["failed"] = failed
    if isolated:
        record["isolated"] = True
    return record


def tokens_of(places: Mapping[int, tuple[str, int]]) -> list[list[Any]]:
    """Returns `Progress.tokens` as a record holds it."""
    names = sorted(set(places.values()))
    return [[*name, *bits_of([place for place, own in places.items() if own == name])] for name in names]


def row_of(end: End) -> list[Any]:
    """Returns an end as chunks hold it: [place, result], or [place, null, {code, message}]."""
    return [end.item, end.result] if end.error is None else [end.item, None, dict(end.error)]


def bits_of(places: Iterable[int]) -> list[Any]:
    """Encodes a set of places: the first one, and a hexadecimal number with the bit of each, counted from there."""
    some = sorted(places)
    first, number = some[0], 0
    for place in some:
        number |= 1 << (place - first)
    return [first, f"{number:x}"]


def places_in(first: int, bits: str) -> list[int]:
    number = int(bits, 16)
    return [first + place for place in range(number.bit_length()) if number >> place & 1]


@dataclass(slots=True)
class Lanes:
    """What one session has begun of a shard. `todo` are the items that have not begun in it, the next one last."""

    progress: Progress
    commit: int
    lanes: int
    ahead: int
    todo: list[int]
    running: set[int] = field(default_factory=set)
    uncommitted: list[End] = field(default_factory=list)

    @property
    def may_begin(self) -> bool:
        """Whether the next item may begin."""
        if not self.todo or self.todo[-1] >= self.progress.started_to:
            return False
        running = len(self.running)
        return running < self.lanes and running + len(self.uncommitted) < self.commit + self.lanes

    @property
    def is_due(self) -> bool:
        """Whether a chunk should be committed, apart from its age: it is full, no lane can go on without, or all has ended."""
        if len(self.uncommitted) >= self.commit:
            return True
        if self.todo and self.todo[-1] >= self.progress.started_to and len(self.running) < self.lanes:
            return True
        return bool(self.uncommitted) and not self.running and not self.todo

    def begin(self) -> int:
        place = self.todo.pop()
        self.running.add(place)
        return place

    def end(self, end: End) -> None:
        self.running.remove(end.item)
        self.uncommitted.append(end)

    @property
    def next_mark(self) -> int:
        """The mark to commit next: `ahead` items after those that have begun."""
        following = self.todo[-1] if self.todo else self.progress.total
        return max(self.progress.started_to, min(self.progress.total, following + self.ahead))
