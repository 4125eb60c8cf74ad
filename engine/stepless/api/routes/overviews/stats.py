"""Serves `GET /workflows/{id}/stats` and `GET /stats`: the health of a workflow, and of all."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Annotated, Final

from fastapi import APIRouter, Query
from starlette.responses import Response

from stepless.api.problems import documented
from stepless.api.replies import instant, reply
from stepless.api.requests import AllStatsQuery, StatsQuery
from stepless.api.responses.overviews import AllStatsOut, StatsOut, WorkflowStatsOut
from stepless.errors import InvalidRequest
from stepless.limits import MAX_STATS_MS
from stepless.model.texts.durations import parse_duration_ms
from stepless.runtime.service import Service
from stepless.runtime.triggers.schedule_verbs import Schedule
from stepless.runtime.verbs.overviews.health import Health, WorkflowHealth, side_by_side

_TAGS: Final[list[str | Enum]] = ["workflows"]


def add_routes(router: APIRouter, service: Service) -> None:
    @router.get(
        "/workflows/{workflow_id}/stats", summary="Read the health of a workflow", response_model=StatsOut,
        responses=documented(400, 401, 404), tags=_TAGS,
    )  # fmt: skip
    def read_stats(workflow_id: str, query: Annotated[StatsQuery, Query()]) -> Response:
        """Returns how many runs were created in the window, how many of them failed, how long they took, what they cost, and when
        a schedule fires next. Reads the newest 2,000 runs."""
        found = service.health(workflow_id, window_ms=_window_ms(query.window))
        return reply(_stats(workflow_id, found, service.list_schedules(workflow_id).items))

    @router.get(
        "/stats", summary="Read the health of all workflows", response_model=AllStatsOut, responses=documented(400, 401),
        tags=_TAGS,
    )  # fmt: skip
    def list_stats(query: Annotated[AllStatsQuery, Query()]) -> Response:
        """Lists the newest version of every workflow, by id, each with its health as `GET /workflows/{id}/stats` returns it.
        Reads the newest 100 runs of each workflow."""
        found = service.each_health(window_ms=_window_ms(query.window), limit=query.limit, cursor=query.cursor)

        def schedules(each: WorkflowHealth) -> Sequence[Schedule]:
            return service.list_schedules(each.version.workflow_id).items if "schedule" in each.starts else ()

        fires = side_by_side(service.world, schedules, found.items)
        listed = [_listed(each, own) for each, own in zip(found.items, fires, strict=True)]
        return reply({"workflows": listed, "cursor": found.cursor})


def _listed(each: WorkflowHealth, schedules: Sequence[Schedule]) -> WorkflowStatsOut:
    return {
        **_stats(each.version.workflow_id, each.health, schedules),
        "name": each.name,
        "version": each.version.number,
        "published_at": str(instant(each.version.created_ms)),
        "starts": list(each.starts),
        "schedules": len(schedules),
        "paused_schedules": sum(schedule.pause is not None for schedule in schedules),
    }


def _stats(workflow_id: str, found: Health, schedules: Sequence[Schedule]) -> StatsOut:
    return {
        "workflow": workflow_id,
        "since": str(instant(found.since_ms)),
        "until": str(instant(found.until_ms)),
        "runs": found.runs,
        "at_least": found.more,
        "statuses": dict(found.statuses),
        "failure_rate": found.failure_rate,
        "p50_ms": found.p50_ms,
        "p95_ms": found.p95_ms,
        "usd": found.usd,
        "bars": list(found.bars),
        "failed_bars": list(found.failed_bars),
        "next_at": instant(min((each.next_ms for each in schedules if each.next_ms is not None), default=None)),
    }


def _window_ms(text: str) -> int:
    try:
        window_ms = parse_duration_ms(text)
    except ValueError:
        window_ms = 0
    if not 0 < window_ms <= MAX_STATS_MS:
        raise InvalidRequest(f"{text!r} is not a window", place="window", mend="write 24h or 7d; at most 90d")
    return window_ms
