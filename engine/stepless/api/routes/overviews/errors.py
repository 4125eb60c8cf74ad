"""Serves `GET /errors`: failures of many runs, in groups."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Final

from fastapi import APIRouter, Query
from starlette.responses import Response

from stepless.api.problems import documented
from stepless.api.replies import instant, reply
from stepless.api.requests import ErrorsQuery
from stepless.api.responses.overviews import ErrorGroupOut, ErrorsOut
from stepless.api.routes.runs.listing import instant_ms
from stepless.limits import DEFAULT_ERRORS_MS
from stepless.runtime.service import Service
from stepless.runtime.verbs.overviews.failures import Group

_TAGS: Final[list[str | Enum]] = ["errors"]


def add_routes(router: APIRouter, service: Service) -> None:
    @router.get("/errors", summary="List failures", response_model=ErrorsOut, responses=documented(400, 401), tags=_TAGS)
    def list_errors(query: Annotated[ErrorsQuery, Query()]) -> Response:
        """Lists the failures of runs, grouped by workflow, node, code and message, the last failure first. Numbers, ids and
        quoted texts in messages do not count. A run that timed out has failed, too. Of a run and its reruns the last one counts:
        a failure is left out while its rerun is in progress, and once that has ended, unless it was cancelled."""
        now_ms = service.world.clock.now_ms()
        since_ms = now_ms - DEFAULT_ERRORS_MS if query.since is None else instant_ms(query.since)
        found = service.failures(workflow=query.workflow, since_ms=max(0, since_ms))
        answer: ErrorsOut = {
            "errors": [_group(group) for group in found.groups],
            "group_count": found.group_count,
            "count": found.total,
            "at_least": found.more,
            "unsure": found.unsure,
            "since": str(instant(found.since_ms)),
            "until": str(instant(found.until_ms)),
        }
        return reply(answer)


def _group(group: Group) -> ErrorGroupOut:
    return {
        "fingerprint": group.fingerprint,
        "workflow": group.workflow,
        "status": group.status,
        "node": group.node or None,
        "code": group.code,
        "message": group.message,
        "example": group.example,
        "count": len(group.runs),
        "runs": list(group.runs),
        "versions": list(group.versions),
        "first_at": str(instant(group.first_ms)),
        "last_at": str(instant(group.last_ms)),
        "bars": list(group.bars),
    }
