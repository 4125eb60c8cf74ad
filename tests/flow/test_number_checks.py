"""A step that is annotated with a number and returns a truth value: the same in a run and in plain Python."""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import pytest
from comparing import differ, flow_of, plainly, runs
from program_steps import LOG

from stepless.flow import step
from stepless.flow.number_checks import numbers_of


@step("numbers.truth")
async def truth(n: int) -> int:
    return n > 0


@step("numbers.truths")
def truths(n: int) -> list[int]:
    return [n > 0, n]


@step("numbers.perhaps")
async def perhaps(n: int) -> int | None:
    return n > 0


@step("numbers.share")
async def share(n: int) -> float:
    return n > 0


@step("numbers.shares")
async def shares(n: int) -> dict[str, float]:
    return {"x": n > 0}


@step("numbers.either")
async def either(n: int) -> int | bool:
    return n > 0


@step("numbers.shown")
async def shown(n: int, xs: list[int], each: dict[str, int | None]) -> str:
    LOG.append((n, xs, each))
    return f"{n} {xs} {each}"


NAMES = {one.__name__: one for one in (truth, truths, perhaps, share, shares, either, shown)}
EXPRESSIONS = [
    "x", "x + 1", "x == 1", "x != 1", "x > 0", "-x", "abs(x)", "x * 2", "x / 2", "x // 1", "round(x)", "min(x, 5)",
    "sorted([x, 0])", "f'{x}'", "str(x)", "[x] == [1]", "x in [1, 2]", "{'a': x} == {'a': 1}", "x is None", "1 if x else 2",
    "xs[x]", "xs == [1, 5]", "xs[0] == 1", "sum(xs)", "max(xs)", "x == xs[0]", "(y or 0) + 1", "f'{y}'", "z + 1", "z == 1",
    "f'{z}'", "w['x'] + 1", "f\"{w['x']}\"", "e", "e == 1", "f'{e}'", "await shown(n > 0, [n > 0, 2], {'a': n > 0, 'b': None})",
    "await shown(x, xs, {'e': e})",
]  # fmt: skip


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_truth_that_a_step_returns_as_a_number_is_the_number(expression: str) -> None:
    calls = "x, xs, y, z, w, e".replace(", ", " ").split()
    steps = ["truth", "truths", "perhaps", "share", "shares", "either"]
    body = "".join(f"    {name} = await {one}(n)\n" for name, one in zip(calls, steps, strict=True))
    flow = flow_of(f"async def program(n: int):\n{body}    return {expression}\n", "numbers", names=NAMES)
    plain, effects = plainly(flow, {"n": 5})
    (ran,) = runs(flow.compile().document, [{"n": 5}])
    assert plain[0] == "ok"
    assert differ(plain, ran.outcome, effects, ran.effects) == ""
    assert str(effects) == str(ran.effects)


def test_what_each_step_returns() -> None:
    flow = flow_of(
        "async def program(n: int):\n"
        "    return [await truth(n), await truths(n), await perhaps(n), await share(n), await shares(n), await either(n)]\n",
        "returned", names=NAMES,
    )
    (ran,) = runs(flow.compile().document, [{"n": 5}])
    assert ran.outcome == ("ok", '[1, [1, 5], 1, 1, {"x": 1}, true]')


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        (int, True, 1), (float, False, 0), (int | None, True, 1), (tuple[int, str], (True, "a"), (1, "a")),
        (tuple[int, ...], (True, 3), (1, 3)), (dict[str, list[int]], {"a": [True]}, {"a": [1]}), (Sequence[int], [True], [1]),
        (Mapping[str, int], {"a": True}, {"a": 1}), (typing.Annotated[int, "x"], True, 1), (Literal[1, 2], True, 1),
        (tuple[int, str], (True,), (True,)), (list[int] | int, [True], [1]),
    ],
)  # fmt: skip
def test_numbers_of_a_type(kind: Any, given: Any, expected: Any) -> None:
    convert = numbers_of(kind)
    assert convert is not None
    assert repr(convert(given)) == repr(expected)


@pytest.mark.parametrize("kind", [bool, str, Any, int | bool, list[bool], dict[str, Any], list, None, tuple[str, bool]])
def test_a_type_without_numbers_leaves_its_values(kind: Any) -> None:
    assert numbers_of(kind) is None
