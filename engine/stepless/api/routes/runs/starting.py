"""Serves `POST /workflows/{id}/runs`: starts a run, at once or later, and waits for its outcome if asked to."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from time import monotonic
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from stepless.api.bodies import announced_bytes, documented_body, read_model
from stepless.api.bounded_values import bounded
from stepless.api.calls import call
from stepless.api.guards.auth import may
from stepless.api.links import Links
from stepless.api.negotiation import headers_of, requested_wait_s
from stepless.api.problems import documented
from stepless.api.replies import reply
from stepless.api.requests import StartBody, StartQuery
from stepless.api.responses.general import OutcomeOut, PauseOut, StartedOut
from stepless.api.routes.runs.listing import instant_ms, requested_ms
from stepless.api.routes.runs.reading import linked_pauses, object_or_none, shown_pauses
from stepless.api.waiting import Rest, Watch, overview
from stepless.errors import InvalidRequest
from stepless.limits import MAX_DURATION_MS
from stepless.model.json import JSON
from stepless.model.runs.traceparent import stored_parent
from stepless.runtime.access.roles import Role
from stepless.runtime.service import Service
from stepless.runtime.verbs.starts.starting import Started, new_run_id


def add_routes(router: APIRouter, service: Service, links: Links) -> None:
    @router.post(
        "/workflows/{workflow_id}/runs",
        summary="Start a run",
        status_code=202,
        response_model=StartedOut,
        responses={
            200: {"model": StartedOut, "description": "Already started, or already ended"},
            **documented(400, 401, 403, 404, 409, 413, 415, 422, 429, 503),
        },
        openapi_extra=documented_body(StartBody),
        tags=["runs"],
    )
    async def start_run(workflow_id: str, query: Annotated[StartQuery, Query()], request: Request) -> Response:
        """Starts a run of the newest version. With an `Idempotency-Key`, or with `?idempotent=inputs`, which uses the inputs as
        the key, a repeated start returns the same run for 24 hours. With `?check=inputs`, inputs that do not fit are refused;
        without it, the run fails. With `Prefer: wait=20`, the response waits up to 20 seconds for the outcome. If the run waits
        for something that takes longer, it returns at once with the `pauses`."""
        body = await read_model(request, StartBody)
        key, wait_s = idempotency_key(request), requested_wait_s(request)
        entry = [body.entry] if isinstance(body.entry, str) else body.entry
        meta: dict[str, JSON] = {"tags": [*body.words]} if body.words else {}
        if service.world.traces:
            meta |= stored_parent(headers_of(request))
        by_inputs, anywhere = query.idempotent is not None, may(request, Role.ADMIN)
        if by_inputs and key is not None:
            message, mend = "the header and the inputs cannot both be the key", "leave one of them out"
            raise InvalidRequest(message, code="invalid_idempotency_key", place="idempotent", mend=mend)
        if query.check is not None:
            await run_in_threadpool(service.check_inputs, workflow_id, body.inputs, entry)
        run_id, size = new_run_id(), announced_bytes(request)
        start = partial(
            service.start, workflow_id, body.inputs, key=key, by_inputs=by_inputs, entry=entry, anywhere=anywhere, meta=meta,
            run_id=run_id, begins_ms=_begins_ms(body, service.world.clock.now_ms()), run_key=body.key,
        )
        if wait_s is None:
            return reply_started(await call(service.world, start, size=size), None, links)
        end, rest = monotonic() + wait_s, Rest(service.world.clock.now_ms() + round(wait_s * 1000))
        with Watch(service, run_id, rest) as watch:
            started = await call(service.world, start, size=size)
            rests = await watch.is_over(started.run_id, wait_s)
        view = await overview(service, started.run_id, end - monotonic()) if rests else None
        applied = {"preference-applied": f"wait={wait_s:g}"}
        if view is None or view.ended_ms is None:
            pauses = shown_pauses(linked_pauses(request, view.pauses, service), links) if view is not None else ()
            return reply_started(started, None, links, applied, pauses)
        whole: OutcomeOut = {"status": view.status, "outputs": view.outputs, "error": object_or_none(view.error)}
        outcome = bounded(whole, ("outputs", "error"), links.run(started.run_id)["run"])
        return reply_started(started, outcome, links, applied)


def _begins_ms(body: StartBody, now_ms: int) -> int | None:
    """When the run is to begin; None for at once. Raises `InvalidRequest` (invalid_request)."""
    if body.delay is None and body.at is None:
        return None
    if body.delay is not None and body.at is not None:
        message = "`delay` and `at` both say when the run begins"
        raise InvalidRequest(message, place="delay", mend="leave one of them out")
    begins_ms = now_ms + requested_ms("delay", body.delay) if body.delay is not None else instant_ms(str(body.at), "at")
    if begins_ms - now_ms > MAX_DURATION_MS:
        message = f"a run may begin at most {MAX_DURATION_MS // 86_400_000} days from now"
        raise InvalidRequest(message, place="at", mend="use an earlier instant")
    return begins_ms if begins_ms > now_ms else None


def idempotency_key(request: Request) -> str | None:
    key = request.headers.get("idempotency-key")
    if key is not None and not key.strip():
        raise InvalidRequest("the idempotency key is empty", code="invalid_idempotency_key", mend="leave the header out")
    return key


def reply_started(
    started: Started,
    outcome: OutcomeOut | None,
    links: Links,
    headers: dict[str, str] | None = None,
    pauses: Iterable[PauseOut] = (),
) -> Response:
    """Returns 202 for a new run without an outcome; 200 for an earlier start, or with the outcome."""
    answer: StartedOut = {
        "run_id": started.run_id,
        "workflow": started.workflow_id,
        "version": started.version,
        "number": started.number,
        "replay": started.replay,
        "joined": started.joined,
        "key": started.key,
        "outcome": outcome,
        "pauses": list(pauses),
        "links": links.run(started.run_id),
    }
    status = 200 if started.replay or started.joined or outcome is not None else 202
    return reply(answer, status, {"location": answer["links"]["run"], **(headers or {})})
