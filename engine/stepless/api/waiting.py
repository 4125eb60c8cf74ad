"""Waiting for a run: by looking again and again, ever more rarely, while nothing is held but a timer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import TypeVar

from starlette.concurrency import run_in_threadpool

from stepless.errors import TransientError
from stepless.limits import LOOK_FIRST_MS, LOOK_LAST_MS
from stepless.runtime.inspecting import EventPage, RunView
from stepless.runtime.service import Service

T = TypeVar("T")


async def wait_for(look: Callable[[], T | None], seconds: float) -> T | None:
    """What `look` answers, as soon as that is not None; None when the time is over. `look` is called in a thread, at least
    once. A store that is out of reach for a moment ends no wait."""
    end, pause = monotonic() + seconds, LOOK_FIRST_MS / 1000
    while True:
        found: T | None = await run_in_threadpool(_unless_out_of_reach, look)
        left = end - monotonic()
        if found is not None or left <= 0:
            return found
        await asyncio.sleep(min(pause, left))
        pause = min(2 * pause, LOOK_LAST_MS / 1000)


def _unless_out_of_reach(look: Callable[[], T | None]) -> T | None:
    try:
        return look()
    except TransientError:
        return None


def has_ended(page: EventPage) -> bool:
    return page.ended


def has_responded(page: EventPage) -> bool:
    """Whether the run has answered its caller, or never will."""
    return page.ended or any("response" in {**event["payload"], **event["payload"].get("previews", {})} for event in page.events)


async def watch(service: Service, run_id: str, until: Callable[[EventPage], bool], seconds: float) -> RunView | None:
    """The run, once `until` holds for a page of its log; None when that takes longer than `seconds`. Each event is looked at
    once."""
    cursor = 0

    def look() -> RunView | None:
        nonlocal cursor
        while True:
            page = service.events(run_id, after=cursor)
            if until(page):
                return service.glance(run_id)
            if not page.events:
                return None
            cursor = page.cursor

    return await wait_for(look, seconds)
