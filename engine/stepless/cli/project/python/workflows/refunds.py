"""The refund of an order: a workflow in plain Python, and the step that pays. Publishing compiles `refund` to a graph; nothing of
it is replayed."""

from __future__ import annotations

from pydantic import BaseModel

from stepless.flow import approval, step, workflow


class Order(BaseModel):
    order_id: str
    amount: float


class Receipt(BaseModel):
    refund: str
    amount: float


@step("refunds.pay")
def pay(order_id: str, amount: float) -> Receipt:
    if amount <= 0:
        raise ValueError(f"an order of {amount} cannot be refunded")
    return Receipt(refund=f"R-{order_id}", amount=amount)


@workflow("refund", name="Refund")
async def refund(order: Order) -> dict[str, str]:
    """Refunds an order; a manager approves large ones."""
    if order.amount > 100:
        answer = await approval(f"Refund {order.amount} for {order.order_id}?", timeout="2d")
        if not answer.approved:
            return {"status": "denied"}
    receipt = await pay.with_(retry={"attempts": 3}, timeout_ms=10_000)(order.order_id, order.amount)
    return {"status": "paid", "refund": receipt.refund}
