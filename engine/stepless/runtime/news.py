"""Notifications inside one process: a request that waits for a run is woken when the run commits events, so it need not poll.

News is only a hint: the waiter reads from the log what has happened. It is complete only if one process executes all runs of its
store. Elsewhere, waiters poll.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Final

from stepless.core.events import RUN_ENDS, Event, EventType

_MILESTONES: Final = RUN_ENDS | {EventType.RUN_STATUS_CHANGED, EventType.NODE_WAITING}


class Follower:
    """Waits for news of one run, in the event loop that created it. With `closely`, every commit is news. Otherwise only commits
    after which the run ends, changes its status, waits or answers its caller are news."""

    def __init__(self, *, closely: bool) -> None:
        self.closely = closely
        self._loop = asyncio.get_running_loop()
        self._has_news = asyncio.Event()

    async def wait(self, seconds: float) -> None:
        """Returns at the first news since the last wait, possibly immediately, or after `seconds` without news."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._has_news.wait()
        self._has_news.clear()

    def wake(self) -> None:
        """May be called from any thread."""
        with suppress(RuntimeError):  # the loop is closed, so nothing waits in it
            self._loop.call_soon_threadsafe(self._has_news.set)


class News:
    """The followers of each run. To publish news of a run without followers costs one lookup."""

    def __init__(self) -> None:
        self._followers: dict[str, tuple[Follower, ...]] = {}
        self._lock = Lock()

    @contextmanager
    def of(self, run_id: str, *, closely: bool = False) -> Iterator[Follower]:
        """Follows the run inside the block. A caller that enters the block, reads the run and then waits misses no news."""
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

    def publish(self, run_id: str, events: Sequence[Event]) -> None:
        """Wakes the followers of the run after these events are committed."""
        followers = self._followers.get(run_id)
        if not followers or not events:
            return
        milestone = any(event.type in _MILESTONES or "response" in event.data for event in events)
        for follower in followers:
            if milestone or follower.closely:
                follower.wake()
