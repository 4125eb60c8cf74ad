"""Defines the base class of the store's parts: requests to the table, the number of shards, and parallel requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from stepless.adapters.aws.dynamo.table.shards import Shards
from stepless.adapters.aws.dynamo.table.wire import Wire

A = TypeVar("A")
B = TypeVar("B")


class TableAccess:
    """`at_once` requests of one listing are sent in parallel."""

    _wire: Wire
    _shards: Shards
    _at_once: int

    def _in_parallel(self, call: Callable[[A], B], arguments: Iterable[A]) -> Sequence[B]:
        """The results of `call` for each argument, in order. `at_once` calls wait for the network at a time."""
        each = list(arguments)
        at_once = min(self._at_once, len(each))
        if at_once < 2:
            return [call(one) for one in each]
        with ThreadPoolExecutor(at_once) as threads:
            return list(threads.map(call, each))
