"""Reads and raises the number of partitions (shards) of each index, an item of the table that is never lowered.

| attribute | what |
|---|---|
| s | the count that readers use as soon as they have read the item |
| f, t | until the instant `t` (ms), writers use the former count `f` |

A process reads the item at most once in SHARDS_FRESH_MS. A raise therefore lets writers wait for twice that time: no run is
written to a shard that some reader does not know yet. A writer with the former count writes to shards that every reader knows.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock
from typing import Final, NamedTuple

from stepless.adapters.aws.dynamo.table import item_keys
from stepless.adapters.aws.dynamo.table.wire import Item, Value, Wire
from stepless.errors import LimitExceeded
from stepless.limits import MAX_SHARDS, NEVER_MS, SHARDS_FRESH_MS

DEFAULT_SHARDS: Final = 8  # without the item; a release that does not know the item uses this number
_UNCHANGED: Final = "attribute_not_exists(pk) OR s = :s"


class _Counts(NamedTuple):
    readers: int
    former: int
    since_ms: int


class Shards:
    """`fixed` is used instead of the item. If the item has a smaller number than `wanted`, a process that reads it raises it.
    `now_ms` is the clock of the machine; clocks may differ by SHARDS_FRESH_MS. `elapsed` is a monotonic clock, in seconds."""

    def __init__(
        self, wire: Wire, *, fixed: int | None = None, wanted: int = 0, now_ms: Callable[[], int] | None = None,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._wire = wire
        self._fixed = fixed
        self._wanted = wanted
        self._now_ms = now_ms or _system_ms
        self._elapsed = elapsed
        self._lock = Lock()
        self._read_at: float | None = None
        self._counts = _Counts(DEFAULT_SHARDS, DEFAULT_SHARDS, 0)

    @property
    def readers(self) -> int:
        """How many shards a listing reads. Raises `StoreUnavailable` if the count cannot be read when it is too old."""
        return self._fixed if self._fixed is not None else self._known().readers

    @property
    def writers(self) -> int:
        """How many shards runs are written to: at most `readers`. Raises as `readers` does."""
        if self._fixed is not None:
            return self._fixed
        counts = self._known()
        return counts.readers if self._now_ms() >= counts.since_ms else counts.former

    def raise_to(self, count: int) -> int:
        """Raises the stored count to `count` and returns it. A smaller or equal number changes nothing, and neither does a raise
        while the former one is not yet in effect: try again later. Of concurrent raises, one succeeds.

        Raises `LimitExceeded` above MAX_SHARDS.
        """
        if count > MAX_SHARDS:
            raise LimitExceeded(f"{count} index shards; {MAX_SHARDS} is the limit", place="IndexShards", mend="use fewer shards")
        item, now_ms = self._wire.get(item_keys.SHARDS, item_keys.ONLY), self._now_ms()
        counts = _counts(item)
        if count <= counts.readers or now_ms < counts.since_ms:
            return counts.readers
        raised: dict[str, Value] = {"s": count, "f": counts.readers, "t": now_ms + 2 * SHARDS_FRESH_MS}
        key = {"pk": item_keys.SHARDS, "sk": item_keys.ONLY}
        written = self._wire.put(key | raised, _UNCHANGED, {"s": counts.readers})
        return count if written.done else _counts(written.item).readers

    def _known(self) -> _Counts:
        with self._lock:
            now = self._elapsed()
            if self._read_at is None or (now - self._read_at) * 1000 >= SHARDS_FRESH_MS:
                self._counts = _counts(self._wire.get(item_keys.SHARDS, item_keys.ONLY))
                if self._wanted > self._counts.readers:
                    self.raise_to(self._wanted)
                    self._counts = _counts(self._wire.get(item_keys.SHARDS, item_keys.ONLY))
                self._read_at = now
            return self._counts


def _counts(item: Item | None) -> _Counts:
    """The counts of the item; of a damaged one, such that every reader reads what any writer writes."""
    if item is None:
        return _Counts(DEFAULT_SHARDS, DEFAULT_SHARDS, 0)
    if not 1 <= item["f"] <= item["s"] <= MAX_SHARDS:
        return _Counts(MAX_SHARDS, DEFAULT_SHARDS, NEVER_MS)
    return _Counts(item["s"], item["f"], item["t"])


def _system_ms() -> int:
    return time.time_ns() // 1_000_000
