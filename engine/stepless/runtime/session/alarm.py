"""An alarm clock for a session. A session sleeps and wakes thousands of times a second, nearly always because an attempt
ended: an alarm that is set already, and early enough, is therefore left alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Alarm:
    """Rings once at an instant of the loop's clock, or earlier: whoever wakes looks what time it is."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._handle: asyncio.TimerHandle | None = None

    def set(self, at: float, ring: Callable[[], None]) -> None:
        """Calls `ring`, which is always the same, at `at` seconds at the latest."""
        if self._handle is not None:
            if self._handle.when() <= at:
                return
            self._handle.cancel()
        self._handle = self._loop.call_at(at, self._rings, ring)

    def clear(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _rings(self, ring: Callable[[], None]) -> None:
        self._handle = None
        ring()
