"""What the parts of the store share: the wire to the table, and how many shards its indexes have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from stepless.adapters.aws.dynamo.wire import Wire

A = TypeVar("A")
B = TypeVar("B")


class TableAccess:
    """`shards` spread an index over so many partitions. It may grow and must never shrink. `at_once` requests of one listing are
    sent side by side."""

    _wire: Wire
    _shards: int
    _at_once: int

    def _together(self, call: Callable[[A], B], given: Iterable[A]) -> Sequence[B]:
        """`call` of each, in order, several at once: for requests that wait for the network."""
        each = list(given)
        at_once = min(self._at_once, len(each))
        if at_once < 2:
            return [call(one) for one in each]
        with ThreadPoolExecutor(at_once) as threads:
            return list(threads.map(call, each))
