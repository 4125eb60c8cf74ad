"""Serves the routes for schedules: list, pause, resume, fire now."""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import Annotated, Any, Final, Literal, NotRequired

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from typing_extensions import TypedDict

from stepless.api.bodies import documented_body, read_model
from stepless.api.links import Links
from stepless.api.problems import documented
from stepless.api.replies import damaged, instant, reply
from stepless.api.requests import FireBody, HoldBody, ListQuery, ResumeScheduleBody
from stepless.api.responses.general import DamageOut, ScheduleLinks, StartedOut
from stepless.api.routes.runs.starting import idempotency_key, reply_started
from stepless.model.triggers.clock_changes import ClockChange
from stepless.runtime.access.deciders import person_of
from stepless.runtime.service import Service
from stepless.runtime.triggers.schedule_records import LastFiring, Pause
from stepless.runtime.triggers.schedule_verbs import Schedule

_TAGS: Final[list[str | Enum]] = ["schedules"]


class FiringOut(TypedDict):
    """The newest instant for which the schedule fired by itself. `code` says why it started no run."""

    at: str
    run_id: str | None
    code: str | None


class SchedulePauseOut(TypedDict):
    """Since when the schedule starts no runs. `ending` is true while it is being resumed; if that was interrupted, resume it
    again."""

    at: str
    by: str | None
    reason: str | None
    ending: bool


class ClockChangeOut(TypedDict):
    """A change of the clocks. The times from `first` to `last`, as the clock of the time zone shows them, are `skipped`: the
    schedule does not fire at them, and next at `at`. Or they are `repeated`: it fires once, the first time, from `at` on."""

    kind: Literal["skipped", "repeated"]
    first: str
    last: str
    at: str | None


class ScheduleOut(TypedDict):
    """A `schedule` entry of the newest version. `next_at` is null while it is paused, if it never fires again, and on AWS for a
    `rate` that has not fired yet. `upcoming` are the next five instants, beginning with `next_at`. `clock_changes` are those
    within about a year that its times fall into. `last` is null before the first firing. With `damage`, what is stored of the
    schedule is damaged, and it starts no run; `node` is empty where the document of the version is."""

    workflow: str
    version: int
    node: str
    cron: str | None
    rate: str | None
    timezone: str
    catch_up: str | None
    next_at: str | None
    upcoming: list[str]
    clock_changes: list[ClockChangeOut]
    last: FiringOut | None
    paused: SchedulePauseOut | None
    links: ScheduleLinks
    damage: NotRequired[DamageOut]


class SchedulesOut(TypedDict):
    schedules: list[ScheduleOut]
    cursor: str | None


class ResumedOut(ScheduleOut):
    """`started` are the runs of instants that the pause has missed."""

    started: list[str]


def add_routes(router: APIRouter, service: Service, links: Links) -> None:
    _add_reading(router, service, links)
    _add_changes(router, service, links)

    @router.post(
        "/workflows/{workflow_id}/schedules/{node}/fire",
        summary="Fire a schedule now",
        status_code=202,
        response_model=StartedOut,
        responses={
            200: {"model": StartedOut, "description": "Already fired with this key"},
            **documented(400, 401, 403, 404, 409, 413, 415, 422, 429, 503),
        },
        openapi_extra=documented_body(FireBody),
        tags=_TAGS,
    )
    async def fire_schedule(workflow_id: str, node: str, request: Request) -> Response:
        """Starts a run as a firing would, also while the schedule is paused. `scheduled_at` is the present instant. The next
        regular firing does not change. With an `Idempotency-Key`, a repeated request returns the same run for 24 hours."""
        body = await read_model(request, FireBody)
        by = body.by or person_of(request.state.caller)
        fire = partial(service.fire_schedule, workflow_id, node, key=idempotency_key(request), by=by)
        return reply_started(await run_in_threadpool(fire), None, links)


def _add_reading(router: APIRouter, service: Service, links: Links) -> None:
    @router.get("/schedules", summary="List schedules", response_model=SchedulesOut, responses=documented(400, 401), tags=_TAGS)
    def list_schedules(query: Annotated[ListQuery, Query()]) -> Response:
        """Lists the schedules of the newest versions, by workflow. `limit` is the number of workflows."""
        found = service.list_schedules(limit=query.limit, cursor=query.cursor)
        return reply({"schedules": [_schedule(each, links) for each in found.items], "cursor": found.cursor})

    @router.get(
        "/workflows/{workflow_id}/schedules",
        summary="List the schedules of a workflow",
        response_model=SchedulesOut,
        responses=documented(401, 404),
        tags=_TAGS,
    )
    def read_schedules(workflow_id: str) -> Response:
        """Returns the schedules of the newest version, with their next and last firing."""
        found = service.list_schedules(workflow_id)
        return reply({"schedules": [_schedule(each, links) for each in found.items], "cursor": None})


def _add_changes(router: APIRouter, service: Service, links: Links) -> None:
    options: dict[str, Any] = {"responses": documented(400, 401, 403, 404, 413, 415, 422, 503), "tags": _TAGS}

    @router.post(
        "/workflows/{workflow_id}/schedules/{node}/pause",
        summary="Pause a schedule",
        response_model=ScheduleOut,
        openapi_extra=documented_body(HoldBody),
        **options,
    )
    async def pause_schedule(workflow_id: str, node: str, request: Request) -> Response:
        """From now on the schedule starts no run, until it is resumed. The pause outlives new versions of the workflow. A
        repeated request has no further effect."""
        body = await read_model(request, HoldBody)
        by = body.by or person_of(request.state.caller)
        pause = partial(service.pause_schedule, workflow_id, node, by=by, reason=body.reason)
        return reply(_schedule(await run_in_threadpool(pause), links))

    @router.post(
        "/workflows/{workflow_id}/schedules/{node}/resume",
        summary="Resume a schedule",
        response_model=ResumedOut,
        openapi_extra=documented_body(ResumeScheduleBody),
        **options,
    )
    async def resume_schedule(workflow_id: str, node: str, request: Request) -> Response:
        """Ends the pause. With `catch_up` `last` or `all`, starts the runs of the instants that the pause has missed; otherwise
        they are skipped. A schedule that is not paused does not change."""
        body = await read_model(request, ResumeScheduleBody)
        by = body.by or person_of(request.state.caller)
        resumed = await run_in_threadpool(partial(service.resume_schedule, workflow_id, node, by=by))
        answer: ResumedOut = {**_schedule(resumed.schedule, links), "started": list(resumed.started)}
        return reply(answer)


def _schedule(schedule: Schedule, links: Links) -> ScheduleOut:
    return {
        "workflow": schedule.workflow_id,
        "version": schedule.version,
        "node": schedule.node,
        "cron": schedule.cron,
        "rate": schedule.rate,
        "timezone": schedule.timezone,
        "catch_up": schedule.catch_up,
        "next_at": instant(schedule.next_ms),
        "upcoming": [str(instant(at_ms)) for at_ms in schedule.upcoming],
        "clock_changes": [_clock_change(each) for each in schedule.clock_changes],
        "last": _last(schedule.last),
        "paused": _paused(schedule.pause),
        "links": links.schedule(schedule.workflow_id, schedule.node),
        **damaged(schedule.damage),
    }


def _clock_change(change: ClockChange) -> ClockChangeOut:
    first, last = (f"{each:%Y-%m-%dT%H:%M}" for each in (change.first, change.last))
    return {"kind": change.kind, "first": first, "last": last, "at": instant(change.at_ms)}


def _last(last: LastFiring | None) -> FiringOut | None:
    return None if last is None else {"at": str(instant(last.at_ms)), "run_id": last.run_id, "code": last.code}


def _paused(pause: Pause | None) -> SchedulePauseOut | None:
    if pause is None:
        return None
    return {"at": str(instant(pause.at_ms)), "by": pause.by, "reason": pause.reason, "ending": pause.ending_ms is not None}
