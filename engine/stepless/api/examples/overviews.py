"""Gives examples for /openapi.json: the questions, failures and health of the refund of `api/examples/refund.py`."""

from __future__ import annotations

from typing import Final

from stepless.api.responses.details import DetailOut
from stepless.api.responses.overviews import (
    AllStatsOut,
    ApprovalOut,
    ApprovalsOut,
    ErrorGroupOut,
    ErrorsOut,
    MadeDecisionOut,
    StatsOut,
)
from stepless.api.routes.overviews.versions import VersionsDiffOut, VersionsOut

_RUN: Final = "run_5c9b3c607606162f02b7"
_AT: Final = "2026-11-22T09:30:00.412Z"
_LATER: Final = "2026-11-22T10:05:17.008Z"

DETAILS: Final[list[DetailOut]] = [
    {"label": "Amount", "format": "amount", "value": "120.5", "text": "120.50 EUR", "currency": "EUR", "link": None,
     "blocks": []},
]  # fmt: skip
_APPROVAL: Final[ApprovalOut] = {
    "run_id": _RUN, "workflow": "refund-approval", "name": "Refund approval", "version": 3, "pause": "manager",
    "node": "manager", "message": "Refund A-17?", "details": DETAILS, "asked_by": "Grace Hopper",
    "fields": {"amount": {"type": "integer", "minimum": 1}}, "exits": ["approved", "rejected"],
    "approvers": ["ada@example.com"], "since": _AT, "deadline": "2026-11-24T09:30:00.412Z",
    "resume": "https://flows.example.com/resume/k1.eyJydW4iOiJydW5fNWM5YiJ9.q1Zr8mZ0",
    "run": f"https://flows.example.com/runs/{_RUN}",
}  # fmt: skip
APPROVALS: Final[ApprovalsOut] = {
    "approvals": [_APPROVAL], "count": 1, "at_least": False, "left_out": 0, "cursor": None,
    "deciding_as": "ada@example.com", "unreadable": [],
}  # fmt: skip
DECISION: Final[MadeDecisionOut] = {
    "run_id": _RUN, "workflow": "refund-approval", "pause": "manager", "decision": "approved", "by": "ada@example.com",
    "comment": "within policy", "at": _LATER,
}  # fmt: skip
_GROUP: Final[ErrorGroupOut] = {
    "fingerprint": "6b1f0a9c2d7e4835", "workflow": "refund-approval", "status": "failed", "node": "pay", "code": "provider_error",
    "message": "… from payments for order …", "example": "503 from payments for order A-17", "count": 2,
    "runs": [_RUN, "run_0d41b7c6f1a3e5920c88"], "versions": [2, 3], "first_at": _AT, "last_at": _LATER,
    "bars": [*[0] * 22, 1, 1],
}  # fmt: skip
ERRORS: Final[ErrorsOut] = {
    "errors": [_GROUP], "group_count": 1, "count": 2, "at_least": False, "unsure": False, "since": "2026-11-15T10:06:00.000Z",
    "until": "2026-11-22T10:06:00.000Z",
}  # fmt: skip
STATS: Final[StatsOut] = {
    "workflow": "refund-approval", "since": "2026-11-21T10:06:00.000Z", "until": "2026-11-22T10:06:00.000Z", "runs": 412,
    "at_least": False, "statuses": {"completed": 400, "failed": 8, "paused": 4}, "failure_rate": 0.0196, "p50_ms": 1_240,
    "p95_ms": 61_204, "usd": 0.0041, "bars": [*[17] * 20, 18, 18, 18, 18], "failed_bars": [*[0] * 20, 0, 5, 3, 0],
    "next_at": "2026-11-23T01:15:00.000Z",
}  # fmt: skip
ALL_STATS: Final[AllStatsOut] = {
    "workflows": [{
        **STATS, "name": "Refund approval", "version": 14, "published_at": _AT, "starts": ["schedule", "webhook"], "schedules": 1,
        "paused_schedules": 0,
    }],
    "cursor": None,
}  # fmt: skip
VERSIONS: Final[VersionsOut] = {
    "versions": [{
        "version": 14, "hash": "5f0c91e7a2d84b36", "published_at": _AT, "by": "jwt 8f3a ada@example.com",
        "message": "Ask the manager above 500",
    }],
    "next_before": 14,
}  # fmt: skip
VERSIONS_DIFF: Final[VersionsDiffOut] = {
    "against": {"version": 13},
    "nodes": [{
        "change": "changed", "path": ["manager"], "key": "block/b4f1QxZc07a",
        "fields": [{"path": ["with", "timeout"], "before": "1d", "after": "2d"}],
    }],
    "document": [],
    "lines": [
        {"op": "…", "text": ""}, {"op": "-", "before": 12, "text": "      timeout: 1d"},
        {"op": "+", "after": 12, "text": "      timeout: 2d"},
    ],
}  # fmt: skip
