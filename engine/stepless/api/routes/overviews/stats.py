"""`GET /workflows/{id}/stats`: the health of a workflow."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Final

from fastapi import APIRouter, Query
from starlette.responses import Response

from stepless.api.overview_schemas import StatsOut
from stepless.api.problems import documented
from stepless.api.replies import instant, reply
from stepless.api.requests import StatsQuery
from stepless.errors import InvalidRequest
from stepless.limits import MAX_STATS_MS
from stepless.model.durations import parse_duration_ms
from stepless.runtime.service import Service

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
        firings = [each.next_ms for each in service.list_schedules(workflow_id).items if each.next_ms is not None]
        answer: StatsOut = {
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
            "next_at": instant(min(firings, default=None)),
        }
        return reply(answer)


def _window_ms(text: str) -> int:
    try:
        window_ms = parse_duration_ms(text)
    except ValueError:
        window_ms = 0
    if not 0 < window_ms <= MAX_STATS_MS:
        raise InvalidRequest(f"{text!r} is not a window", place="window", mend="write 24h or 7d; at most 90d")
    return window_ms
