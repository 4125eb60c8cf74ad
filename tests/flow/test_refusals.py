"""What the compiler refuses, lifts and compiles; each refusal at its line, all of them at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from snippets import SNIPPETS
from verdicts import flow_of, verdict

from stepless import codes
from stepless.flow import Flow, FlowRefused
from stepless.flow.compiler.refusals import Remark


@pytest.mark.parametrize(("body", "expected"), SNIPPETS, ids=[body.replace("\n", "; ")[:60] for body, _ in SNIPPETS])
def test_each_snippet_is_refused_lifted_or_compiled_as_listed(body: str, expected: str) -> None:
    assert verdict(body) == expected


def refusals(function: Callable[[], Any]) -> tuple[Remark, ...]:
    with pytest.raises(FlowRefused) as caught:
        function()
    return caught.value.findings


def test_all_faults_are_reported_at_once_in_the_order_of_the_lines() -> None:
    found = refusals(flow_of("x = order.amuont\nscore(1.0)\ny = await score()\nreturn nothing").compile)
    assert [(one.line, one.code) for one in found] == [
        (2, "no_such_field"), (3, "not_awaited"), (4, "bad_arguments"), (5, "unknown_name"),
    ]
    assert "Did you mean `amount`?" in str(found[0])
    assert str(found[0]).endswith("no_such_field: Order has no field `amuont`. Did you mean `amount`?")


@pytest.mark.parametrize("body", [
    "await half(nothing)\nx = nothing + 1\nawait half(x)\nreturn [nothing]",
    "x = await asyncio.shield(1)\nreturn await asyncio.shield(1)",
    "x = await endless(1)\nawait half(2)\nreturn await endless(2)",
    "f = open('x')\nawait half(2)\nx = f.read()\nawait half(3)\nreturn f.read()",
])  # fmt: skip
def test_a_cause_is_told_once(body: str) -> None:
    assert len(refusals(flow_of(body).compile)) == 1


def test_parameters_without_a_name_are_refused() -> None:
    found = refusals(flow_of("return 1", "async def f(*names):").compile)
    assert [one.code for one in found] == ["parameters"]


def test_a_source_that_cannot_be_read_is_refused() -> None:
    space: dict[str, Any] = {}
    exec("async def f(): return 1", space)
    assert [one.code for one in refusals(Flow("x", space["f"]).compile)] == ["source_missing"]
    assert [one.code for one in refusals(Flow("x", lambda: None).compile)] == ["source_missing"]  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize("body", [body for body, expected in SNIPPETS if expected == "lifted"])
def test_nothing_is_lifted_where_that_is_forbidden(body: str) -> None:
    assert verdict(body, lift="never") == "lifted"
    found = refusals(flow_of(body, lift="never").compile)
    assert found[0].line >= 2


def test_every_code_has_its_row_in_the_list_of_codes() -> None:
    expected = {code for _, verdict in SNIPPETS for code in verdict.split("+")} - {"ok", "lifted"}
    assert expected <= codes.all_codes()
