"""Keeps timers in memory. They are lost when the process ends; the sweep then finds the runs that they would have woken."""

from __future__ import annotations

import heapq
from threading import Lock

from stepless.errors import StoreUnavailable
from stepless.limits import MAX_QUEUED_HINTS


class MemoryTimers:
    """A heap of instants, and the armed instants of each run. A disarmed instant stays in the heap until it reaches the top, or
    until most of the heap is disarmed."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._heap: list[tuple[int, str]] = []
        self._armed: dict[str, set[int]] = {}
        self._count = 0

    def arm(self, run_id: str, at_ms: int) -> None:
        with self._lock:
            instants = self._armed.get(run_id, frozenset[int]())
            if at_ms in instants:
                return
            if self._count >= MAX_QUEUED_HINTS:
                raise StoreUnavailable(f"{MAX_QUEUED_HINTS:,} timers are armed", place="timers", mend="arm it again later")
            self._armed.setdefault(run_id, set()).add(at_ms)
            self._count += 1
            heapq.heappush(self._heap, (at_ms, run_id))

    def disarm(self, run_id: str) -> None:
        with self._lock:
            self._count -= len(self._armed.pop(run_id, ()))
            if len(self._heap) > 2 * self._count + 64:
                self._heap = [(at_ms, run) for run, instants in self._armed.items() for at_ms in instants]
                heapq.heapify(self._heap)

    def due(self, now_ms: int) -> tuple[str, ...]:
        """Removes the timers that are due at `now_ms` and returns their runs: each once, ordered by instant, then run id."""
        with self._lock:
            runs: dict[str, None] = {}
            while (at_ms := self._next_ms()) is not None and at_ms <= now_ms:
                _, run_id = heapq.heappop(self._heap)
                self._armed[run_id].discard(at_ms)
                if not self._armed[run_id]:
                    del self._armed[run_id]
                self._count -= 1
                runs[run_id] = None
            return tuple(runs)

    def next_ms(self) -> int | None:
        """Returns the earliest armed instant, which may be past; None if no timer is armed."""
        with self._lock:
            return self._next_ms()

    def _next_ms(self) -> int | None:
        while self._heap:
            at_ms, run_id = self._heap[0]
            if at_ms in self._armed.get(run_id, ()):
                return at_ms
            heapq.heappop(self._heap)
        return None
