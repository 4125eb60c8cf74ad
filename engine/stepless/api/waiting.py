"""Waits for a change of a run, without holding a thread. If this process runs the run, its commits end the wait; otherwise the
store is polled at growing intervals."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import nullcontext
from time import monotonic
from typing import TypeVar

from starlette.concurrency import run_in_threadpool

from stepless.errors import TransientError
from stepless.limits import POLL_FIRST_MS, POLL_LAST_MS
from stepless.runtime.news import Follower
from stepless.runtime.service import Service
from stepless.runtime.verbs.inspecting import EventPage, RunView

T = TypeVar("T")


async def wait_for(
    service: Service, run_id: str, poll: Callable[[], T | None], seconds: float, *, closely: bool = False
) -> T | None:
    """The first result of `poll` that is not None; None after `seconds`. `poll` is called in a thread, at least once: with
    `closely` after every commit of the run, at most every POLL_FIRST_MS, else when the run ends, pauses or responds. A temporary
    failure of the store does not end the wait."""
    news = service.world.news
    with nullcontext() if news is None else news.of(run_id, closely=closely) as follower:
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
            if follower.closely:
                await asyncio.sleep(min(polled + POLL_FIRST_MS / 1000, end) - monotonic())
        else:
            await asyncio.sleep(min(pause, left))
            pause = min(2 * pause, POLL_LAST_MS / 1000)


class Rest:
    """Decides from the pages of a log, in order, whether the run has ended or waits for something that does not come before
    `until_ms` by time alone. A run that an operator holds does not count: the caller cannot answer what it waits for."""

    def __init__(self, until_ms: int) -> None:
        self._until_ms = until_ms
        self._paused = self._held = False
        self._waiting: set[str] = set()  # instances that wait for longer

    def __call__(self, page: EventPage) -> bool:
        for event in page.events:
            payload = event["payload"]
            if event["type"] == "run.status.changed":
                self._held = payload.get("held", self._held)
                self._paused = payload["status"] == "paused"
            elif event["type"] == "node.waiting" and payload.get("resume_at", self._until_ms) >= self._until_ms:
                self._waiting.add(payload["instance"])
            else:
                self._waiting.discard(payload.get("instance", ""))
        return page.ended or (self._paused and not self._held and bool(self._waiting))


def has_responded(page: EventPage) -> bool:
    """Whether the run has responded to its caller, or has ended without a response."""
    return page.ended or any("response" in {**event["payload"], **event["payload"].get("previews", {})} for event in page.events)


async def watch(service: Service, run_id: str, until: Callable[[EventPage], bool], seconds: float) -> RunView | None:
    """The run, once `until` is true for a page of its log; None if that takes longer than `seconds`. Each event is read once."""
    cursor = 0

    def poll() -> RunView | None:
        nonlocal cursor
        while True:
            page = service.events(run_id, after=cursor)
            if until(page):
                return service.overview(run_id)
            if not page.events:
                return None
            cursor = page.cursor

    return await wait_for(service, run_id, poll, seconds)
