"""An event loop that does not wait: when nothing is ready, its time goes on at once to the next timer.

What a process does by itself is then a number that no other load of the machine changes: how often it woke up, and for what.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
START_MS = 1_700_000_000_000


class IdleSelector(selectors.DefaultSelector):
    """Sockets and signals are real. `passed_s` is the time that was waited for, `wakes` how often it ended by a timer."""

    def __init__(self) -> None:
        super().__init__()
        self.passed_s = 0.0
        self.wakes = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None:
            return super().select(None)
        self.passed_s += max(0.0, timeout)
        self.wakes += 1
        return ready


class IdleLoop(asyncio.SelectorEventLoop):
    """Its clock and `now_ms`, a `Clock` of the engine, are the time that the selector has passed over. What goes to an executor
    is done at once, in its place."""

    def __init__(self) -> None:
        self.idle = IdleSelector()
        super().__init__(self.idle)

    def time(self) -> float:
        return self.idle.passed_s

    def now_ms(self) -> int:
        return START_MS + round(self.idle.passed_s * 1000)

    async def passed(self, ms: int) -> None:
        """Lets this time pass."""
        over = self.create_future()
        self.call_later(ms / 1000, over.set_result, None)
        await over

    def run_in_executor(self, executor: Any, func: Callable[..., T], *args: Any) -> asyncio.Future[T]:
        done: asyncio.Future[T] = self.create_future()
        done.set_result(func(*args))
        return done
