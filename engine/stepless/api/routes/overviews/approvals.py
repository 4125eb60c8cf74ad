"""Serves `GET /approvals`: the open questions of all runs, and the decisions that people made."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from stepless.api.links import Links
from stepless.api.problems import documented
from stepless.api.replies import fitting, instant, page, reply
from stepless.api.requests import ApprovalsQuery, DecisionsQuery
from stepless.api.responses.details import details_out
from stepless.api.responses.overviews import ApprovalOut, ApprovalsOut, DecisionsOut, MadeDecisionOut
from stepless.api.routes.runs.listing import instant_ms
from stepless.model.json import JSON
from stepless.model.texts.details import details_of
from stepless.ports import ERASED, RunHead
from stepless.runtime.access.audit import Audited, AuditLog
from stepless.runtime.access.deciders import approvers_of, decider_of
from stepless.runtime.headers import version_of
from stepless.runtime.service import Service
from stepless.runtime.verbs.overviews.approvals import Question, cursor_after

_TAGS: Final[list[str | Enum]] = ["approvals"]


def add_routes(router: APIRouter, service: Service, links: Links, log: AuditLog) -> None:
    @router.get(
        "/approvals", summary="List open questions", response_model=ApprovalsOut, responses=documented(400, 401, 403), tags=_TAGS,
    )  # fmt: skip
    def list_approvals(query: Annotated[ApprovalsQuery, Query()], request: Request) -> Response:
        """Lists the questions that runs ask people, the nearest deadline first, with the links by which this caller may answer
        them. Needs the role `approve`. Searches the 2,000 newest runs that wait for an answer. The `cursor` continues the
        list."""
        decider = decider_of(request.state.caller, request.state.roles)
        found = service.approvals(
            workflow=query.workflow, limit=query.limit, cursor=query.cursor, decider=decider, assigned=query.assigned,
            due_ms=None if query.due_before is None else instant_ms(query.due_before, "due_before"),
        )  # fmt: skip
        encoded = fitting(found.items, lambda each: _approval(each, links))
        left_out = len(found.items) - len(encoded)
        return page(
            "approvals", encoded, count=found.total, at_least=found.more, left_out=left_out,
            cursor=cursor_after(found.items[len(encoded) - 1]) if found.following or left_out else None,
            deciding_as=decider.person, unreadable=list(found.unreadable),
        )  # fmt: skip

    @router.get(
        "/approvals/decisions", summary="List decisions", response_model=DecisionsOut, responses=documented(400, 401, 403, 503),
        tags=_TAGS,
    )  # fmt: skip
    def list_decisions(query: Annotated[DecisionsQuery, Query()]) -> Response:
        """Lists who decided what by a link in the last 366 days, the newest first. Needs the role `approve`. A page may have
        fewer decisions than `limit` and still have a cursor."""
        found = log.search(verb="decide", limit=query.limit, cursor=query.cursor)
        made = [entry for entry in found.items if not entry.refused]
        heads = {run_id: service.world.store.get_run(run_id) for run_id in {entry.target for entry in made}}
        return reply({"decisions": [_decision(entry, heads[entry.target]) for entry in made], "cursor": found.cursor})


def _approval(question: Question, links: Links) -> ApprovalOut:
    head, pause, name = question
    fields = pause.details.get("fields")
    return {
        "run_id": head.run_id,
        "workflow": head.workflow_id,
        "name": name,
        "version": version_of(head),
        "pause": pause.pause,
        "node": pause.node,
        "message": str(pause.details.get("message") or ""),
        "details": details_out(details_of(pause.details)),
        "asked_by": _text(pause.details.get("asked_by")),
        "fields": dict(fields) if isinstance(fields, Mapping) else {},
        "exits": list(pause.exits),
        "approvers": approvers_of(pause.details),
        "since": str(instant(pause.since_ms)),
        "deadline": instant(pause.deadline_ms),
        "resume": None if pause.token is None else links.resume(pause.token),
        "run": links.run(head.run_id)["run"],
    }


def _decision(entry: Audited, head: RunHead | None) -> MadeDecisionOut:
    details: Mapping[str, Any] = entry.details or {}
    return {
        "run_id": entry.target,
        "workflow": head.workflow_id if head is not None and head.status != ERASED else None,
        "pause": str(details.get("pause") or ""),
        "decision": _text(details.get("decision")),
        "by": _text(details.get("by")) or (entry.who.removeprefix("link to ") if entry.who.startswith("link to ") else None),
        "comment": _text(details.get("comment")),
        "at": str(instant(entry.at_ms)),
    }


def _text(value: JSON) -> str | None:
    return value if isinstance(value, str) and value else None
