"""The workflow on a virtual clock, and its functions as plain Python. Two days pass in a millisecond."""

from __future__ import annotations

import pytest

import stepless
from stepless.testing import WorkflowTest, fails, returns

WORKFLOW = "workflows/refund.yaml"


@pytest.fixture
def refund(workflow) -> WorkflowTest:  # type: ignore[no-untyped-def]
    return workflow(WORKFLOW).script("pay", returns({"refund": "R-1"}))


def test_a_small_refund_is_paid_at_once(refund: WorkflowTest) -> None:
    result = refund.run({"order_id": "A-1", "amount": 40}).assert_completed()
    result.assert_ran("pay", times=1).assert_skipped("manager")


def test_a_large_refund_is_paid_when_the_manager_approves(refund: WorkflowTest) -> None:
    result = refund.answer("manager", "approved", {"comment": "fine"}, at="1h").run({"order_id": "A-1", "amount": 400})
    result.assert_completed().assert_ran("pay")


def test_a_refund_without_an_answer_is_denied(refund: WorkflowTest) -> None:
    result = refund.run({"order_id": "A-1", "amount": 400}).assert_completed().assert_skipped("pay")
    assert result.variables["status"] == "denied"


def test_a_payment_that_times_out_is_retried(refund: WorkflowTest) -> None:
    refund.script("pay", fails("timeout"), returns({"refund": "R-1"}))
    refund.run({"order_id": "A-1", "amount": 40}).assert_completed().assert_attempts("pay", 2)


def test_the_workflow_with_its_real_functions() -> None:
    import refunds  # noqa: F401 - registers them

    result = stepless.run(WORKFLOW, {"order_id": "A-1", "amount": 400}, approve=True)
    assert result.status == "completed"
    assert result.nodes["pay"].output == {"refund": "R-A-1", "amount": 400}
