"""What one task has used: the port `Tallies` over watched clients."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import ceil
from threading import Lock
from typing import Any

from stepless.adapters.aws.capacity import watch
from stepless.model.tally import Tally


class _Open:
    """A tally that is being counted. Threads that a task starts count into the same one."""

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
    """Listens to clients for as long as they live. `memory_mb` is the function's. Time is counted from the opening to the last
    `take`: what Lambda bills besides (starting the process, and what follows) is not in it. Tasks that run side by side
    each count the whole time."""

    def __init__(self, memory_mb: int, *clients: Any) -> None:
        self._memory_mb = memory_mb
        self._present: ContextVar[_Open | None] = ContextVar("tally", default=None)
        for client in clients:
            watch(client, self._heard, self)

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

    def _heard(self, name: str, used: Tally) -> None:
        present = self._present.get()
        if present is not None:
            present.add(used)
