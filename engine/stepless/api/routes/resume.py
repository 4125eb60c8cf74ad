"""Serves signed links (docs/run/security.md#what-is-signed): `GET` shows the question and changes nothing, so a mail scanner may
fetch it; `POST` decides, once. Both return HTML to browsers and JSON to programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from stepless.api.bodies import FORM, form_fields, is_json, media_type, read_body, unsupported, validated
from stepless.api.guards.auditing import source_of
from stepless.api.negotiation import preferred
from stepless.api.pages import answer_page
from stepless.api.pages.answer_forms import PREFIX, faults_by_field, fields_of, shown_answer, typed_answer
from stepless.api.problems import documented, respond
from stepless.api.replies import decision_out, instant, reply
from stepless.api.requests import ResumeBody
from stepless.api.responses.details import details_out
from stepless.api.responses.general import DecisionOut, QuestionOut
from stepless.compile.reading.strict_json import strict_json
from stepless.errors import CallerError, Gone, InvalidRequest, LimitExceeded, SteplessError, TransientError
from stepless.limits import MAX_ANSWER_BYTES
from stepless.model.json import JSON
from stepless.model.stored.encoding import encode
from stepless.model.texts.company import Company
from stepless.runtime.access.audit import AuditLog
from stepless.runtime.access.deciders import named
from stepless.runtime.service import Service
from stepless.runtime.verbs.changes.answering import PauseView

_HTML: Final = "text/html"
_JSON: Final = "application/json"
_TAGS: Final[list[str | Enum]] = ["resume"]
_PAGE: Final[Mapping[str, Any]] = {"content": {_HTML: {"schema": {"type": "string"}}}}
_TITLES: Final = {403: "Not a valid link", 404: "No question here", 410: "Too late", 503: "Temporarily unavailable"}
_DONE: Final = "Nothing else is needed. You can close this page."
_FOR_PEOPLE: Final = (CallerError, TransientError, LimitExceeded)  # errors that the page explains


def add_routes(router: APIRouter, service: Service, log: AuditLog) -> None:
    async def show_question(token: str, request: Request) -> Response:
        """Returns the question of a signed link, as a page or as JSON. Changes nothing."""
        as_page = preferred(request, _HTML, _JSON) == _HTML
        try:
            view = await run_in_threadpool(_look, service, token)
        except SteplessError as error:
            return await run_in_threadpool(_explained, service, token, error, as_page)
        if not as_page:
            return reply(_question(view), headers=answer_page.HEADERS)
        return _page(200, view, _question_parts(view), service.world.company)

    for method in ("GET", "HEAD"):
        router.add_api_route(
            "/resume/{token}",
            show_question,
            methods=[method],
            name=f"show_question_{method.lower()}",
            summary="Get the question of a signed link",
            response_model=QuestionOut,
            responses={200: {"description": "The question", **_PAGE}, **documented(403, 404, 410, as_page=True)},
            include_in_schema=method == "GET",
            tags=_TAGS,
        )

    @router.post(
        "/resume/{token}",
        summary="Answer the question of a signed link",
        response_model=DecisionOut,
        responses={200: {"description": "Decided", **_PAGE}, **documented(400, 403, 404, 409, 410, 413, 415, 422, as_page=True)},
        openapi_extra=_DECISION_BODY,
        tags=_TAGS,
    )
    async def decide(token: str, request: Request) -> Response:
        """Answers the question, once. A second answer gets 409 with the first decision. An invalid answer gets 422, and the
        question stays open."""
        kind = media_type(request)
        as_page = preferred(request, *((_HTML, _JSON) if kind == FORM else (_JSON, _HTML))) == _HTML
        typed: dict[str, str] = {}
        try:
            data = await read_body(request)
            if kind == FORM:
                typed = form_fields(data)
            elif data and not is_json(kind):
                raise unsupported(kind, _JSON, FORM)
            given = await run_in_threadpool(
                _decide, service, token, data if kind != FORM else None, typed, log, source_of(request)
            )
        except SteplessError as error:
            return await run_in_threadpool(_explained, service, token, error, as_page, typed)
        if as_page:
            return await run_in_threadpool(_decided_page, service, token, given)
        return reply(decision_out(given), headers=answer_page.HEADERS)


_DECISION_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "content": {
            _JSON: {"schema": ResumeBody.model_json_schema()},
            FORM: {
                "schema": {
                    "type": "object",
                    "description": "`decision`, `by`, and `answer.<name>` for each field",
                    "additionalProperties": {"type": "string"},
                }
            },
        }
    }
}


# -- deciding ---------------------------------------------------------------------------------------------------------


def _look(service: Service, token: str) -> PauseView:
    """The question. Raises as `_unexpired` does, and `Gone` (run_ended) if it can no longer be answered."""
    view = _unexpired(service, token)
    if view.over:
        raise Gone("the run no longer waits for this answer", code="run_ended")
    return view


def _unexpired(service: Service, token: str) -> PauseView:
    """The question of a valid link. Raises `Gone` (token_expired) for an expired link, with the decision if there is one."""
    view = service.show_pause(token)
    if view.expired_ms is not None:
        first: dict[str, Any] = {"first": view.decided} if view.decided is not None else {}
        raise Gone(f"this link expired at {instant(view.expired_ms)}", code="token_expired",
                   mend="ask for a new one", **first)  # fmt: skip
    return view


def _decide(
    service: Service, token: str, data: bytes | None, typed: Mapping[str, str], log: AuditLog, source: str
) -> Mapping[str, JSON]:
    """Decides with a JSON body, or with a form if `data` is None. Checks the link first, so that a caller without a valid link
    learns nothing else. The audit log has an entry before the answer is stored."""
    view = _unexpired(service, token)
    body = _typed_body(view, typed) if data is None else validated(ResumeBody, strict_json(data) if data else {})
    check_size(body)
    who = f"link to {view.approver}" if view.approver else f"link of {view.via}" if view.via else "link"
    by = view.approver or (named(body.by, view.via) if view.via else body.by)
    entry = log.begin(who, "decide", view.run_id, source, facts_of(view.pause, body, by))
    try:
        return service.answer(token, body.decision, body.answer, body.by)
    except SteplessError as error:
        log.store(replace(entry, refused=error.code))
        raise


def check_size(body: ResumeBody) -> None:
    if len(encode(body.answer)) > MAX_ANSWER_BYTES:
        message = f"the answer has more than {MAX_ANSWER_BYTES:,} bytes"
        raise InvalidRequest(message, code="answer_too_large", status=413, mend="send a shorter answer")


def facts_of(pause: str, body: ResumeBody, by: str | None) -> dict[str, JSON]:
    """Returns the facts about a decision that the audit log keeps."""
    comment = (body.comment or "").strip()
    return {"pause": pause, "decision": body.decision, "by": by, **({"comment": comment} if comment else {})}


def _typed_body(view: PauseView, typed: Mapping[str, str]) -> ResumeBody:
    said = {name: text for name, text in typed.items() if not name.startswith(PREFIX) and text.strip()}
    return validated(ResumeBody, {**said, "answer": typed_answer(view.fields, typed)})


def _question(view: PauseView) -> QuestionOut:
    return {
        "workflow": view.workflow,
        "label": view.label,
        "message": view.message,
        "details": details_out(view.details),
        "asked_by": view.asked_by or None,
        "fields": dict(view.fields),
        "exits": list(view.exits),
        "deadline": instant(view.deadline_ms),
        "decided": decision_out(view.decided) if view.decided is not None else None,
    }


# -- pages ------------------------------------------------------------------------------------------------------------


def _page(status: int, about: PauseView | str, parts: list[str], company: Company) -> Response:
    """A page. `about` is its question, or its title."""
    title = about if isinstance(about, str) else about.message.strip().partition("\n")[0] or about.label
    html = answer_page.document(title, parts, company)
    return Response(html.encode("utf-8", "replace"), status, answer_page.headers(company, html), "text/html; charset=utf-8")


def _asked(view: PauseView) -> list[str]:
    return [answer_page.heading(view.message, view.label, view.workflow, view.asked_by), answer_page.details(view.details)]


def _outcome(view: PauseView) -> list[str]:
    """The outcome of a closed question: the decision, who made it and when, or that there was none."""
    if view.decided is not None:
        first = decision_out(view.decided)
        return [answer_page.decision(first["decision"], first["by"], first["at"])]
    return [answer_page.closed("This was not answered. It closed at", instant(view.over_ms))] if view.over else []


def _question_parts(view: PauseView, typed: Mapping[str, str] | None = None, faults: Sequence[str] = ()) -> list[str]:
    if view.decided is not None:
        return [*_outcome(view), *_asked(view)]
    whole, by_field = faults_by_field(faults, view.fields)
    alarm = [answer_page.alarm(["Please correct your answer.", *whole])] if faults else []
    by = (typed or {}).get("by", "")
    form = answer_page.form(fields_of(view.fields, typed, by_field), view.exits, by, asks_who=view.approver is None)
    return [*_asked(view), *alarm, form, answer_page.deadline(instant(view.deadline_ms))]


def _decided_page(service: Service, token: str, given: Mapping[str, JSON]) -> Response:
    """The page after a decision: it shows the decision, with thanks."""
    view, made = service.show_pause(token), decision_out(given)
    thanks = answer_page.decision(made["decision"], made["by"], made["at"], thanks=True)
    answered = answer_page.answered(shown_answer(view.fields, made["answer"]))
    return _page(200, view, [thanks, answered, *_asked(view), answer_page.note(_DONE)], service.world.company)


def _late_page(service: Service, token: str) -> Response:
    """The page for a second answer: it shows the first decision."""
    view = service.show_pause(token)
    late = answer_page.alarm(["This was already decided. Your answer was not counted."])
    return _page(409, view, [late, *_outcome(view), *_asked(view)], service.world.company)


def _open_page(service: Service, token: str, error: SteplessError, typed: Mapping[str, str]) -> Response:
    """The question again, with the typed values and their faults."""
    view = service.show_pause(token)
    faults = error.facts.get("violations") or [error.message]
    return _page(422, view, _question_parts(view, typed, faults), service.world.company)


def _closed_page(service: Service, token: str) -> Response:
    """The page of a link that can no longer be answered: its question and the outcome."""
    view = service.show_pause(token)
    if view.expired_ms is None:
        return _page(410, view, [*_outcome(view), *_asked(view)], service.world.company)
    expired = answer_page.closed("This link expired at", instant(view.expired_ms))
    ask = [] if view.decided is not None or view.over else [answer_page.note("The question is still open. Ask for a new link.")]
    return _page(410, view, [expired, *_outcome(view), *ask, *_asked(view)], service.world.company)


def _explained(
    service: Service, token: str, error: SteplessError, as_page: bool, typed: Mapping[str, str] | None = None
) -> Response:
    """The response to an error. For a valid link, the page shows the question too."""
    if as_page and error.code == "already_decided":
        return _late_page(service, token)
    if as_page and error.http_status == 410:
        return _closed_page(service, token)
    if as_page and error.http_status == 422:
        return _open_page(service, token, error, typed or {})
    return _refused(error, as_page, service.world.company)


def _refused(error: SteplessError, as_page: bool, company: Company) -> Response:
    if as_page and isinstance(error, _FOR_PEOPLE):
        title = _TITLES.get(error.http_status, "The answer was not accepted")
        sentences = [text[:1].upper() + text[1:] + "." for text in (error.message, error.mend) if text]
        return _page(error.http_status, title, [answer_page.title(title), answer_page.alarm(sentences)], company)
    response = respond(error)
    response.headers.update(answer_page.HEADERS)
    return response
