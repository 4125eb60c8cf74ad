"""Gives examples for /openapi.json: one refund, from publication to end. Every request and every response has one; a route that
documents its own keeps it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from stepless.api.examples import drafts, items, messages, overviews
from stepless.api.links import Links
from stepless.api.replies import damaged
from stepless.api.responses.admin import AuditOut, EraseOut
from stepless.api.responses.general import (
    CancelOut,
    DecisionOut,
    DocumentOut,
    EventOut,
    HeldOut,
    HoldOut,
    KeyOut,
    LeftOut,
    NewKeyOut,
    NodeOut,
    PauseOut,
    Problem,
    PublishedOut,
    QuestionOut,
    RunFacts,
    RunOut,
    StartedOut,
    TagOut,
    VersionOut,
)
from stepless.api.responses.runs import BulkOut, RunHeadOut
from stepless.api.routes.kinds import KindOut
from stepless.api.routes.schedules import ScheduleOut

_JSON: Final = "application/json"
_LINKS: Final = Links("https://flows.example.com")
_RUN: Final = "run_5c9b3c607606162f02b7"
_AGAIN: Final = "run_0d41b7c6f1a3e5920c88"
_WORKFLOW: Final = "refund-approval"
_HASH: Final = "9f2c6a1d4b7e8035c1a9e64f7d20b853"
_KEY: Final = "key_6f1d2a90"
_TOKEN: Final = "k1.eyJydW4iOiJydW5fNWM5YiJ9.q1Zr8mZ0"
_LINK: Final = _LINKS.resume(_TOKEN)
_BEGUN: Final = "2026-11-22T09:30:00.000Z"
_ASKED: Final = "2026-11-22T09:30:00.412Z"
_DECIDED: Final = "2026-11-22T10:05:17.008Z"
_INPUTS: Final = {"order_id": "A-17", "amount": 120}
_DOCUMENT: Final[dict[str, Any]] = {
    "id": _WORKFLOW,
    "name": "Refund approval",
    "nodes": {
        "order": {"type": "manual"},
        "manager": {"type": "approval", "after": "order", "with": {"message": "Refund <order.order_id>?"}},
        "pay": {"type": "function", "after": "manager.approved", "with": {"call": "payments.refund", "args": "<order>"}},
    },
}
_VERSION: Final[VersionOut] = {
    "id": _WORKFLOW, "name": "Refund approval", "version": 3, "hash": _HASH, "published_at": "2026-11-21T16:00:00.000Z",
    "links": _LINKS.workflow(_WORKFLOW, 3),
}  # fmt: skip
_PUBLISHED: Final[PublishedOut] = {**_VERSION, "warnings": []}
_READ: Final[DocumentOut] = {**_VERSION, "document": _DOCUMENT}
_STARTED: Final[StartedOut] = {
    "run_id": _RUN, "workflow": _WORKFLOW, "version": 3, "number": 17, "key": None, "replay": False, "joined": False,
    "outcome": None, "pauses": [], "links": _LINKS.run(_RUN),
}  # fmt: skip
_STARTED_AGAIN: Final[StartedOut] = {**_STARTED, "run_id": _AGAIN, "number": 18, "links": _LINKS.run(_AGAIN)}
_FACTS: Final[RunFacts] = {
    "id": _RUN, "workflow": _WORKFLOW, "version": 3, "number": 17, "key": None, "hash": _HASH, "status": "paused",
    "waiting": ["answer"], "summary": "waiting for an answer", "keywords": ["customer:c-17"], "tags": ["customer:c-17"],
    "draft": None, "created_at": _BEGUN, "duration_ms": 61_204, "links": _LINKS.run(_RUN),
}  # fmt: skip
_ALL_SHOWN: Final[LeftOut] = {}
_HEAD: Final[RunHeadOut] = {
    **_FACTS, **damaged(None), "failed_node": None, "error": None, "usd": None, "updated_at": _ASKED,
    "pauses": [{"pause": "manager", "node": "manager", "reason": "human_input", "message": "Refund A-17?", "since": _ASKED,
                "deadline": None}],
}  # fmt: skip
_PAUSE: Final[PauseOut] = {
    "pause": "manager", "node": "manager", "reason": "human_input", "exits": ["approved", "rejected"],
    "details": {"message": "Refund A-17?"}, "since": _ASKED, "deadline": None, "resume_at": None, "resume": _LINK,
}  # fmt: skip
_HELD: Final[HeldOut] = {"by": "ops@example.com", "reason": "payments are down", "at": "2026-11-22T09:41:00.000Z"}
_INSPECTED: Final[RunOut] = {
    **_FACTS, **_ALL_SHOWN, "waiting": ["held", "answer"], "summary": "held, waiting for an answer", "duration_ms": 720_000,
    "inputs": _INPUTS, "outputs": {}, "variables": {}, "error": None, "exception": None, "failures": 0,
    "non_entries": [], "parent": None, "rerun": None, "steps": 2,
    "usage": {}, "sequence": 6, "held": _HELD, "limits": [], "pauses": [_PAUSE], "messages": [], "unread": [],
    "started_at": _BEGUN, "ended_at": None, "expires_at": None,
}  # fmt: skip
_NODE: Final[NodeOut] = {
    "instance": "pay", "node": "pay", "kind": "function", "label": "pay", "status": "completed", "reason": None, "code": None,
    "inputs": {"input": {"decision": "approved"}}, "output": {"refund": "r-90"}, "error": None, "exception": None,
    "index": 3, "predecessor": "manager", "wave": 2, "depth": 1, "fork": "manager", "branch": 0,
    "path": ["order", "manager", "pay"], "attempts": 1, "started_at": _DECIDED,
    "ended_at": "2026-11-22T10:05:17.310Z", "usage": {}, "waiting": None,
    "calls": [{"attempt": 1, "at": _DECIDED, "params": {"args": {"order": "A-17"}, "call": "payments.refund"}, "previews": {}}],
    "looped": None, "tested": [],
}  # fmt: skip
_TAG: Final[TagOut] = {
    "tag": "node_completed", "instance": "pay", "event": 9, "at": "2026-11-22T10:05:17.310Z",
    "facts": {"duration_ms": 310, "input_tokens": 0, "output_tokens": 0},
}  # fmt: skip
_EVENT: Final[EventOut] = {
    "eventId": 1, "sequence": 1, "type": "run.started", "runId": _RUN, "workflowId": _WORKFLOW, "timestamp": _BEGUN,
    "correlation": {"traceId": _RUN, "parentEventId": None, "wave": 0, "phase": "run"},
    "payload": {"inputs": _INPUTS, "status": "running"},
}  # fmt: skip
_STREAM: Final = 'retry: 1000\n\nid: 1\nevent: run.started\ndata: {"eventId":1,"type":"run.started"}\n\n'
_DECISION: Final[DecisionOut] = {"decision": "approved", "by": "ada@example.com", "at": _DECIDED, "answer": {"comment": "fine"}}
_QUESTION: Final[QuestionOut] = {
    "workflow": "Refund approval", "label": "manager", "message": "Refund A-17?",
    "details": overviews.DETAILS, "asked_by": "Grace Hopper",
    "fields": {"comment": {"type": "string"}}, "exits": ["approved", "rejected"], "deadline": None, "decided": None,
}  # fmt: skip
_CANCELLING: Final[CancelOut] = {"run_id": _RUN, "status": "cancelling", "links": _LINKS.run(_RUN)}
_HOLDING: Final[HoldOut] = {"run_id": _RUN, "status": "holding", "links": _LINKS.run(_RUN)}
_RELEASING: Final[HoldOut] = {**_HOLDING, "status": "releasing"}
_PAUSING: Final[HoldOut] = {**_HOLDING, "status": "pausing"}
_UNPAUSING: Final[HoldOut] = {**_HOLDING, "status": "unpausing"}
_ERASED: Final[EraseOut] = {"run_id": _RUN, "erased": True, "children": [], "reruns": [_AGAIN], "more": False}
_AUDITED: Final[AuditOut] = {
    "id": "audit_9f0c2be41d7a4e58", "at": _BEGUN, "who": f"key {_KEY} shop", "verb": "cancel_run", "target": _RUN,
    "source": "203.0.113.7 curl/8.5.0", "refused": None, "details": {},
}  # fmt: skip
_SWEPT: Final[BulkOut] = {
    "action": "hold", "matched": 2, "done": [_RUN], "changed": [_RUN], "left_out": 0, "cursor": None,
    "refused": [{"run_id": _AGAIN, "code": "run_ended", "message": f"the run {_AGAIN} has ended: completed"}],
}  # fmt: skip
_SCHEDULE: Final[ScheduleOut] = {
    "workflow": _WORKFLOW, "version": 3, "node": "night", "cron": "15 2 * * *", "rate": None, "timezone": "Europe/Berlin",
    "catch_up": "last", "next_at": "2026-11-23T01:15:00.000Z",
    "upcoming": ["2026-11-23T01:15:00.000Z", "2026-11-24T01:15:00.000Z"],
    "clock_changes": [
        {"kind": "skipped", "first": "2027-03-28T02:15", "last": "2027-03-28T02:15", "at": "2027-03-29T00:15:00.000Z"},
        {"kind": "repeated", "first": "2027-10-31T02:15", "last": "2027-10-31T02:15", "at": "2027-10-31T00:15:00.000Z"},
    ],
    "last": {"at": "2026-11-22T01:15:00.000Z", "run_id": _RUN, "code": None}, "paused": None,
    "links": _LINKS.schedule(_WORKFLOW, "night"),
}  # fmt: skip
_SUSPENDED: Final[ScheduleOut] = {
    **_SCHEDULE, "next_at": None, "upcoming": [],
    "paused": {"at": _BEGUN, "by": "ops@example.com", "reason": "payments are down", "ending": False},
}  # fmt: skip
_KEPT: Final[KeyOut] = {
    "id": _KEY, "name": "shop", "roles": ["run"], "created_at": "2026-10-01T08:00:00.000Z", "last_used_at": _BEGUN,
    "former_until": None,
}  # fmt: skip
_NEW: Final[NewKeyOut] = {**_KEPT, "last_used_at": None, "secret": "sk_2f0c9be41d7a4e58"}
_END_KIND: Final[KindOut] = {
    "name": "end", "summary": "ends the run", "nature": "pure", "pure": True, "exits": [], "container": False,
    "schema": {"type": "object", "properties": {}}, "parts": {}, "settings": ["label"],
}  # fmt: skip
_PAGE: Final = "<!doctype html><html lang=\"en\"><title>Refund approval</title></html>"

REQUESTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "publish_workflow": {_JSON: _DOCUMENT, "application/yaml": _DOCUMENT},
    "start_run": {_JSON: {"inputs": _INPUTS, "keywords": ["customer:c-17"]}},
    "cancel_run": {_JSON: {"by": "ada@example.com", "reason": "refunded by hand"}},
    "hold_run": {_JSON: {"by": "ops@example.com", "reason": "payments are down"}},
    "release_run": {_JSON: {"by": "ops@example.com"}},
    "pause_run": {_JSON: {"by": "ops@example.com", "reason": "payments are down"}},
    "unpause_run": {_JSON: {"by": "ops@example.com"}},
    "rerun_run": {_JSON: {"from": "pay"}},
    "pause_schedule": {_JSON: {"by": "ops@example.com", "reason": "payments are down"}},
    "resume_schedule": {_JSON: {"by": "ops@example.com"}},
    "fire_schedule": {_JSON: {"by": "ops@example.com"}},
    "change_runs": {_JSON: {"action": "hold", "filter": {"workflow": _WORKFLOW}, "reason": "payments are down"}},
    "make_key": {_JSON: {"name": "shop", "roles": ["run"]}},
    "open_console": {_JSON: {"code": "Vb2k0QmXo1LJ"}},
    "answer_pause": {_JSON: {"decision": "approved", "answer": {"comment": "fine"}, "comment": "as agreed"}},
    "decide": {
        _JSON: {"decision": "approved", "answer": {"comment": "fine"}, "by": "ada@example.com"},
        "application/x-www-form-urlencoded": {"decision": "approved", "answer.comment": "fine", "by": "ada@example.com"},
    },
    **drafts.REQUESTS,
    **items.REQUESTS,
    **messages.REQUESTS,
    **{f"trigger_{method}": {_JSON: _INPUTS} for method in ("post", "put", "patch", "delete")},
}
"""Request examples by the name of the route and the media type of the body."""

_SESSION: Final = {
    "id": "session_0c91f2a4b7d3", "person": "Ada", "guest": True, "own": False, "began_at": "2026-11-22T09:30:00.000Z",
    "ends_at": "2026-11-29T09:30:00.000Z",
}
ANSWERS: Final[Mapping[str, Mapping[str, Any]]] = {
    "publish_workflow": {_JSON: _PUBLISHED},
    "list_workflows": {_JSON: {"workflows": [_VERSION], "cursor": None}},
    "read_workflow": {_JSON: _READ},
    "read_version": {_JSON: _READ, "application/yaml": drafts.TEXT},
    "start_run": {_JSON: _STARTED},
    "list_runs": {_JSON: {"runs": [_HEAD], "cursor": None}},
    "read_run": {_JSON: _INSPECTED},
    "read_run_document": {_JSON: drafts.RUN_DOCUMENT},
    "read_value": {_JSON: {"rows": [1, 2, 3]}},
    "list_nodes": {_JSON: {"nodes": [_NODE], "cursor": None}},
    "list_tags": {_JSON: {"tags": [_TAG], "cursor": None}},
    "replay_events": {_JSON: {"events": [_EVENT], "cursor": 1, "ended": False}, "text/event-stream": _STREAM},
    "cancel_run": {_JSON: _CANCELLING},
    "hold_run": {_JSON: _HOLDING},
    "release_run": {_JSON: _RELEASING},
    "pause_run": {_JSON: _PAUSING},
    "unpause_run": {_JSON: _UNPAUSING},
    "rerun_run": {_JSON: _STARTED_AGAIN},
    "erase_run": {_JSON: _ERASED},
    "change_runs": {_JSON: _SWEPT},
    "read_caller": {_JSON: {"caller": "jwt 8f3a ada", "roles": ["read", "run"], "ends_at": "2026-09-01T13:00:00.000Z"}},
    "list_audit": {_JSON: {"entries": [_AUDITED], "cursor": None}},
    "list_schedules": {_JSON: {"schedules": [_SCHEDULE], "cursor": None}},
    "read_schedules": {_JSON: {"schedules": [_SCHEDULE], "cursor": None}},
    "pause_schedule": {_JSON: _SUSPENDED},
    "resume_schedule": {_JSON: {**_SCHEDULE, "started": [_AGAIN]}},
    "fire_schedule": {_JSON: _STARTED_AGAIN},
    "list_approvals": {_JSON: overviews.APPROVALS},
    "list_decisions": {_JSON: {"decisions": [overviews.DECISION], "cursor": None}},
    "list_errors": {_JSON: overviews.ERRORS},
    "read_stats": {_JSON: overviews.STATS},
    "list_stats": {_JSON: overviews.ALL_STATS},
    "list_versions": {_JSON: overviews.VERSIONS},
    "compare_versions": {_JSON: overviews.VERSIONS_DIFF},
    "list_keys": {_JSON: {"keys": [_KEPT]}},
    "make_key": {_JSON: _NEW},
    "rotate_key": {_JSON: {**_NEW, "former_until": "2026-11-23T09:30:00.000Z"}},
    "remove_key": {_JSON: {"keys": []}},
    "enter_draft": {_JSON: {"ticket": "eyJ3IjoicmVmdW5kIn0.q1Zr8mZ0"}},
    "open_console": {_JSON: {"token": "slk_2f0c9be41d7a4e58"}},
    "list_sessions": {_JSON: {"sessions": [_SESSION]}},
    "end_session": {_JSON: {"sessions": [_SESSION]}},
    "read_console_settings": {_JSON: {
        "login": {
            "issuer": "https://login.example.com", "client_id": "5r0k2", "audiences": ["5r0k2"], "scope": "openid email",
            "authorize": "https://login.example.com/authorize", "token": "https://login.example.com/token",
            "end_session": "https://login.example.com/logout",
        },
        "drafts": True,
        "invitations": False,
        "socket": "wss://a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com/live",
    }},
    "list_kinds": {_JSON: {
        "kinds": [_END_KIND], "node": {"type": "object", "properties": {"label": {"type": "string"}}},
        "workflow": {"type": "object", "properties": {"numbered": {"type": "boolean", "default": False}}},
    }},
    "show_question_get": {_JSON: _QUESTION, "text/html": _PAGE},
    "decide": {_JSON: _DECISION, "text/html": _PAGE},
    "answer_pause": {_JSON: _DECISION},
    "health": {_JSON: {"status": "ok"}},
    "skip_time": {_JSON: {"run_id": _RUN, "skipped_ms": 3_600_000, "links": _LINKS.run(_RUN)}},
    "redeliver_run": {_JSON: _STARTED_AGAIN},
    **drafts.ANSWERS,
    **items.ANSWERS,
    **messages.ANSWERS,
    **{f"trigger_{method}": {_JSON: _STARTED} for method in ("get", "post", "put", "patch", "delete")},
}
"""Response examples by the name of the route and the media type of a successful response."""

PARAMETERS: Final[Mapping[str, Any]] = {
    "session_id": "session_0c91f2a4b7d3",
    "pause": "manager",
    "workflow_id": _WORKFLOW, "run_id": _RUN, "number": 3, "key_id": _KEY, "token": _TOKEN, "path": "refunds", "limit": 50,
    "workflow": _WORKFLOW, "status": "paused", "since": "2026-11-22T00:00:00Z", "tag": ["customer:c-17"], "after": 50,
    "hash": _HASH, "node": "night", "afterEventId": "41", "Last-Event-ID": "41", "epoch": 2, "seq": 18,
    "from": 13, "to": 14,
}  # fmt: skip

_OWN_PARAMETERS: Final[Mapping[tuple[str, str], Any]] = {
    ("list_timeline", "status"): "failed",  # of a node, not of a run
    ("read_draft_scope", "node"): "block/a81Xc0Lq2M",
    **items.PARAMETERS,
    **messages.PARAMETERS,
}

_PROBLEMS: Final[Mapping[str, tuple[str, str]]] = {
    "400": ("invalid_json", "the body is not JSON: a comma is missing"),
    "401": ("unauthorized", "this request needs a valid API key"),
    "403": ("role_missing", "this request needs the role run"),
    "404": ("unknown_run", f"there is no run {_RUN}"),
    "405": ("method_not_allowed", "this path does not take GET"),
    "409": ("run_ended", f"the run {_RUN} has ended: completed"),
    "410": ("token_expired", "this link has expired"),
    "413": ("body_too_large", "the body has more than 256,000 bytes"),
    "416": ("invalid_range", "the value has 5,000,000 bytes"),
    "415": ("unsupported_media_type", "the media type text/plain is not supported here"),
    "422": ("invalid_request", "the body does not fit: input: Extra inputs are not permitted"),
    "429": ("rate_limited", f"{_WORKFLOW} may be started 10 times per 1 s"),
    "503": ("store_unavailable", "the store is out of reach"),
    "default": ("internal_error", "an internal error occurred; the request is not the cause"),
}


def problem_example(status: str) -> Problem:
    code, detail = _PROBLEMS[status]
    number = 500 if status == "default" else int(status)
    title = code.replace("_", " ").capitalize()
    return {"type": f"urn:stepless:problem:{code}", "title": title, "status": number, "detail": detail, "code": code}


def add_examples(document: dict[str, Any]) -> None:
    """Adds an example to every request and response that has none yet."""
    for operation in _operations(document):
        name = operation["operationId"]
        for parameter in operation.get("parameters", ()):
            own = _OWN_PARAMETERS.get((name, parameter["name"]), PARAMETERS.get(parameter["name"]))
            if own is not None:
                parameter.setdefault("example", own)
        _fill(operation.get("requestBody", {}), REQUESTS.get(name, {}))
        for status, response in operation["responses"].items():
            known: Mapping[str, Any] = ANSWERS.get(name, {}) if status.startswith("2") else {}
            if status in _PROBLEMS:
                known = {"application/problem+json": problem_example(status), "text/html": _PAGE}
            _fill(response, known)


def _operations(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    return (operation for methods in document["paths"].values() for operation in methods.values())


def _fill(described: Mapping[str, Any], examples: Mapping[str, Any]) -> None:
    for kind, content in described.get("content", {}).items():
        if kind in examples and "examples" not in content:
            content.setdefault("example", examples[kind])
