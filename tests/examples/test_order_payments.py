from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ORDER = {"id": "A-17", "amount": 4_200}
PAID = {"payment": "pi_1", "amount": 4_200}


@pytest.fixture
def order(example: Any, workflow: Any) -> Any:
    example("order-payments", "shop")
    return workflow(EXAMPLES / "order-payments" / "workflow.yaml").env(STRIPE_SECRET="s" * 8)


def test_a_payment_ships_the_order_without_a_reminder(order: Any) -> None:
    result = order.send("payment", PAID, at="2d").run(ORDER).assert_completed().assert_ran("ship")
    result.assert_not_run("remind", "release")


def test_a_customer_who_does_not_pay_is_reminded_and_may_pay_then(order: Any) -> None:
    result = order.send("payment", PAID, at="5d").run(ORDER).assert_completed()
    result.assert_ran("remind").assert_ran("ship").assert_not_run("release")


def test_a_payment_that_is_too_small_ships_nothing(order: Any) -> None:
    result = order.send("payment", {**PAID, "amount": 100}, at="1d").run(ORDER).assert_completed()
    result.assert_ran("remind").assert_ran("release").assert_not_run("ship")


@pytest.mark.parametrize("at", ["1d", "5d"])
def test_a_customer_may_cancel_at_any_time(order: Any, at: str) -> None:
    result = order.send("cancelled", at=at).run(ORDER)
    assert result.status == "cancelled"
    result.assert_not_run("ship", "release")
