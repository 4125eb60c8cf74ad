"""Gives examples for /openapi.json: the items of a node that checks orders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_JSON: Final = "application/json"
_ERROR: Final = {"code": "http_error", "message": "the shop answered 404"}
_ITEMS: Final = {
    "status": "running", "stopped": None, "total": 100_000, "completed": 41_200, "failed": 412,
    "shards": {"total": 1_000, "ended": 400, "running": 50}, "more": False, "concurrency": 1_000,
    "tolerate": {"percent": 1}, "started_at": "2026-11-22T09:30:00.000Z", "spent_ms": 42_000, "per_second": 990.762,
    "left_ms": 58_933, "codes": {"http_error": 412},
    "failures": [{"index": 17, "error": _ERROR, "item": {"order": "A-17"}}],
}  # fmt: skip
_ITEM: Final = {"index": 17, "shard": 0, "status": "failed", "item": {"order": "A-17"}, "result": None, "error": _ERROR}
_ROUTES: Final = ("read_items", "read_item", "change_items")

REQUESTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "change_items": {_JSON: {"concurrency": 50, "tolerate": {"percent": 2}}},
}  # fmt: skip
ANSWERS: Final[Mapping[str, Mapping[str, Any]]] = {
    "read_items": {_JSON: _ITEMS}, "read_item": {_JSON: _ITEM}, "change_items": {_JSON: _ITEMS},
}  # fmt: skip
PARAMETERS: Final[Mapping[tuple[str, str], Any]] = {
    **{(route, "instance"): "each" for route in _ROUTES}, ("read_item", "index"): 17,
}  # fmt: skip
