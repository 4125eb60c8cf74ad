"""A warehouse that takes a moment to answer. It replaces a service, so the example needs no network."""

from __future__ import annotations

import asyncio

from stepless import FunctionCall, NodeFailure, function

ANSWERS_AFTER_S = 0.05
busiest = 0  # the largest number of concurrent calls
_under_way = 0


@function("stock.reserve")
async def reserve(sku: str, quantity: int, call: FunctionCall) -> dict[str, str | int]:
    """Reserves once, even if it is called again: `call.token` names the reservation."""
    global busiest, _under_way  # noqa: PLW0603 - there is one warehouse
    _under_way += 1
    busiest = max(busiest, _under_way)
    try:
        await asyncio.sleep(ANSWERS_AFTER_S)
    finally:
        _under_way -= 1
    if quantity > 100:
        raise NodeFailure("execution", "out_of_stock", f"there are no {quantity} of {sku}", retryable=False)
    return {"reservation": call.token.partition(":")[2], "sku": sku, "quantity": quantity}
