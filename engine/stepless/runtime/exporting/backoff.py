"""Backs off from an exporter in one process: after a failure, no run tries it for a while, so that a target that does not answer
costs the runs no time."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from stepless.limits import EXPORT_PAUSE_MS, MAX_EXPORT_PAUSE_MS


class Backoff:
    """`clock` counts seconds."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._failures = 0
        self._until = 0.0

    def is_over(self) -> bool:
        return self._failures == 0 or self._clock() >= self._until

    def failed(self) -> None:
        """Lets the exporter rest: EXPORT_PAUSE_MS, and twice as long after each further failure."""
        pause_ms = min(EXPORT_PAUSE_MS * 2 ** min(self._failures, 20), MAX_EXPORT_PAUSE_MS)
        self._failures += 1
        self._until = self._clock() + pause_ms / 1000

    def succeeded(self) -> None:
        self._failures = 0
