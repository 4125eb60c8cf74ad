"""The attempts of one session that are under way, each under its own deadline.

A deadline ends its attempt whatever the node's code does. The code is cancelled, and in that instant the attempt has timed out;
code that swallows the cancellation works on for nobody: its late end is not heard.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from math import inf
from typing import Any

from stepless.core.decision import Dispatch
from stepless.core.facts import AttemptFact
from stepless.runtime.session.alarm import Alarm
from stepless.runtime.session.execute import timed_out


@dataclass(slots=True, eq=False)
class Attempt:
    """One attempt that was begun. `until` is its deadline, in the loop's seconds, once its clock runs."""

    dispatch: Dispatch
    task: asyncio.Task[None] | None = None
    until: float = inf


class Attempts:
    """True while any attempt is under way. `tell` is given the facts of those that ran out of time."""

    def __init__(self, loop: asyncio.AbstractEventLoop, tell: Callable[[AttemptFact], None]) -> None:
        self._loop = loop
        self._tell = tell
        self._live: dict[str, Attempt] = {}
        self._alarm = Alarm(loop)

    def __bool__(self) -> bool:
        return bool(self._live)

    def begin(self, dispatch: Dispatch, work: Callable[[Attempt], Coroutine[Any, Any, None]]) -> None:
        """Does `work` in a task of its own."""
        attempt = self._live[dispatch.id] = Attempt(dispatch)
        attempt.task = self._loop.create_task(work(attempt))

    def start_clock(self, attempt: Attempt) -> float:
        """The node's code is called now: answers the instant, from which its `timeout_ms` counts."""
        now = self._loop.time()
        attempt.until = now + attempt.dispatch.instance.node.timeout_ms / 1000
        self._alarm.set(attempt.until, self._end_overdue)
        return now

    def end(self, attempt: Attempt) -> bool:
        """Whether somebody still waits for its end: not if it ran out of time, or was dropped."""
        if self._live.get(attempt.dispatch.id) is not attempt:
            return False
        del self._live[attempt.dispatch.id]
        return True

    def drop(self, instance: str) -> None:
        """Stops an attempt whose end is of no interest any more."""
        attempt = self._live.pop(instance, None)
        if attempt is not None and attempt.task is not None:
            attempt.task.cancel()

    def close(self) -> None:
        """Drops them all."""
        self._alarm.clear()
        for instance in list(self._live):
            self.drop(instance)

    def _end_overdue(self) -> None:
        """Looks at all of them, a few hundred at most; most of the time the one that set the alarm has long ended."""
        now = self._loop.time()
        for attempt in [attempt for attempt in self._live.values() if attempt.until <= now]:
            self.drop(attempt.dispatch.id)
            self._tell(timed_out(attempt.dispatch))
        soonest = min((attempt.until for attempt in self._live.values()), default=inf)
        if soonest < inf:
            self._alarm.set(soonest, self._end_overdue)
