"""Provides a clock that changes only when its owner sets or advances it."""

from __future__ import annotations


class SettableClock:
    """Time for tests and simulation, in milliseconds since 1970 UTC. `set` may move it back, as a real clock may."""

    def __init__(self, now_ms: int = 0) -> None:
        self._now_ms = now_ms

    def now_ms(self) -> int:
        return self._now_ms

    def set(self, now_ms: int) -> None:
        self._now_ms = now_ms

    def advance(self, by_ms: int) -> int:
        """Moves the clock forward by `by_ms` and returns the new time."""
        self._now_ms += by_ms
        return self._now_ms
