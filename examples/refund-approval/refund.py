"""What the refund workflow calls. Stands in for three services, so that the example runs without a network."""

from __future__ import annotations

import hashlib
import os
from typing import Any

from stepless import FunctionCall, function

RISK_PER_REFUND = 0.15
RISK_PER_UNIT = 0.0005
JOURNAL = "REFUND_JOURNAL"  # names a file: every call adds a line, so that calls can be counted from outside


@function("risk.score")
def score(amount: float, call: FunctionCall, past_refunds: int | None = None) -> dict[str, float]:
    """0 is harmless, 1 is as bad as it gets. Raises ValueError for an amount that nobody can have paid."""
    _note("risk.score", call)
    if amount <= 0:
        raise ValueError(f"an order of {amount} cannot be refunded")
    return {"risk": round(min(1.0, RISK_PER_UNIT * amount + RISK_PER_REFUND * (past_refunds or 0)), 3)}


@function("payments.refund")
def refund(order_id: str, amount: float, call: FunctionCall) -> dict[str, Any]:
    """Answers the same refund however often it is asked for it: `call.token` stays the same through all attempts."""
    _note("payments.refund", call)
    number = hashlib.sha256(call.token.encode()).hexdigest()[:8]
    call.log(f"refunding {amount} for {order_id}")
    return {"refund": f"R-{number}", "order_id": order_id, "amount": amount}


@function("ops.alert")
def alert(error: dict[str, Any], call: FunctionCall) -> dict[str, bool]:
    _note("ops.alert", call)
    call.log(f"the risk score is not to be had: {error.get('message')}")
    return {"alerted": True}


def _note(name: str, call: FunctionCall) -> None:
    path = os.environ.get(JOURNAL)
    if path:
        with open(path, "a", encoding="utf-8") as journal:
            journal.write(f"{name} {call.token}\n")
