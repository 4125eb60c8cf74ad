"""Counts what one task has used: the port `Tallies`, for watched boto3 clients."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import ceil
from threading import Lock
from typing import Any

from stepless.adapters.aws.capacity import watch
from stepless.model.runs.tally import Tally


class _Open:
    """A task's current tally. Threads that the task starts add to the same one."""

    __slots__ = ("lock", "since", "tally")

    def __init__(self, begun: Tally) -> None:
        self.tally = begun
        self.since = time.monotonic()
        self.lock = Lock()

    def add(self, used: Tally) -> None:
        with self.lock:
            self.tally += used

    def take(self, memory_mb: int) -> Tally:
        with self.lock:
            tally, self.tally, since, self.since = self.tally, Tally(), self.since, time.monotonic()
        took_ms = ceil((self.since - since) * 1000)
        return tally + Tally(lambda_ms=took_ms, lambda_mb_ms=took_ms * memory_mb)


class RequestTallies:
    """Watches clients for as long as they live. `memory_mb` is the function's. Time is counted from `open` to the last `take`; it
    does not include what Lambda bills before and after, such as starting the process. Concurrent tasks each count the whole
    time."""

    def __init__(self, memory_mb: int, *clients: Any) -> None:
        self._memory_mb = memory_mb
        self._present: ContextVar[_Open | None] = ContextVar("tally", default=None)
        for client in clients:
            watch(client, self._add, self)

    @contextmanager
    def open(self, begun: Tally) -> Iterator[None]:
        token = self._present.set(_Open(begun))
        try:
            yield
        finally:
            self._present.reset(token)

    def take(self) -> Tally | None:
        present = self._present.get()
        return present.take(self._memory_mb) if present is not None else None

    def _add(self, name: str, used: Tally) -> None:
        present = self._present.get()
        if present is not None:
            present.add(used)
