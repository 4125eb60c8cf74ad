"""Serves `GET /audit`: the audit log, for admins."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Final

from fastapi import APIRouter, Query
from starlette.responses import Response

from stepless.api.problems import documented
from stepless.api.replies import damaged, instant, reply
from stepless.api.requests import AuditQuery
from stepless.api.responses.admin import AuditOut, AuditPageOut
from stepless.api.routes.runs.listing import instant_ms
from stepless.runtime.access.audit import Audited, AuditLog

_TAGS: Final[list[str | Enum]] = ["audit"]


def add_routes(router: APIRouter, log: AuditLog) -> None:
    @router.get(
        "/audit",
        summary="Read the audit log",
        response_model=AuditPageOut,
        responses=documented(400, 401, 403, 503),
        tags=_TAGS,
    )
    def list_audit(query: Annotated[AuditQuery, Query()]) -> Response:
        """Returns who asked for what, when and from where, the newest first: every request to change something, and every answer
        by a link, of the last 366 days. Needs the role `admin`. A page may have fewer entries than `limit` and still have a
        cursor."""
        found = log.search(
            who=query.who,
            verb=query.verb,
            target=query.target,
            since_ms=instant_ms(query.since, "since") if query.since is not None else None,
            until_ms=instant_ms(query.until, "until") if query.until is not None else None,
            limit=query.limit,
            cursor=query.cursor,
        )
        return reply({"entries": [_entry(entry) for entry in found.items], "cursor": found.cursor})


def _entry(entry: Audited) -> AuditOut:
    return {
        "id": entry.id,
        "at": str(instant(entry.at_ms)),
        "who": entry.who,
        "verb": entry.verb,
        "target": entry.target,
        "source": entry.source,
        "refused": entry.refused or None,
        "details": dict(entry.details or {}),
        **damaged(entry.damage),
    }
