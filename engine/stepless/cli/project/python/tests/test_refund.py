"""The workflow as a function, and as the document that runs: `assert_same` compares them. Days pass in milliseconds."""

from __future__ import annotations

import asyncio

from refunds import Order, refund

from stepless.flow import acting
from stepless.testing import assert_same

LARGE = {"order_id": "A-1", "amount": 400}


def test_it_is_a_function() -> None:
    with acting(approval=lambda message: False):
        assert asyncio.run(refund(Order(order_id="A-1", amount=400))) == {"status": "denied"}  # type: ignore[arg-type]


def test_a_small_refund_is_paid_at_once() -> None:
    assert assert_same(refund, {"order_id": "A-1", "amount": 40}) == {"status": "paid", "refund": "R-A-1"}


def test_a_large_refund_is_paid_when_the_manager_approves() -> None:
    assert assert_same(refund, LARGE, answers=[True]) == {"status": "paid", "refund": "R-A-1"}
    assert assert_same(refund, LARGE, answers=[False]) == {"status": "denied"}


def test_a_refund_without_an_answer_is_denied() -> None:
    assert assert_same(refund, LARGE, answers=["timeout"]) == {"status": "denied"}


def test_a_refund_of_nothing_fails() -> None:
    assert assert_same(refund, {"order_id": "A-1", "amount": 0}) == {"error": "value_error"}
