"""News of runs inside one process: who waits there for a run looks at it again when it has moved on, and not before.

A hint and nothing more: what has happened is read from the log. Only where one process runs every run of its store is a waiter
told of everything; elsewhere waiters look again by themselves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Final

from stepless.core.events import RUN_ENDS, Event, EventType

_RESTS: Final = RUN_ENDS | {EventType.RUN_STATUS_CHANGED, EventType.NODE_WAITING}


class Follower:
    """Waits for news of one run, in the event loop that made it. `closely` is told of every commit, others of a run that ends,
    pauses, waits for somebody or answers its caller."""

    def __init__(self, *, closely: bool) -> None:
        self.closely = closely
        self._loop = asyncio.get_running_loop()
        self._told = asyncio.Event()

    async def wait(self, seconds: float) -> None:
        """Returns at the first news since the last wait, which may be at once; after `seconds` without any."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._told.wait()
        self._told.clear()

    def wake(self) -> None:
        """May be called from any thread."""
        with suppress(RuntimeError):  # the loop is closed: nothing waits in it any more
            self._loop.call_soon_threadsafe(self._told.set)


class News:
    """Which waiters follow which run. Telling of a run without followers costs one look-up."""

    def __init__(self) -> None:
        self._followers: dict[str, tuple[Follower, ...]] = {}
        self._lock = Lock()

    @contextmanager
    def of(self, run_id: str, *, closely: bool = False) -> Iterator[Follower]:
        """Inside the block nothing that is told of the run escapes the follower: a caller that reads the run in it, then waits,
        misses nothing."""
        follower = Follower(closely=closely)
        with self._lock:
            self._followers[run_id] = (*self._followers.get(run_id, ()), follower)
        try:
            yield follower
        finally:
            with self._lock:
                rest = tuple(other for other in self._followers[run_id] if other is not follower)
                if rest:
                    self._followers[run_id] = rest
                else:
                    del self._followers[run_id]

    def tell(self, run_id: str, events: Sequence[Event]) -> None:
        """These events of the run are committed."""
        followers = self._followers.get(run_id)
        if not followers or not events:
            return
        rests = any(event.type in _RESTS or "response" in event.data for event in events)
        for follower in followers:
            if rests or follower.closely:
                follower.wake()
