"""Change runs: cancel one, hold it, release it, run it again; do any of these to all that fit a filter."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Any, Final, Protocol

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from stepless.api.auth import may
from stepless.api.bodies import documented_body, read_model
from stepless.api.links import Links
from stepless.api.problems import documented
from stepless.api.replies import reply
from stepless.api.requests import BulkBody, CancelBody, HoldBody, RerunBody
from stepless.api.routes.listing import run_filter
from stepless.api.routes.runs import reply_started
from stepless.api.schemas import BulkOut, CancelOut, HoldOut, StartedOut
from stepless.errors import InvalidRequest
from stepless.ports import RunHead
from stepless.runtime.access.api_keys import Role
from stepless.runtime.service import Service

Verb = Callable[[RunHead], str]


class Hold(Protocol):
    def __call__(self, run_id: str, *, by: str | None, reason: str | None) -> None: ...


_TAGS: Final[list[str | Enum]] = ["runs"]


def add_routes(router: APIRouter, service: Service, links: Links) -> None:
    @router.post(
        "/runs/{run_id}/cancel",
        summary="Cancel a run",
        status_code=202,
        response_model=CancelOut,
        responses=documented(400, 401, 403, 404, 409, 413, 415, 422),
        openapi_extra=documented_body(CancelBody),
        tags=_TAGS,
    )
    async def cancel_run(run_id: str, request: Request) -> Response:
        """Asks for the run to be cancelled. Asking twice is asking once; a run that has ended answers 409."""
        body = await read_model(request, CancelBody)
        await run_in_threadpool(service.cancel, run_id, by=body.by, reason=body.reason)
        answer: CancelOut = {"run_id": run_id, "status": "cancelling", "links": links.run(run_id)}
        return reply(answer, 202)

    held: dict[str, Any] = {
        "status_code": 202,
        "response_model": HoldOut,
        "responses": documented(400, 401, 403, 404, 409, 413, 415, 422),
        "openapi_extra": documented_body(HoldBody),
        "tags": _TAGS,
    }

    async def asked(run_id: str, request: Request, ask: Hold, status: str) -> Response:
        body = await read_model(request, HoldBody)
        await run_in_threadpool(ask, run_id, by=body.by, reason=body.reason)
        answer: HoldOut = {"run_id": run_id, "status": status, "links": links.run(run_id)}
        return reply(answer, 202)

    @router.post("/runs/{run_id}/hold", summary="Hold a run", **held)
    async def hold_run(run_id: str, request: Request) -> Response:
        """Asks for the run to be held: nothing new starts until it is released. What is under way finishes; answers, deadlines
        and timers are taken as ever, and what follows from them waits. The run's own deadline does not run on. Child runs go on:
        hold them too. Asking twice is asking once; a run that has ended answers 409."""
        return await asked(run_id, request, service.hold, "holding")

    @router.post("/runs/{run_id}/release", summary="Release a held run", **held)
    async def release_run(run_id: str, request: Request) -> Response:
        """Takes the hold back: the run goes on where it is. A run that is not held stays as it is, and what it waits for itself
        stays open. A run that has ended answers 409."""
        return await asked(run_id, request, service.release, "releasing")

    @router.post("/runs/{run_id}/pause", summary="Hold a run, by its former name", **held)
    async def pause_run(run_id: str, request: Request) -> Response:
        """The same as `hold`."""
        return await asked(run_id, request, service.hold, "pausing")

    @router.post("/runs/{run_id}/unpause", summary="Release a held run, by its former name", **held)
    async def unpause_run(run_id: str, request: Request) -> Response:
        """The same as `release`."""
        return await asked(run_id, request, service.release, "unpausing")

    @router.post(
        "/runs/{run_id}/rerun",
        summary="Run a run again",
        status_code=202,
        response_model=StartedOut,
        responses=documented(400, 401, 403, 404, 409, 413, 415, 422, 503),
        openapi_extra=documented_body(RerunBody),
        tags=_TAGS,
    )
    async def rerun_run(run_id: str, request: Request) -> Response:
        """Starts a new run of the same version, with other `inputs` if they are given. With `from` it begins at that node and
        takes over what completed elsewhere. The old run is never touched. Where a start needs the role `admin`, so does this:
        for `inputs` at a node that is no entry, and for a run that began at one."""
        body = await read_model(request, RerunBody)
        edited = "inputs" in body.model_fields_set
        anywhere = may(request, Role.ADMIN)
        call = partial(service.rerun, run_id, node=body.from_, inputs=body.inputs, edited=edited, anywhere=anywhere)
        return reply_started(await run_in_threadpool(call), None, links)

    @router.post(
        "/runs/bulk",
        summary="Cancel, hold, release or rerun many runs",
        response_model=BulkOut,
        responses=documented(400, 401, 403, 413, 415, 422),
        openapi_extra=documented_body(BulkBody, required=True),
        tags=_TAGS,
    )
    async def change_runs(request: Request) -> Response:
        """Does `action` to at most `limit` runs that fit the filter, the newest first. A run that refuses, because it has ended
        for instance, is told and stops nothing. Ask again with the `cursor` until there is none."""
        body = await read_model(request, BulkBody)
        swept = await run_in_threadpool(
            service.each_run,
            _verb(service, body, may(request, Role.ADMIN)),
            run_filter(body.filter.workflow, body.filter.status, body.filter.since, body.filter.waiting),
            keywords=body.filter.words,
            limit=body.limit,
            cursor=body.cursor,
        )
        answer: BulkOut = {
            "action": body.action,
            "matched": swept.matched,
            "done": list(swept.done),
            "refused": [{"run_id": told.run_id, "code": told.code, "message": told.message} for told in swept.refused],
            "cursor": swept.cursor,
        }
        return reply(answer)


def _verb(service: Service, body: BulkBody, anywhere: bool) -> Verb:
    _check_bulk(body)

    if body.action == "rerun":
        return lambda head: service.rerun(head.run_id, node=body.from_, anywhere=anywhere).run_id
    ask = {
        "cancel": service.cancel, "hold": service.hold, "release": service.release, "pause": service.hold,
        "unpause": service.release,
    }[body.action]  # fmt: skip

    def asked(head: RunHead) -> str:
        ask(head.run_id, by=body.by, reason=body.reason)
        return head.run_id

    return asked


def _check_bulk(body: BulkBody) -> None:
    """Nobody changes all runs by leaving something out."""
    if not any(body.filter.model_dump().values()):
        mend = "give a workflow, a status, what they wait for, an instant or a keyword"
        raise InvalidRequest("the filter says nothing", status=422, place="filter", mend=mend)
    foreign = ({"by", "reason"} if body.action == "rerun" else {"from_"}) & body.model_fields_set
    if foreign:
        place = min(foreign).rstrip("_")
        raise InvalidRequest(f"{body.action} takes no {place}", status=422, place=place, mend="leave it out")
