"""The workloads, as documents. Every task is trivial: what is measured is the engine.

W1 chain · W2 fan-out and join · W3 fifty tasks of 100 ms and a join · W4 layered random DAG · W5 loop with a body of three ·
W6 three-node runs · W7 pause, then resume · W8 the DAGs of wfinstances.py · W9 reload · W10 replay.
"""

from __future__ import annotations

import asyncio
from math import isqrt
from random import Random
from typing import Any

from stepless.nodes.function import FunctionCall, function

Document = dict[str, Any]
Parents = list[list[int]]
RESULT = "x" * 500  # half a kilobyte


@function("benchmark.echo")
async def echo(call: FunctionCall) -> str:
    return call.instance


@function("benchmark.result")
async def result(call: FunctionCall) -> str:
    return RESULT


@function("benchmark.nap")
async def nap(call: FunctionCall) -> str:
    await asyncio.sleep(0.1)
    return call.instance


def chain(n: int) -> Parents:
    return [[]] + [[i] for i in range(n - 1)]


def fan(n: int) -> Parents:
    """One, n beside each other, one."""
    return [[]] + [[0]] * n + [list(range(1, n + 1))]


def layered(n: int, seed: int = 42) -> Parents:
    """About √n layers (100 from 10,000 nodes on), two edges per node from the layer above; parents by number."""
    layers = min(100, max(2, isqrt(n)))
    width = n // layers
    random = Random(seed)
    parents: Parents = [[] for _ in range(width)]
    for number in range(width, n):
        above = (number // width - 1) * width
        parents.append(sorted({above + random.randrange(width) for _ in range(2)}))
    return parents


def graph(parents: Parents, call: str = "benchmark.echo", inner: str | None = None) -> Document:
    """A DAG of function nodes; `inner` is called by those that have both parents and children."""
    leaves = set(range(len(parents))) - {parent for above in parents for parent in above}
    nodes: Document = {}
    for number, above in enumerate(parents):
        called = inner if inner and above and number not in leaves else call
        nodes[f"n{number}"] = {"type": "function", "with": {"call": called}, **({"after": [f"n{p}" for p in above]} if above else {})}
    return {"id": "benchmark", "nodes": nodes, "max_steps": 1_000_000}


def loop(turns: int) -> Document:
    body: Document = {name: {"type": "function", "with": {"call": "benchmark.echo"}} for name in "abc"}
    body["b"]["after"], body["c"]["after"] = "a", "b"
    container = {"times": turns, "max_iterations": 100_000, "body": {"nodes": body}}
    return {"id": "benchmark", "nodes": {"l": {"type": "loop", "with": container}}, "max_steps": 1_000_000}


def approval() -> Document:
    step = {"type": "function", "with": {"call": "benchmark.echo"}}
    ask = {"type": "approval", "after": "a", "with": {"message": "Go on?"}}
    return {"id": "benchmark", "nodes": {"a": step, "ask": ask, "b": {**step, "after": "ask.approved"}}}
