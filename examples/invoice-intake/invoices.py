"""Reads and books invoices, and moderates what is read. Stands in for a model and a ledger: no network."""

from __future__ import annotations

import json
import re
from typing import Any

from stepless import FunctionCall, function

ORDERS_TO_READERS = re.compile(r"ignore (all|any|previous)|you are now", re.IGNORECASE)
_FIELDS = {"number": r"Invoice\s+([A-Z]+-\d+)", "total": r"Total\s+([\d.]+)", "currency": r"Total\s+[\d.]+\s+([A-Z]{3})"}


@function("invoices.moderate")
def moderate(phase: str, value: Any) -> str | None:
    """The moderator: a reason why a value must not pass, or nothing."""
    return "it gives orders to whoever reads it" if ORDERS_TO_READERS.search(json.dumps(value)) else None


@function("invoices.read")
def read(text: str, call: FunctionCall) -> dict[str, Any]:
    """What the text says. Answers `null` for what it does not say; the contract decides whether that will do."""
    found = {name: re.search(pattern, text) for name, pattern in _FIELDS.items()}
    told: dict[str, Any] = {name: match[1] if match else None for name, match in found.items()}
    return {**told, "total": float(told["total"]) if told["total"] else None}


@function("invoices.book")
def book(invoice: dict[str, Any], call: FunctionCall) -> dict[str, Any]:
    return {"booked": invoice["number"], "entry": call.token.rpartition(":")[0]}
