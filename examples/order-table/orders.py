"""Checks one order of a table."""

from __future__ import annotations

from stepless import NodeFailure, function


@function("orders.check")
def check(order: dict[str, str]) -> float:
    """Returns the amount of an order. An order without a quantity fails."""
    if not order["quantity"]:
        raise NodeFailure("execution", "no_quantity", f"the order {order['id']} has no quantity", retryable=False)
    return int(order["quantity"]) * float(order["price"])
