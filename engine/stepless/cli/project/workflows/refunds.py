"""The functions that the workflows of this folder call. Every attempt of a call has the same `call.token`: send it along, so that
the payment provider can distinguish a repetition from a second refund."""

from __future__ import annotations

from stepless import FunctionCall, function


@function("refunds.pay")
def pay(order_id: str, amount: float, call: FunctionCall) -> dict[str, object]:
    if amount <= 0:
        raise ValueError(f"an order of {amount} cannot be refunded")
    call.log(f"refunding {amount} for {order_id}")
    return {"refund": f"R-{order_id}", "amount": amount}
