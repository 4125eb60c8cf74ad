"""An alarm clock for a session. A session sleeps and wakes thousands of times a second, nearly always because an attempt
ended: an alarm that is set already, and early enough, is therefore left alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Alarm:
    """Calls `ring` at an instant of the loop's clock, or earlier: whoever wakes looks what time it is."""

    def __init__(self, loop: asyncio.AbstractEventLoop, ring: Callable[[], None]) -> None:
        self._loop = loop
        self._ring = ring
        self._handle: asyncio.TimerHandle | None = None

    def set(self, at: float) -> None:
        """Rings at `at` seconds at the latest."""
        if self._handle is not None:
            if self._handle.when() <= at:
                return
            self._handle.cancel()
        self._handle = self._loop.call_at(at, self._rings)

    def clear(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _rings(self) -> None:
        self._handle = None
        self._ring()
