"""`GET /runs`: list and search runs."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final

from fastapi import APIRouter, Query
from starlette.responses import Response

from stepless.api.links import Links
from stepless.api.problems import documented
from stepless.api.replies import instant, reply
from stepless.api.requests import RunsQuery
from stepless.api.schemas import RunHeadOut, RunsOut
from stepless.core.state import RunStatus
from stepless.errors import InvalidRequest
from stepless.ports import RunFilter, RunHead
from stepless.runtime.headers import number_of, version_of
from stepless.runtime.resting import UNREADABLE
from stepless.runtime.service import Service
from stepless.runtime.verbs.searching import (
    duration_of,
    failed_node_of,
    keywords_of,
    status_of,
    summary_of,
    waits_of,
)

_MAX_INSTANT_MS: Final = 253_402_300_799_999  # the year 9999
_STATUSES: Final = (*(status.value for status in RunStatus), *sorted(UNREADABLE))


def add_routes(router: APIRouter, service: Service, links: Links) -> None:
    @router.get("/runs", summary="List runs", response_model=RunsOut, responses=documented(400, 401), tags=["runs"])
    def list_runs(query: Annotated[RunsQuery, Query()]) -> Response:
        """Lists runs, newest first."""
        wanted = run_filter(query.workflow, query.status, query.since, query.waiting)
        found = service.search(wanted, keywords=query.words, limit=query.limit, cursor=query.cursor)
        now_ms = service.world.clock.now_ms()
        return reply({"runs": [_head(head, now_ms, links) for head in found.items], "cursor": found.cursor})


def run_filter(workflow: str | None, status: str | None, since: str | None, waiting: str | None) -> RunFilter:
    """The filter of a listing or a bulk change. Raises `InvalidRequest`."""
    if status is not None and status not in _STATUSES:
        raise InvalidRequest(f"{status!r} is not a status", place="status", mend=f"use one of {', '.join(_STATUSES)}")
    return RunFilter(workflow, status, None if since is None else instant_ms(since), waiting=waiting)


def instant_ms(text: str, place: str = "since") -> int:
    """Milliseconds since 1970, from an instant in ISO 8601 with an offset or from a number of milliseconds. Raises
    `InvalidRequest` that names `place`."""
    try:
        if text.isascii() and text.isdecimal():
            at_ms = int(text[:20])
        else:
            read = datetime.fromisoformat(text)
            if read.tzinfo is None:
                raise ValueError("without an offset")
            at_ms = int(read.timestamp() * 1000)
    except (ValueError, OverflowError):
        at_ms = -1
    if not 0 <= at_ms <= _MAX_INSTANT_MS:
        mend = "write 2026-01-31T12:00:00Z, or milliseconds since 1970"
        raise InvalidRequest(f"{text[:40]!r} is not an instant", place=place, mend=mend)
    return at_ms


def _head(head: RunHead, now_ms: int, links: Links) -> RunHeadOut:
    return {
        "id": head.run_id,
        "workflow": head.workflow_id,
        "version": version_of(head),
        "number": number_of(head),
        "hash": head.version,
        "status": status_of(head, now_ms),
        "waiting": list(waits_of(head)),
        "summary": summary_of(head, now_ms),
        "duration_ms": duration_of(head, now_ms),
        "failed_node": failed_node_of(head),
        "keywords": list(keywords_of(head)),
        "tags": list(keywords_of(head)),
        "created_at": str(instant(head.created_ms)),
        "updated_at": str(instant(head.updated_ms)),
        "links": links.run(head.run_id),
    }
