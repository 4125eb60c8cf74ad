"""Serves the routes for a development machine, which no deployment has: skip the time that a run waits, and send its trigger
again."""

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
from stepless.api.responses.general import StartedOut
from stepless.api.responses.links import RunLinks
from stepless.api.routes.runs.starting import reply_started
from stepless.runtime.service import Service

_TAGS: Final[list[str | Enum]] = ["development"]


class SkippedOut(TypedDict):
    """`run_id` is the run whose time was skipped: the one in the path, or one of its child runs."""

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
        """Moves the run's own time forward to the next instant at which a wait ends, a retry is due, a deadline passes or a
        reminder is sent. Other runs keep the real time. Returns 409 if the run does not wait for a time."""
        skipped = await run_in_threadpool(service.skip, run_id)
        answer: SkippedOut = {"run_id": skipped.run_id, "skipped_ms": skipped.skipped_ms, "links": links.run(skipped.run_id)}
        return reply(answer, 202)

    @router.post(
        "/runs/{run_id}/redeliver",
        summary="Send the trigger of a run again",
        status_code=202,
        response_model=StartedOut,
        responses=documented(401, 403, 404, 409, 422, 429, 503),
        tags=_TAGS,
    )
    async def redeliver_run(run_id: str) -> Response:
        """Starts a run of the newest version with the request, or the inputs, that started this run. (A rerun uses the version of
        the run.) The old run does not change."""
        return reply_started(await run_in_threadpool(service.redeliver, run_id), None, links)
