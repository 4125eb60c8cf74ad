"""`assert_same` runs a workflow both ways, and finds where they differ."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from stepless.errors import ConfigError
from stepless.flow import NodeError, approval, callback, gather, sleep, step, workflow
from stepless.nodes.function.registry import replace
from stepless.testing import assert_same
from stepless.testing.effects import Effects, difference, is_concurrent


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


@step("assert_same.mark")
async def mark(number: int, weight: float = 2) -> str:
    raise AssertionError("the real step is not called")


@workflow("assert-same-marks")
async def marks(number: int) -> list[str]:
    made = []
    for n in range(number):
        made.append(await mark(n))
    return made


@workflow("assert-same-at-once")
async def at_once(number: int) -> list[str]:
    return await gather(mark(number), mark(number + 1, 0.5))


def test_steps_are_replaced_in_both_by_a_function_or_a_value() -> None:
    calls: list[Any] = []

    def fake(number: int, weight: float = 2) -> str:
        calls.append((number, weight))
        return f"{number} {weight}"

    assert assert_same(marks, {"number": 2}, steps={mark: fake}) == ["0 2", "1 2"]
    assert calls == [(0, 2), (1, 2)] * 2
    assert assert_same(at_once, {"number": 2}, steps={"assert_same.mark": "x"}) == ["x", "x"]
    with pytest.raises(ConfigError, match="is not a step"):
        assert_same(marks, {"number": 2}, steps={3: "x"})


def test_calls_in_another_order_or_with_other_arguments_are_a_difference() -> None:
    a, b, c = ("s", '{"n": 1}'), ("s", '{"n": 2}'), ("t", "{}")
    assert difference(Effects([a, b]), Effects([a, b]), ordered=True) == ""
    assert difference(Effects([a, b]), Effects([b, a]), ordered=True) == (
        'call 1 of a step is s {"n": 1} in the function, and s {"n": 2} in the document'
    )
    assert difference(Effects([a, b]), Effects([b, a]), ordered=False) == ""
    assert difference(Effects([a]), Effects([a, c]), ordered=True) == "only the document calls t {}"
    assert difference(Effects([a, c]), Effects([a]), ordered=False) == "only the function calls t {}"


def test_only_steps_that_may_run_at_once_have_no_order() -> None:
    assert not is_concurrent(marks.document()) and not is_concurrent(refund.document())
    assert is_concurrent(at_once.document())
