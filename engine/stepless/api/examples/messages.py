"""Gives examples for /openapi.json: a message for the run of an order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from stepless.api.links import Links
from stepless.api.responses.messages import DeliveredOut, KeyRunsOut

_JSON: Final = "application/json"
_RUN: Final = "run_5c9b3c607606162f02b7"
_DATA: Final = {"amount": 120}
_DELIVERED: Final[DeliveredOut] = {"id": "evt_5c9b", "delivered": [_RUN], "kept_until": None, "started": None}
_OF_KEY: Final[KeyRunsOut] = {
    "key": "A-17", "live": _RUN,
    "runs": [{
        "run_id": _RUN, "status": "paused", "created_at": "2026-11-22T09:30:00.000Z",
        "links": Links("https://flows.example.com").run(_RUN),
    }],
}  # fmt: skip

REQUESTS: Final[Mapping[str, Mapping[str, Any]]] = {"send_message": {_JSON: _DATA}, "send_to_run": {_JSON: _DATA}}
ANSWERS: Final[Mapping[str, Mapping[str, Any]]] = {
    "send_message": {_JSON: _DELIVERED}, "send_to_run": {_JSON: _DELIVERED}, "read_key": {_JSON: _OF_KEY},
}  # fmt: skip
PARAMETERS: Final[Mapping[tuple[str, str], Any]] = {
    **{(route, "name"): "payment" for route in ("send_message", "send_to_run")},
    **{(route, "key"): "A-17" for route in ("send_message", "read_key")},
    ("send_message", "keep"): "1h", ("send_message", "start"): False, ("send_message", "inputs"): '{"id": "A-17"}',
}  # fmt: skip
