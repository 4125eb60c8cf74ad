"""The functions of the refund workflow. They replace three services, so the example needs no network."""

from __future__ import annotations

import hashlib
import os
from typing import Any

from stepless import FunctionCall, function

RISK_PER_REFUND = 0.15
RISK_PER_UNIT = 0.0005
JOURNAL = "REFUND_JOURNAL"  # names a file to which every call adds a line, so that another process can count the calls


@function("risk.score")
def score(amount: float, call: FunctionCall, past_refunds: int | None = None) -> dict[str, float]:
    """From 0 (no risk) to 1 (highest risk). Raises ValueError for an amount that cannot have been paid."""
    _note("risk.score", call)
    if amount <= 0:
        raise ValueError(f"an order of {amount} cannot be refunded")
    return {"risk": round(min(1.0, RISK_PER_UNIT * amount + RISK_PER_REFUND * (past_refunds or 0)), 3)}


@function("payments.refund")
def refund(order_id: str, amount: float, call: FunctionCall) -> dict[str, Any]:
    """Returns the same refund if it is called again: `call.token` is the same in all attempts."""
    _note("payments.refund", call)
    number = hashlib.sha256(call.token.encode()).hexdigest()[:8]
    call.log(f"refunding {amount} for {order_id}")
    return {"refund": f"R-{number}", "order_id": order_id, "amount": amount}


@function("ops.alert")
def alert(error: dict[str, Any], call: FunctionCall) -> dict[str, bool]:
    _note("ops.alert", call)
    call.log(f"the risk score is not available: {error.get('message')}")
    return {"alerted": True}


def _note(name: str, call: FunctionCall) -> None:
    path = os.environ.get(JOURNAL)
    if path:
        with open(path, "a", encoding="utf-8") as journal:
            journal.write(f"{name} {call.token}\n")
