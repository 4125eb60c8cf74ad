"""Serves the answers of API callers, without a link: the approvers of an approval are enforced, and the decision names the
caller."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from stepless.api.bodies import documented_body, read_model
from stepless.api.problems import documented
from stepless.api.replies import decision_out, reply
from stepless.api.requests import ResumeBody
from stepless.api.responses.general import DecisionOut
from stepless.api.routes.resume import check_size, facts_of
from stepless.runtime.access.audit import AuditLog
from stepless.runtime.access.deciders import decider_of
from stepless.runtime.service import Service


def add_routes(router: APIRouter, service: Service, log: AuditLog) -> None:
    @router.post(
        "/runs/{run_id}/pauses/{pause}/answer", summary="Answer a question", response_model=DecisionOut,
        openapi_extra=documented_body(ResumeBody), responses=documented(400, 401, 403, 404, 409, 410, 413, 415, 422),
        tags=["approvals"],
    )  # fmt: skip
    async def answer_pause(run_id: str, pause: str, request: Request) -> Response:
        """Answers a question of a run, once, as the caller. Needs the role `approve`. Where the approval names `approvers`, the
        caller must be one of them, or an admin: 403 `not_an_approver`. The decision names the person of a login. A key is named
        itself, and a person in `by` together with it. A second answer gets 409 with the first decision. An invalid answer gets
        422, and the question stays open."""
        body = await read_model(request, ResumeBody)
        check_size(body)
        decider = decider_of(request.state.caller, request.state.roles)
        by = decider.recorded(body.by)
        entry = replace(request.state.audited, verb="decide", target=run_id, details=facts_of(pause, body, by))
        request.state.audited = entry
        await run_in_threadpool(log.store, entry)
        await run_in_threadpool(service.check_decider, run_id, pause, decider)
        answer = partial(service.answer_pause, run_id, pause, body.decision, body.answer, by)
        return reply(decision_out(await run_in_threadpool(answer)))
