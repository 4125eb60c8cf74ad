"""References are written, never read."""

from __future__ import annotations

import copy

import pytest

from stepless import Ref, Workflow
from stepless.errors import InvalidRequest

FLOW = Workflow("w", env=["KEY"])
ORDER = FLOW.manual("order")


@pytest.mark.parametrize(
    ("reference", "written"),
    [
        (ORDER.ref, "<order>"),
        (ORDER.ref.body.order_id, "<order.body.order_id>"),
        (ORDER.ref.lines[0].price, "<order.lines[0].price>"),
        (ORDER.ref.lines[-1], "<order.lines[-1]>"),
        (ORDER.ref["content-type"]["from"], "<order.content-type.from>"),
        (ORDER.ref["_private"], "<order._private>"),
        (FLOW.input.amount, "<input.amount>"),
        (FLOW.inputs.left.amount, "<inputs.left.amount>"),
        (FLOW.variables.status, "<workflow.status>"),
        (FLOW.run_id, "<run.id>"),
        (FLOW.env("KEY"), "${KEY}"),
        (ORDER, "<order>"),
    ],
)
def test_a_reference_is_written_as_the_document_has_it(reference: object, written: str) -> None:
    assert str(reference) == f"{reference}" == written


def test_a_reference_is_a_whole_value_or_part_of_a_text() -> None:
    flow = Workflow("w")
    order = flow.manual("order")
    flow.transform("said", after=order, value={"whole": order.ref.n, "text": f"{order.ref.n} pieces", "all": [order]})
    assert flow.run({"n": 3}).outputs == {"said": {"whole": 3, "text": "3 pieces", "all": [{"n": 3}]}}


@pytest.mark.parametrize("step", ["", "a b", "a.b", "a>b", "a[0]"])
def test_a_name_that_no_reference_can_hold_is_refused(step: str) -> None:
    with pytest.raises(InvalidRequest, match="cannot be a step of a reference"):
        ORDER.ref[step]


def test_a_reference_has_no_value_while_the_workflow_is_written() -> None:
    with pytest.raises(TypeError, match="use a `condition` node to decide"):
        bool(ORDER.ref.amount)
    with pytest.raises(TypeError):
        list(ORDER.ref)  # type: ignore[call-overload]
    with pytest.raises(TypeError):
        _ = 1 in ORDER.ref  # type: ignore[operator]
    with pytest.raises(TypeError):
        list(ORDER)  # type: ignore[call-overload]


def test_a_reference_can_be_copied_and_shown() -> None:
    assert str(copy.deepcopy(ORDER.ref.a)) == "<order.a>"
    assert repr(Ref("order.a")) == "Ref('order.a')" and repr(ORDER["error"]) == "Exit('order.error')"


def test_a_strict_reference_stays_strict_in_its_further_steps() -> None:
    order = Ref("order")
    assert [str(+order), str(+order.id), str((+order).lines[0].sku), str(+(+order).id)] == [
        "<order!>", "<order.id!>", "<order.lines[0].sku!>", "<order.id!>",
    ]  # fmt: skip
