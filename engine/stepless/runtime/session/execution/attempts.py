"""Tracks the running attempts of one session, each with its own deadline.

A deadline ends its attempt regardless of what the node's code does. The code is cancelled, and the attempt has timed out at that
instant. Code that goes on, in a thread or because it suppresses the cancellation, lingers (`lingering`): its late result is
ignored.
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
from stepless.runtime.session.execution.eager import start_now, start_soon
from stepless.runtime.session.execution.execute import timed_out
from stepless.runtime.session.permits.lingering import Lingering
from stepless.thread_calls import ThreadCalls


@dataclass(slots=True, eq=False)
class Attempt:
    """One started attempt. `until` is its deadline, in the loop's seconds, once its clock runs. `calls` counts its calls in
    threads."""

    dispatch: Dispatch
    task: asyncio.Task[None] | None = None
    until: float = inf
    calls: ThreadCalls | None = None

    @property
    def has_returned(self) -> bool:
        """Whether nothing of the attempt's code runs any more."""
        return (self.task is None or self.task.done()) and (self.calls is None or not self.calls.number)

    def when_returned(self, then: Callable[[], None]) -> None:
        """Calls `then` once all code of an attempt that was cancelled has returned."""

        def check(_: object = None) -> None:
            if self.calls is not None and self.calls.number:
                self.calls.returned = check
            elif self.task is not None and not self.task.done():
                self.task.add_done_callback(check)
            else:
                then()

        check()


class Attempts:
    """`live` holds the running attempts, by instance. `report` is called with the failure of each attempt that times out.
    `lingering` takes the attempts of this run whose code goes on after their end."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, report: Callable[[AttemptFact], None], lingering: Lingering, run_id: str
    ) -> None:
        self._loop = loop
        self._lingering = lingering
        self._run_id = run_id
        self._report = report
        self.live: dict[str, Attempt] = {}
        self._alarm = Alarm(loop)

    def begin(self, dispatch: Dispatch, work: Callable[[Attempt], Coroutine[Any, Any, None]], *, now: bool = False) -> None:
        """Runs `work` in a separate task. With `now` it runs at once until it first waits, so it may be over on return."""
        attempt = self.live[dispatch.id] = Attempt(dispatch)
        attempt.task = (start_now if now else start_soon)(self._loop, work(attempt), dispatch.id)

    def start_clock(self, attempt: Attempt) -> float:
        """Starts the clock right before the node's code is called. Returns the instant from which its `timeout_ms` counts."""
        now = self._loop.time()
        attempt.until = until = now + attempt.dispatch.instance.node.timeout_ms / 1000
        if until < self._alarm.at:
            self._alarm.set(until, self._end_overdue)
        return now

    def end(self, attempt: Attempt) -> bool:
        """Removes the attempt. Returns whether its end counts: False if it timed out or was dropped."""
        if self.live.get(attempt.dispatch.id) is not attempt:
            return False
        del self.live[attempt.dispatch.id]
        if attempt.calls is not None and attempt.calls.number:  # a tool's, which has timed out
            self._lingering.add(self._run_id, attempt.dispatch.id, attempt, self._loop)
        return True

    def drop(self, instance: str) -> None:
        """Cancels an attempt whose end no longer matters."""
        attempt = self.live.pop(instance, None)
        if attempt is not None and attempt.task is not None:
            attempt.task.cancel()
            self._lingering.add(self._run_id, attempt.dispatch.id, attempt, self._loop)

    def close(self) -> None:
        """Drops all attempts."""
        self._alarm.clear()
        for instance in list(self.live):
            self.drop(instance)

    def _end_overdue(self) -> None:
        """Ends the overdue attempts. Checks all, at most a few hundred; the one that set the alarm has usually ended before."""
        now = self._loop.time()
        for attempt in [attempt for attempt in self.live.values() if attempt.until <= now]:
            self.drop(attempt.dispatch.id)
            self._report(timed_out(attempt.dispatch))
        soonest = min((attempt.until for attempt in self.live.values()), default=inf)
        if soonest < inf:
            self._alarm.set(soonest, self._end_overdue)
