"""The workloads, as documents. Every task is trivial: what is measured is the engine.

W1 chain · W2 fan-out and join · W3 fifty tasks of 100 ms and a join · W4 layered random DAG · W5 loop with a body of three ·
W6 three-node runs · W7 pause, then resume · W8 the DAGs of wfinstances.py · W9 reload · W10 replay.
"""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

from benchmarks.shapes import Parents
from stepless.nodes.function import FunctionCall, function

Document = dict[str, Any]
RESULT_BYTES = 500
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


@function("benchmark.echo")
async def echo(call: FunctionCall) -> str:
    return call.instance


@function("benchmark.result")
async def result(call: FunctionCall) -> str:
    """Half a kilobyte of text that compresses as badly as a token: six random bits in every byte."""
    return "".join(Random(call.instance).choices(LETTERS, k=RESULT_BYTES))


@function("benchmark.nap")
async def nap(call: FunctionCall) -> str:
    await asyncio.sleep(0.1)
    return call.instance


def graph(parents: Parents, call: str = "benchmark.echo", inner: str | None = None) -> Document:
    """A DAG of function nodes; `inner` is called by those that have both parents and children."""
    leaves = set(range(len(parents))) - {parent for above in parents for parent in above}
    nodes: Document = {}
    for number, above in enumerate(parents):
        called = inner if inner and above and number not in leaves else call
        after = {"after": [f"n{parent}" for parent in above]} if above else {}
        nodes[f"n{number}"] = {"type": "function", "with": {"call": called}, **after}
    return {"id": "benchmark", "nodes": nodes, "max_steps": 1_000_000}


def loop(turns: int) -> Document:
    body: Document = {name: {"type": "function", "with": {"call": "benchmark.echo"}} for name in "abc"}
    body["b"]["after"], body["c"]["after"] = "a", "b"
    container = {"times": turns, "max_iterations": 1_000_000, "body": {"nodes": body}}
    return {"id": "benchmark", "nodes": {"l": {"type": "loop", "with": container}}, "max_steps": 1_000_000}


def approval() -> Document:
    step = {"type": "function", "with": {"call": "benchmark.echo"}}
    ask = {"type": "approval", "after": "a", "with": {"message": "Go on?"}}
    return {"id": "benchmark", "nodes": {"a": step, "ask": ask, "b": {**step, "after": "ask.approved"}}}
