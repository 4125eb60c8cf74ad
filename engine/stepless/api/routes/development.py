"""Routes for one's own machine, which no deployment has: skip what a run waits for, and send its trigger once more."""

from __future__ import annotations

from enum import Enum
from typing import Final

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from typing_extensions import TypedDict

from stepless.api.links import Links
from stepless.api.problems import documented
from stepless.api.replies import reply
from stepless.api.routes.runs import reply_started
from stepless.api.schemas import RunLinks, StartedOut
from stepless.runtime.service import Service

_TAGS: Final[list[str | Enum]] = ["development"]


class SkippedOut(TypedDict):
    """`run_id` is the run whose time moved on: the one in the path, or one that it has called."""

    run_id: str
    skipped_ms: int
    links: RunLinks


def add_routes(router: APIRouter, service: Service, links: Links) -> None:
    @router.post(
        "/runs/{run_id}/skip",
        summary="Skip the time that a run waits",
        status_code=202,
        response_model=SkippedOut,
        responses=documented(401, 403, 404, 409),
        tags=_TAGS,
    )
    async def skip_time(run_id: str) -> Response:
        """Moves the run's own time on to the next instant at which a wait ends, a retry is due, a deadline passes or a reminder
        is sent. Other runs go by the clock. A run that waits for no instant answers 409."""
        skipped = await run_in_threadpool(service.skip, run_id)
        answer: SkippedOut = {"run_id": skipped.run_id, "skipped_ms": skipped.skipped_ms, "links": links.run(skipped.run_id)}
        return reply(answer, 202)

    @router.post(
        "/runs/{run_id}/redeliver",
        summary="Send what started a run once more",
        status_code=202,
        response_model=StartedOut,
        responses=documented(401, 403, 404, 409, 422, 429, 503),
        tags=_TAGS,
    )
    async def redeliver_run(run_id: str) -> Response:
        """Starts a run of the newest version with the request, or the inputs, that started this one. (A rerun keeps to the
        version of the run.) The old run is never touched."""
        return reply_started(await run_in_threadpool(service.redeliver, run_id), None, links)
