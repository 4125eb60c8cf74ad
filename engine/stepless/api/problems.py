"""Converts errors to RFC 9457 problem details with a stable `code`.

An error that the caller can fix is described in full. An internal error is reported by an id, under which the log has the
details.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from secrets import token_hex
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stepless.api.replies import decision_out, finding_out
from stepless.api.responses.general import Problem
from stepless.errors import (
    AuthorError,
    CallerError,
    Damaged,
    DocumentRefused,
    Fenced,
    InvalidRequest,
    LimitExceeded,
    LogUnreadable,
    NotFound,
    SteplessError,
    TransientError,
)
from stepless.model.stored.encoding import encode

MEDIA_TYPE: Final = "application/problem+json"
_DESCRIBED: Final = (AuthorError, CallerError, TransientError, Fenced, LimitExceeded, LogUnreadable, Damaged)
_TAKEN_EFFECT: Final = frozenset({"schedules_not_kept"})  # whatever the cause, the caller must know what the request has done
_log = logging.getLogger(__name__)


def problem_of(error: SteplessError) -> Problem:
    """Returns the problem document of an error. An internal error becomes a report: it is logged, and the document has its id."""
    if not isinstance(error, _DESCRIBED) and error.code not in _TAKEN_EFFECT:
        return report_of(error)
    problem = _problem(error.http_status, error.code, error.message)
    if isinstance(error, DocumentRefused):
        problem["detail"] = f"the document was refused with {len(error.findings)} finding(s)"
        problem["findings"] = [finding_out(finding) for finding in error.findings]
    if error.place and not isinstance(error, TransientError):  # a transient error names an internal place
        problem["place"] = error.place
    if error.mend:
        problem["mend"] = error.mend
    facts = error.facts
    if "violations" in facts:
        problem["violations"] = list(facts["violations"])
    if "reasons" in facts:
        problem["reasons"] = list(facts["reasons"])
    if "first" in facts:
        problem["first"] = decision_out(facts["first"])
    if "owner" in facts:
        problem["owner"] = str(facts["owner"])
    if "run_id" in facts:
        problem["run_id"] = str(facts["run_id"])
    if "run_status" in facts:
        problem["run_status"] = str(facts["run_status"])
    return problem


def report_of(error: BaseException) -> Problem:
    """Returns the problem document of an internal error. The log gets the details, the caller an id."""
    report = token_hex(8)
    _log.error("report %s: %s", report, error, exc_info=error)
    problem = _problem(500, "internal_error", "an internal error occurred; the request is not the cause")
    return {**problem, "report": report, "mend": f"try again; if the error persists, give the operator the id {report}"}


def _problem(status: int, code: str, detail: str) -> Problem:
    title = code.replace("_", " ").capitalize()
    return {"type": f"urn:stepless:problem:{code}", "title": title, "status": status, "detail": detail, "code": code}


def respond(error: SteplessError) -> Response:
    problem = problem_of(error)
    headers = dict(_headers(problem["status"], error.facts.get("allow", ()), error.facts.get("retry_after_ms", 1000)))
    return Response(encode(problem), problem["status"], headers, MEDIA_TYPE)


def _headers(status: int, allow: Sequence[str], retry_after_ms: int) -> Iterable[tuple[str, str]]:
    yield "cache-control", "no-store"
    if status == 401:
        yield "www-authenticate", 'Bearer realm="stepless"'
    if status == 405 and allow:
        yield "allow", ", ".join(allow)
    if status in (429, 503):
        yield "retry-after", str(max(1, -(-retry_after_ms // 1000)))


def documented(*statuses: int, as_page: bool = False) -> dict[int | str, dict[str, Any]]:
    """Returns the documentation of a route's error responses: these statuses, and any other. `as_page`: they may be HTML too."""
    content: dict[str, Any] = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    if as_page:
        content["text/html"] = {"schema": {"type": "string"}}
    meanings: dict[int | str, str] = {**{status: _MEANINGS[status] for status in statuses}, "default": "Any other problem"}
    return {status: {"description": meaning, "content": content} for status, meaning in meanings.items()}


_MEANINGS: Final[Mapping[int, str]] = {
    400: "The request is malformed",
    401: "No valid API key, signature or token",
    403: "The link is not valid, or the key lacks a role",
    404: "Not found",
    405: "Method not allowed; see Allow",
    409: "Conflict with an earlier request or with the state of the run",
    410: "Expired, or the run has ended",
    413: "Too large",
    416: "The range is outside the value",
    415: "Media type not supported",
    429: "Too many requests; see Retry-After",
    422: "Refused; the findings or violations say why",
    503: "Temporarily unavailable; see Retry-After",
}


# -- where errors arrive ----------------------------------------------------------------------------------------------


def install(app: FastAPI, routes: Sequence[BaseRoute]) -> None:
    """Converts every error of the app to a problem document. `routes` give the methods of a path."""

    async def known(request: Request, error: Exception) -> Response:
        assert isinstance(error, SteplessError)
        return respond(error)

    async def unread(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return respond(_unread(error))

    async def unrouted(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return respond(_unrouted(request, error, routes))

    app.add_exception_handler(SteplessError, known)
    app.add_exception_handler(RequestValidationError, unread)
    app.add_exception_handler(HTTPException, unrouted)
    app.add_middleware(FaultReports)


def _unread(error: RequestValidationError) -> InvalidRequest:
    """The error for an invalid query, path or header."""
    faults = [(".".join(map(str, fault["loc"])), str(fault["msg"])) for fault in error.errors()]
    violations = [f"{place}: {message}" for place, message in faults]
    place, message = faults[0]
    return InvalidRequest(f"the request does not fit: {message}", place=place, violations=violations)


def _unrouted(request: Request, error: HTTPException, routes: Sequence[BaseRoute]) -> SteplessError:
    path = request.url.path
    if error.status_code == 404:
        return NotFound(f"there is no route {path}", code="unknown_route", mend="see /openapi.json for all routes")
    if error.status_code == 405:
        allow = sorted(_methods(request.scope, routes))
        message, mend = f"{path} does not take {request.method}", f"use {', '.join(allow)}"
        return InvalidRequest(message, code="method_not_allowed", status=405, mend=mend, allow=allow)
    return CallerError(str(error.detail), status=error.status_code)


def _methods(scope: Scope, routes: Sequence[BaseRoute]) -> set[str]:
    fitting = [route for route in routes if isinstance(route, Route) and route.matches(scope)[0] is not Match.NONE]
    return {method for route in fitting for method in route.methods or ()}


class FaultReports:
    """The outermost layer: an unexpected error becomes a problem document with the id of a report. If the response has begun, the
    connection is closed instead, so that the client does not take a partial response for a complete one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except Exception as error:
            if begun or scope["type"] != "http":
                raise
            await Response(encode(report_of(error)), 500, {"cache-control": "no-store"}, MEDIA_TYPE)(scope, receive, send)
