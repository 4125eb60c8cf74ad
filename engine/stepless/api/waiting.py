"""Waits for a change of a run, without holding a thread. If this process runs the run, its commits end the wait; otherwise the
store is polled at growing intervals."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, nullcontext
from functools import partial
from time import monotonic
from typing import Any, NamedTuple, Self, TypeAlias, TypeVar

from starlette.concurrency import run_in_threadpool

from stepless.core.events import RUN_ENDS, Event, EventType
from stepless.errors import TransientError
from stepless.limits import POLL_FIRST_MS, POLL_LAST_MS
from stepless.runtime.news import Follower, always, at_milestones
from stepless.runtime.service import Service
from stepless.runtime.verbs.reads.inspecting import EventPage, RunView

T = TypeVar("T")


async def wait_for(
    service: Service, run_id: str, poll: Callable[[], T | None], seconds: float, *, closely: bool = False
) -> T | None:
    """Returns the first result of `poll` that is not None; None after `seconds`. `poll` is called in a thread, at least once:
    with `closely` after every commit of the run, at most every POLL_FIRST_MS, else when the run ends, pauses or responds. A
    temporary failure of the store does not end the wait."""
    news = service.world.news
    with nullcontext() if news is None else news.of(run_id, always if closely else at_milestones) as follower:
        return await _poll_until(poll, monotonic() + seconds, follower)


async def _poll_until(poll: Callable[[], T | None], end: float, follower: Follower | None) -> T | None:
    pause = POLL_FIRST_MS / 1000
    while True:
        polled = monotonic()
        try:
            found, reached = await run_in_threadpool(poll), True
        except TransientError:
            found, reached = None, False  # the follower may have reported a commit that was not read: do not wait for the next
        left = end - monotonic()
        if found is not None or left <= 0:
            return found
        if reached and follower is not None:
            await follower.wait(left)
            if follower.matters is always:
                await asyncio.sleep(min(polled + POLL_FIRST_MS / 1000, end) - monotonic())
        else:
            await asyncio.sleep(min(pause, left))
            pause = min(2 * pause, POLL_LAST_MS / 1000)


# -- conditions -------------------------------------------------------------------------------------------------------


class Seen(NamedTuple):
    """What a condition reads of an event. From the log, `data` has `previews` in place of large values."""

    type: str
    instance: str
    data: Mapping[str, Any]


Until: TypeAlias = Callable[[Iterable[Seen]], bool]
"""Takes the events of a run, in order and each once, in one or several parts; returns whether the wait is over after this part.
Must be short, and not raise."""


class Rest:
    """Whether the run has ended, or waits for something that does not come before `until_ms` by time alone. A run that an
    operator holds does not count: the caller cannot answer what it waits for."""

    def __init__(self, until_ms: int) -> None:
        self._until_ms = until_ms
        self._ended = self._paused = self._held = False
        self._waiting: set[str] = set()  # instances that wait for longer

    def __call__(self, events: Iterable[Seen]) -> bool:
        for type, instance, data in events:
            if type == EventType.RUN_STATUS_CHANGED:
                self._held = data.get("held", self._held)
                self._paused = data["status"] == "paused"
            elif type == EventType.NODE_WAITING and data.get("resume_at", self._until_ms) >= self._until_ms:
                self._waiting.add(instance)
            else:
                self._waiting.discard(instance)
                self._ended = self._ended or type in RUN_ENDS
        return self._ended or (self._paused and not self._held and bool(self._waiting))


class Responded:
    """Whether the run has responded to its caller, or has ended without a response. `response` is the first response, None if
    there is none or if `is_large` says that it must be read; `status` is how the run has ended, if it has."""

    def __init__(self) -> None:
        self.response: Mapping[str, Any] | None = None
        self.is_large = False
        self.status = ""

    def __call__(self, events: Iterable[Seen]) -> bool:
        for type, _, data in events:
            if self.response is None and not self.is_large:
                self.response = data.get("response")
                self.is_large = "response" in data.get("previews", ())
            if type in RUN_ENDS:
                self.status = type.partition(".")[2]
        return bool(self.status) or self.response is not None or self.is_large


# -- waiting for a condition ------------------------------------------------------------------------------------------


class Watch:
    """Waits until a condition is true of a run. Entered before the run is started under the id `run_id`, it receives the run's
    events from this process, and reads nothing of the log; of any other run it reads each event once."""

    def __init__(self, service: Service, run_id: str, until: Until) -> None:
        self._service = service
        self._run_id = run_id
        self._until = until
        self._follower: Follower | None = None
        self._entered = ExitStack()
        self._sequence = 0  # of the last event that `until` has taken
        self._is_over = False
        self._has_missed = False  # an event, which must be read from the log

    def __enter__(self) -> Self:
        if self._service.world.news is not None:
            self._follower = self._entered.enter_context(self._service.world.news.of(self._run_id, self._take))
        return self

    def __exit__(self, *raised: object) -> None:
        self._entered.close()

    def _take(self, events: Sequence[Event]) -> bool:
        """Takes the events of a commit, which the runner has made, and returns whether the wait is over, or must read the log."""
        if self._is_over or self._has_missed:
            return False
        if events[0].sequence != self._sequence + 1:
            self._has_missed = True
            return True
        self._sequence = events[-1].sequence
        self._is_over = self._until(Seen(event.type, event.instance, event.data) for event in events)
        return self._is_over

    async def is_over(self, run_id: str, seconds: float) -> bool:
        """Returns whether the condition became true of this run within `seconds`. To be awaited once."""
        end = monotonic() + seconds
        if self._follower is not None and run_id == self._run_id:
            await self._follower.wait(seconds)
            self._entered.close()  # from here on, `until` takes what is read
            if self._is_over:
                return True
        return await wait_for(self._service, run_id, partial(self._poll, run_id), end - monotonic()) is True

    def _poll(self, run_id: str) -> bool | None:
        while True:
            page = self._service.events(run_id, after=self._sequence)
            if self._until(_seen(page)):
                return True
            if not page.events:
                return None
            self._sequence = page.cursor


def _seen(page: EventPage) -> Iterable[Seen]:
    return [Seen(event["type"], event["payload"].get("instance", ""), event["payload"]) for event in page.events]


async def overview(service: Service, run_id: str, seconds: float) -> RunView | None:
    """Returns the run without its nodes; None if the store is unavailable for longer than `seconds`."""
    return await wait_for(service, run_id, partial(service.overview, run_id), seconds)
