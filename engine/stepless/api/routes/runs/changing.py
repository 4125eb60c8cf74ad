"""Serves the routes that change runs: cancel, hold, release and rerun one run, or all runs that match a filter."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Final, NamedTuple, Protocol

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from stepless.api.bodies import documented_body, read_model
from stepless.api.guards.auditing import note
from stepless.api.guards.auth import may
from stepless.api.links import Links
from stepless.api.problems import documented
from stepless.api.replies import instant, reply
from stepless.api.requests import BulkBody, CancelBody, HoldBody, RerunBody
from stepless.api.responses.general import CancelOut, HoldOut, StartedOut
from stepless.api.responses.runs import BulkOut
from stepless.api.routes.runs.listing import selection
from stepless.api.routes.runs.starting import reply_started
from stepless.errors import InvalidRequest
from stepless.model.json import JSON
from stepless.model.runs.statuses import ENDED
from stepless.ports import RunHead
from stepless.runtime.access.audit import AuditLog
from stepless.runtime.access.roles import Role
from stepless.runtime.service import Service
from stepless.runtime.verbs.changes import answering, holds
from stepless.runtime.verbs.changes.bulk import Surveyed
from stepless.runtime.world import World

_TAGS: Final[list[str | Enum]] = ["runs"]
_ALREADY: Final = "rerun_already"  # the code of runs that a bulk rerun leaves out


class RequestChange(Protocol):
    """A verb that requests a change of a run. It returns at once; the run changes within about a second."""

    def __call__(self, world: World, run_id: str, *, by: str | None, reason: str | None) -> None: ...


class Change(NamedTuple):
    """The route of such a verb: `POST /runs/{run_id}/{verb}`. `status` is the status in its response."""

    verb: str
    request: RequestChange
    status: str
    body: type[CancelBody | HoldBody]
    answer: type[CancelOut | HoldOut]
    summary: str
    description: str


CHANGES: Final = (
    Change(
        "cancel", answering.cancel, "cancelling", CancelBody, CancelOut, "Cancel a run",
        "Requests cancellation of the run. A repeated request has no further effect. A run that has ended answers 409.",
    ),
    Change(
        "hold", holds.hold, "holding", HoldBody, HoldOut, "Hold a run",
        "Requests that the run be held: nothing new starts until it is released. Attempts in progress finish. The run still\n"
        "takes answers, deadlines and timers, but acts on them only after the release. Its own deadline is suspended. Child\n"
        "runs continue: hold them too. A repeated request has no further effect. A run that has ended answers 409.",
    ),
    Change(
        "release", holds.release, "releasing", HoldBody, HoldOut, "Release a held run",
        "Ends the hold: the run continues where it is. A run that is not held does not change, and what it waits for itself\n"
        "stays open. A run that has ended answers 409.",
    ),
    Change(
        "pause", holds.hold, "pausing", HoldBody, HoldOut, "Hold a run, by its former name", "The same as `hold`.",
    ),
    Change(
        "unpause", holds.release, "unpausing", HoldBody, HoldOut, "Release a held run, by its former name",
        "The same as `release`.",
    ),
)  # fmt: skip


def add_routes(router: APIRouter, service: Service, links: Links, log: AuditLog) -> None:
    for change in CHANGES:
        _add_change(router, service, links, change)
    _add_rerun(router, service, links)
    _add_bulk(router, service, log)


def _add_change(router: APIRouter, service: Service, links: Links, change: Change) -> None:
    @router.post(
        f"/runs/{{run_id}}/{change.verb}",
        name=f"{change.verb}_run",
        summary=change.summary,
        description=change.description,
        status_code=202,
        response_model=change.answer,
        responses=documented(400, 401, 403, 404, 409, 413, 415, 422),
        openapi_extra=documented_body(change.body),
        tags=_TAGS,
    )
    async def request_change(run_id: str, request: Request) -> Response:
        body = await read_model(request, change.body)
        await run_in_threadpool(change.request, service.world, run_id, by=body.by, reason=body.reason)
        answer: HoldOut = {"run_id": run_id, "status": change.status, "links": links.run(run_id)}  # CancelOut has the same fields
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
        """Starts a new run of the same version, with new `inputs` if they are given. With `from: failed` it runs only what
        failed, was cancelled in flight or was never reached; with a node or an instance, like `pay@each[3]`, also that one and
        what is downstream of it. All other outcomes are taken over. The old run does not change. Needs the role `admin` where a
        start does: for `inputs` with a `from` that is not an entry, and for a run that began at such a node. A run is rerun as
        often as it is asked
        for; with `again: false`, only if it was not rerun yet."""
        body = await read_model(request, RerunBody)
        edited = "inputs" in body.model_fields_set
        anywhere = may(request, Role.ADMIN)
        call = partial(
            service.rerun, run_id, node=body.from_, inputs=body.inputs, edited=edited, anywhere=anywhere, again=body.again,
            by=body.by, reason=body.reason, items=body.items,
        )  # fmt: skip
        return reply_started(await run_in_threadpool(call), None, links)


def _add_bulk(router: APIRouter, service: Service, log: AuditLog) -> None:
    @router.post(
        "/runs/bulk",
        summary="Cancel, hold, release or rerun many runs",
        response_model=BulkOut,
        responses=documented(400, 401, 403, 413, 415, 422),
        openapi_extra=documented_body(BulkBody, required=True),
        tags=_TAGS,
    )
    async def change_runs(request: Request) -> Response:
        """Applies `action` to at most `limit` runs that match the filter, newest first. A run that refuses, for example because
        it has ended, is listed under `refused`, and the others continue. Repeat with the `cursor` until it is null. With
        `dry_run`, nothing changes, and the runs are counted. A rerun leaves out runs that were rerun already, so that nothing is
        done twice: of a run and its reruns the last one counts, unless it was cancelled. With `again`, it includes them."""
        body = await read_model(request, BulkBody)
        facts: dict[str, JSON] = {"action": body.action, "filter": body.filter.model_dump(exclude_defaults=True)}
        facts["reason"] = body.reason
        facts |= {name: True for name, given in (("dry_run", body.dry_run), ("again", body.again)) if given}
        await note(log, request, {name: fact for name, fact in facts.items() if fact is not None})
        apply = _each(service, body, may(request, Role.ADMIN))
        filter, keywords, wanted = selection(body.filter)
        if body.dry_run:
            survey = partial(
                service.survey, filter, keywords=keywords, wanted=wanted, cursor=body.cursor,
                repeats=body.action == "rerun" and not body.again,
            )  # fmt: skip
            now_ms = service.world.clock.now_ms()
            return reply({**_surveyed(body.action, await run_in_threadpool(survey)), "until": instant(now_ms)})
        swept = await run_in_threadpool(
            service.each_run,
            apply,
            filter,
            keywords=keywords,
            wanted=wanted,
            limit=body.limit,
            cursor=body.cursor,
        )
        answer: BulkOut = {
            "action": body.action,
            "matched": swept.matched,
            "done": list(swept.done),
            "changed": list(swept.changed),
            "left_out": sum(each.code == _ALREADY for each in swept.refused),
            "refused": [
                {"run_id": each.run_id, "code": each.code, "message": each.message}
                for each in swept.refused if each.code != _ALREADY
            ],
            "cursor": swept.cursor,
        }
        return reply(answer)


def _surveyed(action: str, surveyed: Surveyed) -> BulkOut:
    """The answer of a dry run: cancel and hold change runs that have not ended, release those that are held, rerun all but those
    that are left out."""
    found = surveyed.count
    ended = sum(count for status, count in found.statuses.items() if status in ENDED)
    by_action = {"rerun": found.total - surveyed.repeated, "release": found.held, "unpause": found.held}
    applies = by_action.get(action, found.total - ended)
    return {
        "action": action, "matched": found.total, "done": [], "changed": [], "refused": [], "cursor": found.cursor,
        "applies": applies, "left_out": surveyed.repeated, "unsure": surveyed.unsure, "statuses": dict(found.statuses),
    }  # fmt: skip


def _each(service: Service, body: BulkBody, anywhere: bool) -> Callable[[RunHead], str]:
    """The function to apply to each run; it returns the id of the changed or new run."""
    _check_bulk(body)

    if body.action == "rerun":
        rerun = partial(service.rerun, node=body.from_, anywhere=anywhere, again=body.again, by=body.by, reason=body.reason)
        return lambda head: rerun(head.run_id).run_id
    request = next(change.request for change in CHANGES if change.verb == body.action)

    def apply(head: RunHead) -> str:
        request(service.world, head.run_id, by=body.by, reason=body.reason)
        return head.run_id

    return apply


def _check_bulk(body: BulkBody) -> None:
    """Refuses an empty filter: a forgotten field must not change all runs."""
    given = body.filter.model_dump(exclude={"until"})
    if not any(value is not None and value != [] and value != "" for value in given.values()):
        mend = "set `workflow`, `status`, `waiting`, `since`, a keyword or another field; `until` alone selects too much"
        raise InvalidRequest("the filter is empty", status=422, place="filter", mend=mend)
    for field, name in (("from_", "from"), ("again", "again")):
        if body.action != "rerun" and field in body.model_fields_set:
            raise InvalidRequest(f"{body.action} takes no {name}", status=422, place=name, mend="leave it out")
