"""`assert_same` runs a workflow both ways, and finds where they differ."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from stepless.flow import NodeError, approval, callback, gather, sleep, step, workflow
from stepless.nodes.function.registry import replace
from stepless.testing import assert_same


class Order(BaseModel):
    id: str
    amount: int = 5


class CardDeclined(NodeError):
    pass


@step("assert_same.pay")
async def pay(id: str) -> str:
    if id == "bad":
        raise CardDeclined(id)
    return f"R-{id}"


@step("assert_same.twin")
async def twin(number: int) -> int:
    return number * 2


@workflow("assert-same-refund")
async def refund(order: Order) -> dict[str, str]:
    if order.amount > 100:
        answer = await approval(f"Refund {order.id}?", timeout="1d")
        if not answer.approved:
            return {"status": answer.decision}
    await sleep("30d")
    return {"status": "paid", "receipt": await pay(order.id)}


@workflow("assert-same-parent")
async def parent(id: str, times: int = 2) -> list[dict[str, str]]:
    done = []
    for n in range(times):
        done.append(await refund(Order(id=f"{id}{n}")))
    return done


@workflow("assert-same-asking")
async def asking(name: str) -> dict[str, Any]:
    first, second = await gather(approval("one?"), approval("two?"))
    word = await callback(f"a word for {name}", timeout="1h")
    return {"first": first.approved, "second": second.approved, "word": word["said"]}


@workflow("assert-same-twin")
async def twins(number: int) -> int:
    return await twin(number)


@pytest.mark.parametrize(("inputs", "answers", "result"), [
    ({"id": "a"}, (), {"status": "paid", "receipt": "R-a"}),
    ({"id": "a", "amount": 400}, [True], {"status": "paid", "receipt": "R-a"}),
    ({"id": "a", "amount": 400}, [False], {"status": "rejected"}),
    ({"id": "a", "amount": 400}, {"Refund a?": "timeout"}, {"status": "timeout"}),
    ({"id": "a", "amount": 400}, lambda message: {"decision": "rejected"}, {"status": "rejected"}),
    ({"id": "bad"}, (), {"error": "card_declined"}),
])  # fmt: skip
def test_both_have_the_same_outcome(inputs: Any, answers: Any, result: Any) -> None:
    assert assert_same(refund, inputs, answers) == result


def test_children_and_questions_at_once() -> None:
    assert assert_same(parent, {"id": "x"}) == [{"status": "paid", "receipt": "R-x0"}, {"status": "paid", "receipt": "R-x1"}]
    answers = {"one?": True, "two?": False, "a word for me": {"said": "hi"}}
    assert assert_same(asking, {"name": "me"}, answers) == {"first": True, "second": False, "word": "hi"}


def test_a_question_without_an_answer_is_a_failure_of_the_test() -> None:
    with pytest.raises(AssertionError, match="no answer is given to 'Refund a"):
        assert_same(refund, {"id": "a", "amount": 400})


def test_a_difference_is_found() -> None:
    """The registered step is another one than the function of the module."""
    assert assert_same(twins, {"number": 4}) == 8
    try:
        replace("assert_same.twin", lambda number: number * 3)
        with pytest.raises(AssertionError, match="the function returned 8, the document returned 12"):
            assert_same(twins, {"number": 4})
    finally:
        replace("assert_same.twin", twin.function)
