"""Errors as people and programs read them: RFC 9457 problem details with a stable `code`.

What the caller can mend is told in full; what is our fault is told as the id of a report, under which the log has the rest.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from secrets import token_hex
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stepless.api.replies import decision_out, encode, finding_out
from stepless.api.schemas import Problem
from stepless.errors import (
    AuthorError,
    CallerError,
    DocumentRefused,
    Fenced,
    InvalidRequest,
    LimitExceeded,
    LogUnreadable,
    NotFound,
    SteplessError,
    TransientError,
)

MEDIA_TYPE: Final = "application/problem+json"
_OURS_TO_TELL: Final = (AuthorError, CallerError, TransientError, Fenced, LimitExceeded, LogUnreadable)
_log = logging.getLogger(__name__)


def problem_of(error: SteplessError) -> Problem:
    """The document of an error. One that is not the caller's concern becomes a report: logged, and named by its id."""
    if not isinstance(error, _OURS_TO_TELL):
        return report_of(error)
    problem = _problem(error.http_status, error.code, error.message)
    if isinstance(error, DocumentRefused):
        problem["detail"] = f"the document was refused with {len(error.findings)} finding(s)"
        problem["findings"] = [finding_out(finding) for finding in error.findings]
    if error.place and not isinstance(error, TransientError):  # whose place is a store's, and nobody else's concern
        problem["place"] = error.place
    if error.mend:
        problem["mend"] = error.mend
    facts = error.facts
    if "violations" in facts:
        problem["violations"] = list(facts["violations"])
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
    """A fault of ours: the log gets everything, the caller an id."""
    report = token_hex(8)
    _log.error("report %s: %s", report, error, exc_info=error)
    problem = _problem(500, "internal_error", "something went wrong on our side; nothing is wrong with the request")
    return {**problem, "report": report, "mend": f"try again; if it stays, report {report}"}


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
    """Problem responses for a route's documentation: these statuses, and any other. `as_page`: people are told them as HTML."""
    content: dict[str, Any] = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    if as_page:
        content["text/html"] = {"schema": {"type": "string"}}
    meanings: dict[int | str, str] = {**{status: _MEANINGS[status] for status in statuses}, "default": "Any other problem"}
    return {status: {"description": meaning, "content": content} for status, meaning in meanings.items()}


_MEANINGS: Final[Mapping[int, str]] = {
    400: "The request is malformed",
    401: "No valid API key, signature or token",
    403: "Not a genuine link, or a role is missing",
    404: "There is no such thing",
    405: "Not by this method; see Allow",
    409: "Somebody or something was first",
    410: "Expired, or the run has ended",
    413: "Too large",
    416: "The value has no such bytes",
    415: "Not a media type that is read here",
    429: "Too many for now; see Retry-After",
    422: "Understood, and refused: the findings or violations say why",
    503: "Out of reach for the moment; see Retry-After",
}


# -- where errors arrive ----------------------------------------------------------------------------------------------


def install(app: FastAPI, routes: Sequence[BaseRoute]) -> None:
    """Makes every error of the app a problem. `routes` are asked which methods a path takes."""

    async def told(request: Request, error: Exception) -> Response:
        assert isinstance(error, SteplessError)
        return respond(error)

    async def unread(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return respond(_unread(error))

    async def unrouted(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return respond(_unrouted(request, error, routes))

    app.add_exception_handler(SteplessError, told)
    app.add_exception_handler(RequestValidationError, unread)
    app.add_exception_handler(HTTPException, unrouted)
    app.add_middleware(FaultReports)


def _unread(error: RequestValidationError) -> InvalidRequest:
    """Query, path or headers that do not fit."""
    faults = [(".".join(map(str, fault["loc"])), str(fault["msg"])) for fault in error.errors()]
    violations = [f"{place}: {message}" for place, message in faults]
    place, message = faults[0]
    return InvalidRequest(f"the request does not fit: {message}", place=place, violations=violations)


def _unrouted(request: Request, error: HTTPException, routes: Sequence[BaseRoute]) -> SteplessError:
    path = request.url.path
    if error.status_code == 404:
        return NotFound(f"nothing is at {path}", code="unknown_route", mend="look at /openapi.json for what there is")
    if error.status_code == 405:
        allow = sorted(_methods(request.scope, routes))
        message, mend = f"{path} does not take {request.method}", f"use {', '.join(allow)}"
        return InvalidRequest(message, code="method_not_allowed", status=405, mend=mend, allow=allow)
    return CallerError(str(error.detail), status=error.status_code)


def _methods(scope: Scope, routes: Sequence[BaseRoute]) -> set[str]:
    fitting = [route for route in routes if isinstance(route, APIRoute) and route.matches(scope)[0] is not Match.NONE]
    return {method for route in fitting for method in route.methods or ()}


class FaultReports:
    """The outermost net: whatever nobody expected becomes a problem with a report's id. An answer that has begun is broken
    off instead, so that nobody takes half of it for the whole."""

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
