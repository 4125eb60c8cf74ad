"""Wakes the requests of one process that wait for a run when the run commits events, so that they need not poll.

News is complete only if one process executes all runs of its store, and even there a commit whose answer was lost is not
published. So news is a hint: a waiter that has not received every event reads the log. Elsewhere, waiters poll.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Final, TypeAlias

from stepless.core.events import RUN_ENDS, Event, EventType

_MILESTONES: Final = RUN_ENDS | {EventType.RUN_STATUS_CHANGED, EventType.NODE_WAITING}

Matters: TypeAlias = Callable[[Sequence[Event]], bool]
"""Whether the events of a commit are news for a follower. The runner calls it after the commit. Must be short, and not raise."""


def at_milestones(events: Sequence[Event]) -> bool:
    """Returns whether the run ends, changes its status, waits or answers its caller by these events."""
    return any(event.type in _MILESTONES or "response" in event.data for event in events)


def always(events: Sequence[Event]) -> bool:
    """Returns True: every commit is news."""
    return True


class Follower:
    """Waits for news of one run, in the event loop that created it. `matters` says which commits are news."""

    def __init__(self, matters: Matters) -> None:
        self.matters = matters
        self._loop = asyncio.get_running_loop()
        self._has_news = False
        self._waiter: asyncio.Future[None] | None = None

    async def wait(self, seconds: float) -> None:
        """Returns at the first news since the last wait, possibly immediately, or after `seconds` without news."""
        if not self._has_news:
            self._waiter = self._loop.create_future()
            end = self._loop.call_later(seconds, self._release)
            try:
                await self._waiter
            finally:
                end.cancel()
                self._waiter = None
        self._has_news = False

    def wake(self) -> None:
        """May be called from any thread."""
        if asyncio._get_running_loop() is self._loop:
            self._wake()
            return
        with suppress(RuntimeError):  # the loop is closed, so nothing waits in it
            self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        self._has_news = True
        self._release()

    def _release(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class News:
    """`followers` of each run that has any. To publish news of a run without followers costs one lookup."""

    def __init__(self) -> None:
        self.followers: dict[str, tuple[Follower, ...]] = {}
        self._lock = Lock()

    @contextmanager
    def of(self, run_id: str, matters: Matters = at_milestones) -> Iterator[Follower]:
        """Follows the run inside the block. A caller that enters the block, reads the run and then waits misses no news."""
        follower = Follower(matters)
        with self._lock:
            self.followers[run_id] = (*self.followers.get(run_id, ()), follower)
        try:
            yield follower
        finally:
            with self._lock:
                rest = tuple(other for other in self.followers[run_id] if other is not follower)
                if rest:
                    self.followers[run_id] = rest
                else:
                    del self.followers[run_id]

    def publish(self, run_id: str, events: Sequence[Event]) -> None:
        """Wakes the followers of the run for which these events, which are committed, are news."""
        followers = self.followers.get(run_id)
        if not followers or not events:
            return
        for follower in followers:
            if follower.matters(events):
                follower.wake()
