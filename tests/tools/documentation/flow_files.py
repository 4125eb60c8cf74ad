"""Workflows in Python as files: one that is sound, and one with faults."""

from __future__ import annotations

REFUND = '''\
"""Refunds."""

from __future__ import annotations

from pydantic import BaseModel

from stepless.flow import NodeError, approval, step, workflow


class Order(BaseModel):
    id: str
    amount: float


class Receipt(BaseModel):
    number: str


class CardDeclined(NodeError):
    pass


@step("MODULE.pay")
async def pay(order_id: str) -> Receipt:
    if order_id == "bad":
        raise CardDeclined("the card was declined")
    return Receipt(number=f"R-{order_id}")


@workflow("MODULE")
async def refund(order: Order) -> dict[str, str]:
    """Refunds an order."""
    if order.amount > 100:
        answer = await approval(f"Refund {order.id}?", timeout="1d")
        if not answer.approved:
            return {"status": "denied"}
    receipt = await pay(
        order.id,
    )
    return {"status": "paid", "receipt": receipt.number}
'''
PAY_LINE = 1 + REFUND.splitlines().index("    receipt = await pay(")
BROKEN = '''\
from stepless.flow import step, workflow


@step("MODULE.grow")
async def grow(x: int) -> int:
    return x


@workflow("MODULE")
async def broken(x: int) -> int:
    async with open("x"):
        pass
    grow(x)
    if x > 1:
        y = await grow(x)
    return await x


@workflow("MODULE-2")
async def worse(x: int) -> int:
    return await grow(x, y=1)
'''


def of(text: str, module: str) -> str:
    """The text of a module: what it registers is named like the module, so that tests do not meet."""
    return text.replace('workflow("MODULE', f'workflow("{module.replace("_", "-")}').replace("MODULE", module)
