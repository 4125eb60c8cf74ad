"""Start, list, inspect and cancel runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import Enum
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from stepless.api.bodies import documented_body, read_model
from stepless.api.links import Links
from stepless.api.models import (
    CancelBody,
    CancelOut,
    NodeOut,
    NodesOut,
    NodesQuery,
    OutcomeOut,
    PauseOut,
    RunHeadOut,
    RunOut,
    RunsOut,
    RunsQuery,
    StartBody,
    StartedOut,
)
from stepless.api.negotiation import wished_wait_s
from stepless.api.problems import documented
from stepless.api.replies import fitting, instant, page, reply
from stepless.api.waiting import has_ended, watch
from stepless.core.state import RunStatus
from stepless.core.trace import NodeRecord
from stepless.errors import InvalidRequest
from stepless.model.json import JSON
from stepless.ports import RunFilter, RunHead
from stepless.runtime.inspecting import OpenPause, RunView
from stepless.runtime.service import Service
from stepless.runtime.starting import Started

_TAGS: Final[list[str | Enum]] = ["runs"]
_MAX_INSTANT_MS: Final = 253_402_300_799_999  # the year 9999
_STATUSES: Final = tuple(status.value for status in RunStatus)


def add_routes(router: APIRouter, service: Service, links: Links) -> None:
    @router.post(
        "/workflows/{workflow_id}/runs",
        summary="Start a run",
        status_code=202,
        response_model=StartedOut,
        responses={
            200: {"model": StartedOut, "description": "Started before, or ended already"},
            **documented(400, 401, 404, 409, 413, 415, 422, 429, 503),
        },
        openapi_extra=documented_body(StartBody),
        tags=_TAGS,
    )
    async def start_run(workflow_id: str, request: Request) -> Response:
        """Starts a run of the newest version. With an `Idempotency-Key` the same start is answered again for 24 hours. With
        `Prefer: wait=20` the answer waits for the outcome, that many seconds and at most 20."""
        body = await read_model(request, StartBody)
        key, wait_s = idempotency_key(request), wished_wait_s(request)
        entry = [body.entry] if isinstance(body.entry, str) else body.entry
        started = await run_in_threadpool(service.start, workflow_id, body.inputs, key=key, entry=entry)
        if wait_s is None:
            return reply_started(started, None, links)
        view = await watch(service, started.run_id, has_ended, wait_s)
        outcome: OutcomeOut | None = None
        if view is not None:
            outcome = {"status": view.status, "outputs": view.outputs, "error": _object(view.error)}
        return reply_started(started, outcome, links, {"preference-applied": f"wait={wait_s:g}"})

    @router.get("/runs", summary="List runs", response_model=RunsOut, responses=documented(400, 401), tags=_TAGS)
    def list_runs(query: Annotated[RunsQuery, Query()]) -> Response:
        """Runs, the newest first."""
        found = service.runs(_filter(query), limit=query.limit, cursor=query.cursor)
        return reply({"runs": [_head(head, links) for head in found.items], "cursor": found.cursor})

    @router.get("/runs/{run_id}", summary="Inspect a run", response_model=RunOut, responses=documented(401, 404), tags=_TAGS)
    def read_run(run_id: str) -> Response:
        """What a run is, as its log tells it, with a signed link for everything that it waits for."""
        view = service.run(run_id)
        version = service.workflow(view.head.workflow_id, hash=view.head.version)
        return reply(_run(view, version.number if version is not None else None, links))

    @router.get(
        "/runs/{run_id}/nodes",
        summary="Inspect a run's nodes",
        response_model=NodesOut,
        responses=documented(400, 401, 404),
        tags=_TAGS,
    )
    def list_nodes(run_id: str, query: Annotated[NodesQuery, Query()]) -> Response:
        """One record per instance, in the order of first mention, as far as they fit into a page."""
        records = list(service.run(run_id).nodes.values())
        encoded = fitting(records[query.after : query.after + query.limit], _node)
        after = query.after + len(encoded)
        return page("nodes", encoded, cursor=after if after < len(records) else None)

    @router.post(
        "/runs/{run_id}/cancel",
        summary="Cancel a run",
        status_code=202,
        response_model=CancelOut,
        responses=documented(400, 401, 404, 409, 413, 415, 422),
        openapi_extra=documented_body(CancelBody),
        tags=_TAGS,
    )
    async def cancel_run(run_id: str, request: Request) -> Response:
        """Asks for the run to be cancelled. Asking twice is asking once; a run that has ended answers 409."""
        body = await read_model(request, CancelBody)
        await run_in_threadpool(service.cancel, run_id, by=body.by, reason=body.reason)
        answer: CancelOut = {"run_id": run_id, "status": "cancelling", "links": links.run(run_id)}
        return reply(answer, 202)


# -- starting ---------------------------------------------------------------------------------------------------------


def idempotency_key(request: Request) -> str | None:
    key = request.headers.get("idempotency-key")
    if key is not None and not key.strip():
        raise InvalidRequest("the idempotency key is empty", code="invalid_idempotency_key", mend="leave the header out")
    return key


def reply_started(started: Started, outcome: OutcomeOut | None, links: Links, headers: dict[str, str] | None = None) -> Response:
    """202 for a run that is only begun; 200 when it is known already, or how it ended."""
    answer: StartedOut = {
        "run_id": started.run_id,
        "workflow": started.workflow_id,
        "version": started.version,
        "replay": started.replay,
        "outcome": outcome,
        "links": links.run(started.run_id),
    }
    status = 200 if started.replay or outcome is not None else 202
    return reply(answer, status, {"location": answer["links"]["run"], **(headers or {})})


# -- listing ----------------------------------------------------------------------------------------------------------


def _filter(query: RunsQuery) -> RunFilter:
    if query.status is not None and query.status not in _STATUSES:
        message = f"{query.status!r} is no status"
        raise InvalidRequest(message, place="status", mend=f"use one of {', '.join(_STATUSES)}")
    return RunFilter(query.workflow, query.status, None if query.since is None else _instant_ms(query.since))


def _instant_ms(text: str) -> int:
    """Milliseconds since 1970 of an instant in ISO 8601 with its offset, or of a number that is that already."""
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
        raise InvalidRequest(f"{text[:40]!r} is no instant", place="since", mend=mend)
    return at_ms


def _head(head: RunHead, links: Links) -> RunHeadOut:
    return {
        "id": head.run_id,
        "workflow": head.workflow_id,
        "hash": head.version,
        "status": head.status,
        "created_at": str(instant(head.created_ms)),
        "updated_at": str(instant(head.updated_ms)),
        "links": links.run(head.run_id),
    }


# -- one run ----------------------------------------------------------------------------------------------------------


def _run(view: RunView, version: int | None, links: Links) -> RunOut:
    return {
        "id": view.head.run_id,
        "workflow": view.head.workflow_id,
        "version": version,
        "hash": view.head.version,
        "status": view.status,
        "inputs": view.inputs,
        "outputs": view.outputs,
        "variables": dict(view.variables),
        "error": _object(view.error),
        "failures": view.failures,
        "tags": list(view.tags),
        "steps": view.steps,
        "usage": dict(view.usage),
        "sequence": view.sequence,
        "pauses": list(_pauses(view.pauses, links)),
        "created_at": str(instant(view.head.created_ms)),
        "started_at": instant(view.started_ms),
        "ended_at": instant(view.ended_ms),
        "links": links.run(view.head.run_id),
    }


def _pauses(pauses: Iterable[OpenPause], links: Links) -> Iterable[PauseOut]:
    for pause in pauses:
        yield {
            "pause": pause.pause,
            "node": pause.node,
            "reason": pause.reason,
            "exits": list(pause.exits),
            "details": dict(pause.details),
            "since": str(instant(pause.since_ms)),
            "deadline": instant(pause.deadline_ms),
            "resume_at": instant(pause.resume_at_ms),
            "resume": links.resume(pause.token) if pause.token is not None else None,
        }


def _node(record: NodeRecord) -> NodeOut:
    return {
        "instance": record.instance,
        "node": record.node,
        "kind": record.kind,
        "label": record.label,
        "status": record.status,
        "reason": record.reason,
        "code": record.code,
        "inputs": dict(record.inputs),
        "output": record.output,
        "error": _object(record.error),
        "index": record.index,
        "predecessor": record.predecessor,
        "wave": record.wave,
        "depth": record.depth,
        "attempts": record.attempts,
        "started_at": instant(record.started_ms),
        "ended_at": instant(record.ended_ms),
        "usage": dict(record.usage),
        "waiting": _object(record.waiting),
    }


def _object(value: Mapping[str, JSON] | None) -> dict[str, JSON] | None:
    return dict(value) if value is not None else None
