"""What the parts of the store share: the wire to the table, and how many shards its indexes have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from stepless.adapters.aws.wire import Wire

A = TypeVar("A")
B = TypeVar("B")

_AT_ONCE = 16  # requests of one listing; the clients keep 32 connections


class Part:
    """`shards` spread an index over so many partitions. It may grow and must never shrink."""

    _wire: Wire
    _shards: int


def together(call: Callable[[A], B], given: Iterable[A]) -> Sequence[B]:
    """`call` of each, in order, several at once: for requests that wait for the network."""
    each = list(given)
    if len(each) < 2:
        return [call(one) for one in each]
    with ThreadPoolExecutor(min(_AT_ONCE, len(each))) as threads:
        return list(threads.map(call, each))
