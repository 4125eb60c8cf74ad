"""Compiles snippets as the body of a workflow, and says what became of each."""

from __future__ import annotations

import asyncio
import datetime
import linecache
import random
from typing import Any

import fifteen
from pydantic import BaseModel
from typing_extensions import TypedDict

from stepless.flow import Flow, FlowRefused, callback, now, part, race, receive, send, sleep, start, step, workflow


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
    """The code of the first refusal, `lifted`, or `ok` with the codes of the warnings."""
    try:
        compiled = flow_of(body, **options).compile()
    except FlowRefused as refused:
        return refused.findings[0].code
    nodes = compiled.document["nodes"].values()
    lifted = any(node["type"] == "code" or ".eval_" in str(node) or ".block_" in str(node) for node in nodes)
    return "lifted" if lifted else "+".join(["ok", *dict.fromkeys(warning.code for warning in compiled.warnings)])
