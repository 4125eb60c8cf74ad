"""Serves the routes that read one run: its state, its document, its nodes, its values and its tags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import Enum
from typing import Annotated, Final, cast

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from stepless.api.bounded_values import bounded
from stepless.api.guards.auth import may
from stepless.api.links import Links
from stepless.api.problems import documented
from stepless.api.replies import fitting, instant, page, parent_out, reply, rerun_out, run_facts, value_reply
from stepless.api.requests import InstancesQuery, NodesQuery
from stepless.api.responses.evaluated_conditions import LoopedOut, TestedOut
from stepless.api.responses.general import (
    CallOut,
    ExceptionOut,
    HeldOut,
    LeftOut,
    LimitOut,
    NodeOut,
    NodesOut,
    PauseOut,
    RunOut,
    TagOut,
    TagsOut,
)
from stepless.api.responses.messages import UnreadOut
from stepless.api.responses.runs import RunDocumentOut
from stepless.core.history.call_parameters import Called
from stepless.core.history.tags import Tag
from stepless.core.history.trace import NodeRecord
from stepless.core.mailbox import Mail
from stepless.limits import MAX_DETAILS_BYTES, MAX_PAUSES_BYTES, MAX_SHOWN_UNREAD
from stepless.model.json import JSON
from stepless.ports import RunHead
from stepless.runtime.access.deciders import decider_of
from stepless.runtime.access.roles import Role
from stepless.runtime.header_notes import meta_of
from stepless.runtime.headers import version_of
from stepless.runtime.service import Service
from stepless.runtime.verbs.changes.answering import linked
from stepless.runtime.verbs.reads.inspecting import OpenPause, RunView
from stepless.runtime.verbs.reads.limit_waits import LimitWait
from stepless.runtime.verbs.starts.starting import non_entries_of

_TAGS: Final[list[str | Enum]] = ["runs"]
_OF_A_RUN: Final = ("inputs", "outputs", "variables", "error")  # fields that may be too large for a response
_ALL_SHOWN: Final[LeftOut] = {}
_OF_A_NODE: Final = ("inputs", "output", "error", "waiting")


def add_routes(router: APIRouter, service: Service, links: Links) -> None:
    @router.get("/runs/{run_id}", summary="Inspect a run", response_model=RunOut, responses=documented(401, 404), tags=_TAGS)
    def read_run(run_id: str, request: Request) -> Response:
        """Returns the current state of a run, read from its log, with a signed link for each question that it waits for."""
        view = service.overview(run_id)
        view = replace(view, pauses=linked_pauses(request, view.pauses, service))
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
        "error": object_or_none(view.error),
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
        "pauses": list(shown_pauses(view.pauses, links)),
        "messages": list(view.messages),
        "unread": [_unread(mail) for mail in view.unread],
        "started_at": instant(view.started_ms),
        "ended_at": instant(view.ended_ms),
        "expires_at": instant(view.head.expires_ms),
    }


def _bounded_run(run: RunOut) -> RunOut:
    """The run in the size of one response: large values are replaced by their descriptions; pauses and unread messages that do
    not fit are left out."""
    url = run["links"]["run"]
    pauses = [bounded(pause, ("details",), url, within=MAX_DETAILS_BYTES) for pause in run["pauses"]]
    shown = len(fitting(pauses, lambda pause: pause, within=MAX_PAUSES_BYTES))
    cut: RunOut = {**run, "pauses": pauses[:shown], "unread": run["unread"][:MAX_SHOWN_UNREAD]}
    if shown < len(pauses):
        cut["pauses_left_out"] = len(pauses) - shown
    if len(run["unread"]) > MAX_SHOWN_UNREAD:
        cut["unread_left_out"] = len(run["unread"]) - MAX_SHOWN_UNREAD
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


def linked_pauses(request: Request, pauses: Iterable[OpenPause], service: Service) -> tuple[OpenPause, ...]:
    """The pauses with the links by which this caller may answer them."""
    if not may(request, Role.APPROVE):
        return tuple(replace(pause, token=None) for pause in pauses)
    decider = decider_of(request.state.caller, request.state.roles)
    return tuple(linked(service.signer, pause, decider, bound=False) for pause in pauses)


def shown_pauses(pauses: Iterable[OpenPause], links: Links) -> Iterable[PauseOut]:
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
        "error": object_or_none(record.error),
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
        "waiting": object_or_none(record.waiting),
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


def object_or_none(value: Mapping[str, JSON] | None) -> dict[str, JSON] | None:
    return dict(value) if value is not None else None
