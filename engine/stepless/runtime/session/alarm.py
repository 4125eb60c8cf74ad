"""Wakes a session at an instant. A session may sleep and wake thousands of times per second, nearly always because an attempt
ended. An alarm that is already set early enough is therefore not set again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import inf


class Alarm:
    """Rings once at an instant of the loop's clock, or earlier: the caller must check the time. `at` is when; infinite if it is
    not set."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._handle: asyncio.TimerHandle | None = None
        self.at = inf

    def set(self, at: float, ring: Callable[[], None]) -> None:
        """Calls `ring` at `at` seconds at the latest. Every call must pass the same `ring`."""
        if self.at <= at:
            return
        if self._handle is not None:
            self._handle.cancel()
        self.at = at
        self._handle = self._loop.call_at(at, self._fire, ring)

    def clear(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
            self.at = inf

    def _fire(self, ring: Callable[[], None]) -> None:
        self._handle = None
        self.at = inf
        ring()
