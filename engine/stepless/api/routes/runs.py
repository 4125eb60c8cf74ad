"""Serves the routes that start and inspect runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import Enum
from functools import partial
from time import monotonic
from typing import Annotated, Final, cast

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from stepless.api.auth import may
from stepless.api.bodies import announced_bytes, documented_body, read_model
from stepless.api.bounded_values import bounded
from stepless.api.calls import call
from stepless.api.links import Links
from stepless.api.negotiation import headers_of, requested_wait_s
from stepless.api.problems import documented
from stepless.api.replies import fitting, instant, page, parent_out, reply, rerun_out, run_facts, value_reply
from stepless.api.requests import InstancesQuery, NodesQuery, StartBody, StartQuery
from stepless.api.responses.evaluated_conditions import LoopedOut, TestedOut
from stepless.api.responses.general import (
    CallOut,
    ExceptionOut,
    HeldOut,
    LeftOut,
    LimitOut,
    NodeOut,
    NodesOut,
    OutcomeOut,
    PauseOut,
    RunOut,
    StartedOut,
    TagOut,
    TagsOut,
)
from stepless.api.responses.messages import UnreadOut
from stepless.api.responses.runs import RunDocumentOut
from stepless.api.routes.listing import instant_ms, requested_ms
from stepless.api.waiting import Rest, Watch, overview
from stepless.core.history.call_parameters import Called
from stepless.core.history.tags import Tag
from stepless.core.history.trace import NodeRecord
from stepless.core.mailbox import Mail
from stepless.errors import InvalidRequest
from stepless.limits import MAX_DETAILS_BYTES, MAX_DURATION_MS, MAX_PAUSES_BYTES, MAX_SHOWN_UNREAD
from stepless.model.json import JSON
from stepless.model.runs.traceparent import stored_parent
from stepless.ports import RunHead
from stepless.runtime.access.deciders import decider_of
from stepless.runtime.access.roles import Role
from stepless.runtime.header_notes import meta_of
from stepless.runtime.headers import version_of
from stepless.runtime.service import Service
from stepless.runtime.verbs.changes.answering import linked
from stepless.runtime.verbs.reads.inspecting import OpenPause, RunView
from stepless.runtime.verbs.reads.limit_waits import LimitWait
from stepless.runtime.verbs.starts.starting import Started, new_run_id, non_entries_of

_TAGS: Final[list[str | Enum]] = ["runs"]
_OF_A_RUN: Final = ("inputs", "outputs", "variables", "error")  # fields that may be too large for a response
_ALL_SHOWN: Final[LeftOut] = {}
_OF_A_NODE: Final = ("inputs", "output", "error", "waiting")


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
        tags=_TAGS,
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
            pauses = _pauses(_linked(request, view.pauses, service), links) if view is not None else ()
            return reply_started(started, None, links, applied, pauses)
        whole: OutcomeOut = {"status": view.status, "outputs": view.outputs, "error": _object(view.error)}
        outcome = bounded(whole, ("outputs", "error"), links.run(started.run_id)["run"])
        return reply_started(started, outcome, links, applied)

    @router.get("/runs/{run_id}", summary="Inspect a run", response_model=RunOut, responses=documented(401, 404), tags=_TAGS)
    def read_run(run_id: str, request: Request) -> Response:
        """Returns the current state of a run, read from its log, with a signed link for each question that it waits for."""
        view = service.overview(run_id)
        view = replace(view, pauses=_linked(request, view.pauses, service))
        return reply(_bounded_run(_run(view, _version(service, view.head), links, service.world.clock.now_ms())))

    @router.get(
        "/runs/{run_id}/document", summary="Read what a run runs", response_model=RunDocumentOut,
        responses=documented(401, 404), tags=_TAGS,
    )  # fmt: skip
    def read_run_document(run_id: str) -> Response:
        """Returns the document of the version that the run started with, whichever is the newest now; of a test run, the draft as
        it was."""
        head = service.head(run_id)
        document = service.world.versions.document(head.workflow_id, head.version)
        return reply({"run_id": run_id, "version": _version(service, head), "hash": head.version, "document": document})

    @router.get(
        "/runs/{run_id}/nodes",
        summary="Inspect a run's nodes",
        response_model=NodesOut,
        responses=documented(400, 401, 404),
        tags=_TAGS,
    )
    def list_nodes(run_id: str, query: Annotated[InstancesQuery, Query()]) -> Response:
        """Returns one record per instance, in the order of first mention, as many as fit into a page."""
        records, more = service.nodes(run_id, after=query.after, limit=query.limit, instance=query.instance)
        url = links.run(run_id)["run"]
        encoded = fitting(records, lambda record: bounded(_node(record), _OF_A_NODE, url))
        more = more or len(encoded) < len(records)
        return page("nodes", encoded, cursor=query.after + len(encoded) if more else None)


    @router.get(
        "/runs/{run_id}/values/{hash}",
        summary="Read a large value of a run",
        responses={
            200: {"content": {"application/json": {"schema": {}}}, "description": "The value"},
            206: {"content": {"application/json": {"schema": {}}}, "description": "The requested bytes, or the first of them"},
            **documented(401, 404, 413, 416),
        },
        tags=_TAGS,
    )
    def read_value(run_id: str, hash: str, request: Request) -> Response:
        """Returns a value that another response named by its hash, as JSON. Read a value above 4 MB in parts, with `Range`."""
        return value_reply(service.value(run_id, hash), request.headers.get("range"))

    @router.get(
        "/runs/{run_id}/tags",
        summary="Inspect a run's tags",
        response_model=TagsOut,
        responses=documented(400, 401, 404),
        tags=_TAGS,
    )
    def list_tags(run_id: str, query: Annotated[NodesQuery, Query()]) -> Response:
        """Returns one row per transition of an instance, in order, for counting."""
        tags = service.run(run_id).tags
        encoded = fitting(tags[query.after : query.after + query.limit], _tag)
        after = query.after + len(encoded)
        return page("tags", encoded, cursor=after if after < len(tags) else None)


# -- starting ---------------------------------------------------------------------------------------------------------


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


# -- one run ----------------------------------------------------------------------------------------------------------


def _version(service: Service, head: RunHead) -> int | None:
    """The version that the run started with. For a run that did not store it, the newest version with the same content."""
    number = version_of(head)
    if number is not None:
        return number
    version = service.world.store.get_version(head.workflow_id, hash=head.version)
    return version.number if version is not None else None


def _run(view: RunView, version: int | None, links: Links, now_ms: int) -> RunOut:
    meta = meta_of(view.head)
    return {
        **run_facts(
            view.head, now_ms, links, version=version, status=view.status, waits=view.waits, summary=view.summary,
            tags=[tag.tag for tag in view.tags if tag.instance is None],
        ),
        **_ALL_SHOWN,
        "inputs": view.inputs,
        "outputs": view.outputs,
        "variables": dict(view.variables),
        "error": _object(view.error),
        "exception": _exception(view.exception),
        "failures": view.failures,
        "non_entries": list(non_entries_of(view.head)),
        "parent": parent_out(meta.get("parent")),
        "rerun": rerun_out(meta.get("rerun")),
        "steps": view.steps,
        "usage": dict(view.usage),
        "sequence": view.sequence,
        "held": _held(view.held),
        "limits": [_limit(limit) for limit in view.limits],
        "pauses": list(_pauses(view.pauses, links)),
        "messages": list(view.messages),
        "unread": [_unread(mail) for mail in view.unread[:MAX_SHOWN_UNREAD]],
        "started_at": instant(view.started_ms),
        "ended_at": instant(view.ended_ms),
        "expires_at": instant(view.head.expires_ms),
    }


def _bounded_run(run: RunOut) -> RunOut:
    """The run in the size of one response: large values are replaced by their descriptions, and pauses that do not fit are left
    out."""
    url = run["links"]["run"]
    pauses = [bounded(pause, ("details",), url, within=MAX_DETAILS_BYTES) for pause in run["pauses"]]
    shown = len(fitting(pauses, lambda pause: pause, within=MAX_PAUSES_BYTES))
    cut: RunOut = {**run, "pauses": pauses[:shown]}
    if shown < len(pauses):
        cut["pauses_left_out"] = len(pauses) - shown
    return bounded(cut, _OF_A_RUN, url)


def _unread(mail: Mail) -> UnreadOut:
    return {"id": mail.id, "name": mail.name, "key": mail.key, "by": mail.by, "at": str(instant(mail.at_ms))}


def _limit(limit: LimitWait) -> LimitOut:
    return {
        "of": limit.of, "key": limit.key or None, "instances": limit.instances, "since": str(instant(limit.since_ms)),
        "until": instant(limit.until_ms), "ahead": limit.ahead,
    }  # fmt: skip


def _held(held: Mapping[str, JSON] | None) -> HeldOut | None:
    return None if held is None else {"by": held["by"], "reason": held["reason"], "at": str(instant(held["at"]))}


def _linked(request: Request, pauses: Iterable[OpenPause], service: Service) -> tuple[OpenPause, ...]:
    """The pauses with the links by which this caller may answer them."""
    if not may(request, Role.APPROVE):
        return tuple(replace(pause, token=None) for pause in pauses)
    decider = decider_of(request.state.caller, request.state.roles)
    return tuple(linked(service.signer, pause, decider, bound=False) for pause in pauses)


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
        "exception": _exception(record.exception),
        "index": record.index,
        "predecessor": record.predecessor,
        "wave": record.wave,
        "depth": record.depth,
        "fork": record.fork,
        "branch": record.branch,
        "path": list(record.path),
        "attempts": record.attempts,
        "started_at": instant(record.started_ms),
        "ended_at": instant(record.ended_ms),
        "usage": dict(record.usage),
        "waiting": _object(record.waiting),
        "calls": [_call(call) for call in record.calls],
        "looped": None if record.looped is None else cast("LoopedOut", record.looped._asdict()),
        "tested": [cast("TestedOut", one._asdict()) for one in record.tested],
    }


def _call(call: Called) -> CallOut:
    at = str(instant(call.at_ms))
    return {"attempt": call.attempt, "at": at, "params": dict(call.params), "previews": dict(call.previews)}


def _exception(raised: Mapping[str, JSON] | None) -> ExceptionOut | None:
    return None if raised is None else cast("ExceptionOut", dict(raised))


def _tag(tag: Tag) -> TagOut:
    at = str(instant(tag.at_ms))
    return {"tag": tag.tag, "instance": tag.instance, "event": tag.sequence, "at": at, "facts": dict(tag.facts)}


def _object(value: Mapping[str, JSON] | None) -> dict[str, JSON] | None:
    return dict(value) if value is not None else None
