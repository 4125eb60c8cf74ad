"""What both servers of W11 do: one function, three times in a row. `stepless dev` imports this module for its function."""

from __future__ import annotations

from typing import Any

from stepless import function


async def double(pieces: int) -> int:
    return pieces * 2


@function("benchmark.double")
async def double_in_a_run(pieces: int) -> int:
    return await double(pieces)


def workflows() -> dict[str, dict[str, Any]]:
    """By id: `quotes` answers from its last node, `orders` answers 202 and runs afterwards."""
    return {"quotes": _workflow("quotes", "wait"), "orders": _workflow("orders", "async")}


def _workflow(name: str, response: str) -> dict[str, Any]:
    nodes: dict[str, Any] = {"ask": {"type": "webhook", "with": {"path": f"/{name}", "auth": "none", "response": response}}}
    before = "ask.body.pieces"
    after = "ask"
    for node in ("a", "b", "c"):
        call = {"call": "benchmark.double", "args": {"pieces": f"<{before}>"}}
        nodes[node] = {"type": "function", "after": after, "with": call}
        before = after = node
    if response == "wait":
        nodes["answer"] = {"type": "respond", "after": "c", "with": {"status": 200, "body": {"price": "<c>"}}}
    return {"id": name, "nodes": nodes}
