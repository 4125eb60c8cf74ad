"""Reads and books invoices, and moderates their text. It replaces a model and a ledger, so the example needs no network."""

from __future__ import annotations

import json
import re
from typing import Any

from stepless import FunctionCall, function

ORDERS_TO_READERS = re.compile(r"ignore (all|any|previous)|you are now", re.IGNORECASE)
_FIELDS = {"number": r"Invoice\s+([A-Z]+-\d+)", "total": r"Total\s+([\d.]+)", "currency": r"Total\s+[\d.]+\s+([A-Z]{3})"}


@function("invoices.moderate")
def moderate(phase: str, value: Any) -> str | None:
    """The moderator: the reason to refuse a value, or None."""
    return "it gives instructions to its reader" if ORDERS_TO_READERS.search(json.dumps(value)) else None


@function("invoices.read")
def read(text: str, call: FunctionCall) -> dict[str, Any]:
    """Extracts the fields from the text. A missing field is null; the contract decides whether that is valid."""
    found = {name: re.search(pattern, text) for name, pattern in _FIELDS.items()}
    values: dict[str, Any] = {name: match[1] if match else None for name, match in found.items()}
    return {**values, "total": float(values["total"]) if values["total"] else None}


@function("invoices.book")
def book(invoice: dict[str, Any], call: FunctionCall) -> dict[str, Any]:
    return {"booked": invoice["number"], "entry": call.token.rpartition(":")[0]}
