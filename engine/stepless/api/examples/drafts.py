"""Gives examples of the routes of drafts for /openapi.json: the draft of one refund."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from stepless.api.links import Links
from stepless.api.routes.drafts.editing import DraftFindingOut, DraftOut, OpenDraftOut
from stepless.api.routes.drafts.running import StartedDraftRunOut

_JSON: Final = "application/json"
_WORKFLOW: Final = "refund-approval"
_HASH: Final = "9f2c6a1d4b7e8035c1a9e64f7d20b853"
_PERSON: Final = "key key_6f1d2a90 ada"
_MANAGER: Final = "block/a81Xc0Lq2M"
_PLACE: Final = {"epoch": 2, "seq": 18}

TEXT: Final = """\
# Refunds. Owner: the payments team
id: refund-approval
nodes:
  order: {type: manual}
  manager:
    type: approval
    after: order
    with: {message: "Refund <order.order_id>?"}   # asked once
"""
_DOCUMENT: Final[dict[str, Any]] = {
    "id": _WORKFLOW, "nodes": {
        "order": {"type": "manual"},
        "manager": {"type": "approval", "after": "order", "with": {"message": "Refund <order.order_id>?"}},
    },
}  # fmt: skip
_WRITE: Final = ["splice", _MANAGER, ["with", "message"], 6, 0, " of"]
_ITEM: Final[dict[str, Any]] = {
    "seq": 18, "client": "b7Qk2", "n": 3, "tag": "5f0c", "by": _PERSON, "at": 1_795_340_000_000,
    "effects": [["set", "doc", ["name"], "Refunds"]],
}  # fmt: skip
_REQUEST: Final[dict[str, Any]] = {
    "epoch": 2, "client": "b7Qk2", "n": 3, "tag": "5f0c", "base": 17,
    "gestures": [{"writes": [["set", "doc", ["name"], "Refunds"]]}],
}  # fmt: skip
_DRAFT: Final[DraftOut] = {
    "workflow": _WORKFLOW, "epoch": 2, "origin": {"version": 3, "hash": _HASH}, "base": {"version": 3, "hash": _HASH},
    "created_at": "2026-11-22T09:30:00.000Z", "created_by": _PERSON,
}  # fmt: skip
_BLOCK: Final = {"id": "order", "type": "manual", "parent": None, "order": "V"}
_OPEN: Final[OpenDraftOut] = {
    **_DRAFT, "seq": 18, "newest": 3, "conflicts": 0,
    "save": {"possible": True, "file": "refund-approval.yaml", "differs": False}, "roles": ["edit", "read", "run"],
    "entities": {"doc": {"id": _WORKFLOW, "name": "Refunds", "nodes": None}, "block/V1mdfhw9N5": _BLOCK},
}  # fmt: skip
_FINDING: Final[DraftFindingOut] = {
    "code": "unknown_reference", "path": "nodes.manager.with.message",
    "message": "<ordr> is not known here (character 8 in 'Refund <ordr.order_id>?')", "mend": "Did you mean <order>?",
    "node": "manager", "edge": None, "severity": "error", "key": _MANAGER, "fix": {
        "label": "Use `order`", "writes": [["splice", _MANAGER, ["with", "message"], 11, 0, "e"]],
        "guards": [[_MANAGER, ["with", "message"], "Refund <ordr.order_id>?"]],
    },
}  # fmt: skip
_OPERATIONS: Final = {**_PLACE, "gestures": [{"writes": [_WRITE]}]}
_DIFF: Final = {
    **_PLACE, "against": {"version": 3}, "document": [{"path": ["name"], "after": "Refunds"}], "nodes": [{
        "change": "changed", "path": ["manager"], "key": _MANAGER,
        "fields": [{"path": ["timeout_ms"], "before": 60_000, "after": 3_600_000}],
    }],
    "lines": [
        {"op": " ", "before": 2, "after": 2, "text": "id: refund-approval"}, {"op": "+", "after": 3, "text": "name: Refunds"},
    ],
}  # fmt: skip
_ENTRY: Final = {
    "from": 17, "to": 18, "at": "2026-11-22T09:30:00.000Z", "until": "2026-11-22T09:31:12.400Z", "by": _PERSON,
    "changes": [{"what": "renamed", "key": _MANAGER, "id": "manager", "former_id": "boss"}],
}  # fmt: skip
_RUN: Final = "run_5c9b3c607606162f02b7"
_STARTED: Final[StartedDraftRunOut] = {
    "run_id": _RUN, "epoch": 2, "seq": 18, "by": _PERSON, "at": "2026-11-22T09:32:00.000Z", "links": Links("").run(_RUN),
}  # fmt: skip
RUN_DOCUMENT: Final = {"run_id": _RUN, "version": 3, "hash": _HASH, "document": _DOCUMENT}
_CONFLICT: Final = {
    "key": _MANAGER, "id": "manager", "path": ["timeout_ms"], "base": 60_000, "draft": 3_600_000, "file": 120_000,
    "from": "version 4",
}  # fmt: skip
_OVER: Final = {
    "run_id": "run_5c9b3c607606162f02b7", "version": 3, "status": "completed", "created_at": "2026-11-22T09:30:00.000Z",
    "whole": True,
}  # fmt: skip
_ORDER: Final = {"type": "object", "properties": {"order_id": {"type": "string", "examples": ["o-12"]}}}
_SCOPE: Final = {
    **_PLACE, "run": _OVER, "env": [],
    "roots": [{
        "name": "order", "what": "node", "detail": "manual", "certain": True, "shape": _ORDER, "key": "block/V1mdfhw9N5",
    }],
    "functions": [{"name": "len", "calls": ["len(x)"], "about": "characters of a text, items of a list, fields of an object"}],
}

_EXPORT: Final[dict[str, Any]] = {
    "version": "1.0", "state": {"edges": [], "blocks": {
        "start": {"id": "start", "type": "start_trigger", "name": "Start", "subBlocks": {}, "enabled": True},
    }},
}  # fmt: skip
_CONVERTED: Final = {
    "document": {"id": "workflow", "on_failure": "halt", "nodes": {"start": {"type": "manual"}}},
    "findings": [],
}

REQUESTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "convert_export": {_JSON: {"tool": "sim", "export": _EXPORT}},
    "open_draft": {_JSON: {"from": "version", "version": 3}},
    "edit_draft": {_JSON: _REQUEST},
    "type_draft_text": {_JSON: {"seq": 18, "text": TEXT}},
    "restore_draft": {_JSON: {"version": 3}},
    "publish_draft": {_JSON: {"seq": 18, "message": "The manager has an hour"}},
    "save_draft": {_JSON: {"seq": 18}},
    "evaluate_draft": {_JSON: {"node": _MANAGER, "text": "Refund <order.order_id>?", "place": "with.message"}},
    "run_draft_now": {_JSON: {"inputs": {"order_id": "A-17"}, "seq": 18, "stop_after": "manager"}},
    "settle_draft_conflict": {_JSON: {"key": _MANAGER, "path": ["timeout_ms"], "take": "file"}},
}
"""Request examples by the name of the route and the media type of the body."""

ANSWERS: Final[Mapping[str, Mapping[str, Any]]] = {
    "convert_export": {_JSON: _CONVERTED},
    "list_drafts": {_JSON: {"drafts": [_DRAFT], "cursor": None}},
    "open_draft": {_JSON: _OPEN},
    "read_draft": {_JSON: _OPEN},
    "discard_draft": {_JSON: {"workflow": _WORKFLOW, "epoch": 2}},
    "edit_draft": {_JSON: {"item": _ITEM}},
    "read_ops": {_JSON: {"items": [_ITEM], "head": 18}},
    "read_draft_document": {_JSON: {**_PLACE, "document": _DOCUMENT}},
    "read_draft_findings": {_JSON: {**_PLACE, "findings": [_FINDING]}},
    "read_draft_text": {_JSON: {**_PLACE, "format": "yaml", "text": TEXT}},
    "type_draft_text": {_JSON: _OPERATIONS},
    "compare_draft": {_JSON: _DIFF},
    "read_draft_history": {_JSON: {"epoch": 2, "entries": [_ENTRY], "next_before": 17}},
    "restore_draft": {_JSON: _OPERATIONS},
    "publish_draft": {_JSON: {"version": 4, "hash": _HASH, "seq": 18, "warnings": []}},
    "save_draft": {_JSON: {"file": "refund-approval.yaml", "hash": _HASH, "seq": 18}},
    "run_draft_now": {_JSON: _STARTED},
    "list_draft_runs": {_JSON: {"runs": [_STARTED]}},
    "read_draft_conflicts": {_JSON: {**_PLACE, "conflicts": [_CONFLICT]}},
    "settle_draft_conflict": {_JSON: _OPERATIONS},
    "evaluate_draft": {_JSON: {**_PLACE, "run": _OVER, "value": "Refund o-12?", "nulls": [], "unread": []}},
    "read_draft_scope": {_JSON: _SCOPE},
}
"""Response examples by the name of the route and the media type of a successful response."""
