"""What the compiler refuses, lifts and compiles; each refusal at its line, all of them at once."""

from __future__ import annotations

import asyncio
import datetime
import linecache
import random
from collections.abc import Callable
from typing import Any

import fifteen
import pytest
from pydantic import BaseModel
from snippets import SNIPPETS
from typing_extensions import TypedDict

from stepless import codes
from stepless.flow import Flow, FlowRefused, callback, now, part, race, receive, send, sleep, start, step, workflow
from stepless.flow.compiler.refusals import Remark


@step("refusals.make")
async def make() -> list[int]:
    return [1]


@step("refusals.raw")
async def raw():  # type: ignore[no-untyped-def]  # nothing is known of what it returns
    return 1


class Weighed(BaseModel):
    weight: float = 0


@step("refusals.weighed")
async def weighed(n: int) -> Weighed:
    return Weighed(weight=n)


class Typed(TypedDict):
    name: str


@step("refusals.typed")
async def typed() -> Typed:
    return {"name": "x"}


@step("refusals.placed")
async def placed(n: int, /) -> int:
    return n


@part
async def twice(text: str) -> str:
    first = await fifteen.note(text)
    return await fifteen.note(first)


@part
async def endless(n: int) -> int:
    return await endless(n - 1)


@workflow("refusals-shop", messages={"paid": {}})
async def shop(name: str, n: int) -> int:
    return n


class Paid(BaseModel):
    amount: float
    text: str


class Noted(BaseModel):
    amount: float
    note: str = "none"


MESSAGES = {"paid": Paid, "noted": Noted, "loose": {}}
BASE: dict[str, Any] = {
    **{name: value for name, value in vars(fifteen).items() if not name.startswith("__")},
    "asyncio": asyncio, "datetime": datetime, "random": random, "LIST": [1, 2], "LIMIT": 5, "make": make, "raw": raw,
    "callback": callback, "now": now, "sleep": sleep, "twice": twice, "endless": endless,
    "receive": receive, "race": race, "send": send, "start": start, "shop": shop,
    "weighed": weighed, "placed": placed, "typed": typed,
}  # fmt: skip


def flow_of(body: str, head: str = "async def f(order: Order):", **options: Any) -> Flow[..., Any]:
    source = head + "\n" + "".join(f"    {line}\n" for line in body.splitlines())
    file = f"snippet_{abs(hash(source))}.py"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space = {**BASE, "__name__": "snippet"}
    exec(compile(source, file, "exec", dont_inherit=True), space)
    return Flow("snippet", space["f"], options={"messages": MESSAGES}, **options)


def verdict(body: str, **options: Any) -> str:
    try:
        compiled = flow_of(body, **options).compile()
    except FlowRefused as refused:
        return refused.findings[0].code
    nodes = compiled.document["nodes"].values()
    lifted = any(node["type"] == "code" or ".eval_" in str(node) or ".block_" in str(node) for node in nodes)
    return "lifted" if lifted else "+".join(["ok", *dict.fromkeys(warning.code for warning in compiled.warnings)])


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
