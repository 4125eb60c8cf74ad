"""Change runs: cancel one, hold it, release it, run it again; do any of these to all that fit a filter."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Final, NamedTuple, Protocol

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
from stepless.runtime.verbs import answering, holding
from stepless.runtime.world import World

_TAGS: Final[list[str | Enum]] = ["runs"]


class Ask(Protocol):
    """A verb that asks a run to change. It is answered at once; the run changes within about a second."""

    def __call__(self, world: World, run_id: str, *, by: str | None, reason: str | None) -> None: ...


class Asked(NamedTuple):
    """The route of such a verb: `POST /runs/{run_id}/{verb}`. `status` is what it answers."""

    verb: str
    ask: Ask
    status: str
    body: type[CancelBody | HoldBody]
    answer: type[CancelOut | HoldOut]
    summary: str
    description: str


ASKED: Final = (
    Asked(
        "cancel", answering.cancel, "cancelling", CancelBody, CancelOut, "Cancel a run",
        "Asks for the run to be cancelled. Asking twice is asking once; a run that has ended answers 409.",
    ),
    Asked(
        "hold", holding.hold, "holding", HoldBody, HoldOut, "Hold a run",
        "Asks for the run to be held: nothing new starts until it is released. What is under way finishes; answers, deadlines\n"
        "and timers are taken as ever, and what follows from them waits. The run's own deadline does not run on. "
        "Child runs go on:\nhold them too. Asking twice is asking once; a run that has ended answers 409.",
    ),
    Asked(
        "release", holding.release, "releasing", HoldBody, HoldOut, "Release a held run",
        "Takes the hold back: the run goes on where it is. A run that is not held stays as it is, and what it waits for itself\n"
        "stays open. A run that has ended answers 409.",
    ),
    Asked(
        "pause", holding.hold, "pausing", HoldBody, HoldOut, "Hold a run, by its former name", "The same as `hold`.",
    ),
    Asked(
        "unpause", holding.release, "unpausing", HoldBody, HoldOut, "Release a held run, by its former name",
        "The same as `release`.",
    ),
)  # fmt: skip


def add_routes(router: APIRouter, service: Service, links: Links) -> None:
    for asked in ASKED:
        _add_asked(router, service, links, asked)
    _add_rerun(router, service, links)
    _add_bulk(router, service)


def _add_asked(router: APIRouter, service: Service, links: Links, asked: Asked) -> None:
    @router.post(
        f"/runs/{{run_id}}/{asked.verb}",
        name=f"{asked.verb}_run",
        summary=asked.summary,
        description=asked.description,
        status_code=202,
        response_model=asked.answer,
        responses=documented(400, 401, 403, 404, 409, 413, 415, 422),
        openapi_extra=documented_body(asked.body),
        tags=_TAGS,
    )
    async def ask(run_id: str, request: Request) -> Response:
        body = await read_model(request, asked.body)
        await run_in_threadpool(asked.ask, service.world, run_id, by=body.by, reason=body.reason)
        answer: HoldOut = {"run_id": run_id, "status": asked.status, "links": links.run(run_id)}  # or CancelOut, which is alike
        return reply(answer, 202)


def _add_rerun(router: APIRouter, service: Service, links: Links) -> None:
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


def _add_bulk(router: APIRouter, service: Service) -> None:
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
            _each(service, body, may(request, Role.ADMIN)),
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


def _each(service: Service, body: BulkBody, anywhere: bool) -> Callable[[RunHead], str]:
    """What is done to each run; it answers the run that was changed or made."""
    _check_bulk(body)

    if body.action == "rerun":
        return lambda head: service.rerun(head.run_id, node=body.from_, anywhere=anywhere).run_id
    ask = next(asked.ask for asked in ASKED if asked.verb == body.action)

    def change(head: RunHead) -> str:
        ask(service.world, head.run_id, by=body.by, reason=body.reason)
        return head.run_id

    return change


def _check_bulk(body: BulkBody) -> None:
    """Nobody changes all runs by leaving something out."""
    if not any(body.filter.model_dump().values()):
        mend = "give a workflow, a status, what they wait for, an instant or a keyword"
        raise InvalidRequest("the filter says nothing", status=422, place="filter", mend=mend)
    foreign = ({"by", "reason"} if body.action == "rerun" else {"from_"}) & body.model_fields_set
    if foreign:
        place = min(foreign).rstrip("_")
        raise InvalidRequest(f"{body.action} takes no {place}", status=422, place=place, mend="leave it out")
