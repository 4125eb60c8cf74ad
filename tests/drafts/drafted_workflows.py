"""Random workflows with secrets, approvals and whatever decides about them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Any, Final

INPUTS: Final[Sequence[Any]] = ("i0", "i1", {"ok": "i2"})
EXITS: Final = {
    "approval": ("approved", "approved", "rejected", "timeout"), "condition": ("a", "b"), "fail": ("error",), "end": (),
    "workflow": ("source", "source", "error"), "http": ("source", "source", "source", "error"),
}  # fmt: skip
Node = dict[str, Any]


def workflow(dice: Random) -> dict[str, Any]:
    """A document; not every one is valid. One of three has one of the SHAPES."""
    if dice.random() < 0.33:
        return shaped(dice, dice.choice(list(SHAPES)))
    nodes: dict[str, Node] = {"e0": {"type": "manual"}}
    if dice.random() < 0.35:
        nodes["e1"] = {"type": "webhook", "with": {"path": "/in"}}
    for number in range(dice.randrange(3, 9)):
        node = a_node(dice, list(nodes), f"n{number}", tools=nodes)
        connect(dice, node, nodes)
        nodes[f"n{number}"] = node
    document = document_of(nodes)
    if dice.random() < 0.25:
        document["on_failure"] = dice.choice(["halt", "cancel"])
    if dice.random() < 0.2:
        document["timeout"] = dice.choice(["30s", "1h"])
    return document


def document_of(nodes: dict[str, Node], **settings: Any) -> dict[str, Any]:
    return {
        "id": "w", "name": "W", "env": ["KEY", "OTHER"], "variables": {"v": "x0", "u": "x1"}, "nodes": nodes, **settings,
    }  # fmt: skip


_PAY: Final[Node] = {"type": "http", "with": {"url": "https://pay/<input>", "headers": {"k": "Bearer ${KEY}"}}}
SHAPES: Final[dict[str, dict[str, Any]]] = {
    "an approval": document_of({
        "e0": {"type": "manual"},
        "ask": {"type": "approval", "after": "e0", "with": {"message": "pay <e0>?", "approvers": ["boss"]}},
        "pay": {**_PAY, "after": "ask.approved"},
    }),
    "a variable": document_of({
        "e0": {"type": "manual"},
        "pay": {"type": "http", "after": "e0", "with": {"url": "https://<workflow.v>/", "headers": {"k": "Bearer ${KEY}"}}},
    }),
    "cases": document_of({
        "e0": {"type": "manual"},
        "is": {"type": "transform", "after": "e0", "with": {"value": "t0"}},
        "case": {"type": "condition", "after": "is", "with": {"cases": {"a": "<is> == 't0'", "b": "<is> != 'x'"}}},
        "pay": {**_PAY, "after": "case.b"},
    }),
    "the last of two": document_of({
        "e0": {"type": "manual"}, "e1": {"type": "webhook", "with": {"path": "/in"}},
        "one": {"type": "set", "after": "e0", "with": {"variables": {"v": "one"}}},
        "two": {"type": "set", "after": "e1", "with": {"variables": {"v": "two"}}},
        "pay": {
            "type": "http", "after": ["one", "two"], "join": {"vars": "last-write"},
            "with": {"url": "https://<workflow.v>/<e0>/<e1>", "headers": {"k": "Bearer ${KEY}"}},
        },
    }),
    "a child run": document_of({
        "e0": {"type": "manual"},
        "later": {"type": "wait", "after": "e0", "with": {"for": "90m"}},
        "pay": {**_PAY, "after": "later"},
        "child": {"type": "workflow", "after": "e0", "with": {"workflow": "other", "inputs": "x"}},
        "first": {"type": "join", "after": ["e0", "child"], "join": {"mode": "any"}},
    }, timeout="1h"),
    "the end of the run": document_of({
        "e0": {"type": "manual"},
        "later": {"type": "wait", "after": "e0", "with": {"for": "1h"}},
        "pay": {**_PAY, "after": "later"},
        "over": {"type": "end", "after": "e0", "with": {"halt": True}},
    }),
    "a failure": document_of({
        "e0": {"type": "manual"},
        "later": {"type": "wait", "after": "e0", "with": {"for": "1h"}},
        "pay": {**_PAY, "after": "later"},
        "odd": {"type": "fail", "after": "e0", "with": {"code": "odd"}},
    }, on_failure="halt"),
    "losers": document_of({
        "e0": {"type": "manual"},
        "later": {"type": "wait", "after": "e0", "with": {"for": "1h"}},
        "pay": {**_PAY, "after": "later"},
        "first": {"type": "join", "after": ["e0", "pay"], "join": {"mode": "any", "losers": "cancel"}},
    }),
    "a deadline": document_of({
        "e0": {"type": "manual"},
        "later": {"type": "wait", "after": "e0", "with": {"for": "90m"}},
        "pay": {**_PAY, "after": "later"},
        "child": {"type": "workflow", "after": "e0", "with": {"workflow": "other", "inputs": "x"}},
    }, timeout="1h"),
    "two entries": document_of({
        "e0": {"type": "manual"}, "e1": {"type": "webhook", "with": {"path": "/in"}},
        "both": {"type": "join", "after": ["e0", "e1"]},
        "ask": {"type": "approval", "after": "e0", "with": {"message": "pay <e0>?", "approvers": ["boss"]}},
        "pay": {**_PAY, "after": ["both", "ask.approved"], "join": {"mode": "all"}, "merge": "array"},
    }),
    "a loop": document_of({
        "e0": {"type": "manual"},
        "each": {"type": "loop", "after": "e0", "with": {"items": ["one", "two"], "body": {"nodes": {
            "pay": {"type": "http", "with": {"url": "https://pay/<loop.item>", "headers": {"k": "Bearer ${KEY}"}}},
            "check": {"type": "fail", "after": "pay", "with": {"code": "odd"}},
        }}}},
    }),
    "a tool": document_of({
        "e0": {"type": "manual"},
        "model": {"type": "llm", "after": "e0", "with": {"prompt": "<e0>", "tools": [{"node": "call_tool", "description": "d"}]}},
        "call_tool": {"type": "http", "with": {"url": "https://tool/<input.q>", "headers": {"k": "${KEY}"}}},
    }),
}  # fmt: skip
"""Small workflows, in each of which one thing decides whether something is called."""


def shaped(dice: Random, shape: str) -> dict[str, Any]:
    """A workflow of a shape, with some nodes more."""
    document: dict[str, Any] = json.loads(json.dumps(SHAPES[shape]))
    nodes = document["nodes"]
    for number in range(dice.choice([0, 0, 1, 2])):
        node = a_node(dice, ["e0"], f"n{number}", depth=1)
        connect(dice, node, {"e0": nodes["e0"]})
        nodes[f"n{number}"] = node
    return document


def a_node(dice: Random, before: Sequence[str], name: str, *, tools: dict[str, Node] | None = None, depth: int = 0) -> Node:
    """A node that may read those `before` it; its edges are missing."""
    kinds = ["http"] * 5 + ["transform"] * 3 + ["set", "condition", "condition", "wait", "join", "fail"]
    kinds += ["approval"] * 4 + ["workflow", "loop", "parallel", "end", "llm"] * (1 if depth == 0 else 0)
    kind = dice.choice(kinds)
    node: Node = {"type": kind, "with": params(dice, kind, before)}
    if kind in ("loop", "parallel"):
        node["with"] |= {"on_error": dice.choice(["stop", "continue"]), "body": a_body(dice, before, name)}
    if kind == "llm" and tools is not None:
        tools[f"{name}_tool"] = {"type": "http", "with": {"url": f"https://tool/<input.q>/{read(dice, before)}"}}
        node["with"]["tools"] = [{"node": f"{name}_tool", "description": "d"}]
    if dice.random() < 0.1 and kind in ("http", "workflow"):
        node["retry"] = {"attempts": 2}
    if dice.random() < 0.05:
        node["enabled"] = False
    return node


def params(dice: Random, kind: str, before: Sequence[str]) -> dict[str, Any]:
    match kind:
        case "http":
            headers = {"headers": {"k": "Bearer ${KEY}"}} if dice.random() < 0.6 else {}
            sent = {"url": f"https://h/{read(dice, before)}", **headers}
            return sent | ({"body": read(dice, before)} if dice.random() < 0.5 else {})
        case "transform":
            return {"value": dice.choice([read(dice, before), {"ok": read(dice, before)}, "t0"])}
        case "set":
            return {"variables": {dice.choice("vu"): read(dice, before)}}
        case "condition":
            value, word = read(dice, before, only=True), dice.choice(["i0", "r1", "x0"])
            return {"cases": {"a": f"{value} == '{word}'", "b": dice.choice(["else", f"{value} != 'y'"])}}
        case "approval":
            return approval(dice, before)
        case "loop":
            return {"times": dice.choice([1, 2])} if dice.random() < 0.5 else {"items": [1, read(dice, before)]}
    return _simple_params(dice, kind, before)


def _simple_params(dice: Random, kind: str, before: Sequence[str]) -> dict[str, Any]:
    match kind:
        case "wait":
            return {"for": dice.choice(["1s", "2m", "2h"])}
        case "workflow":
            return {"workflow": "other", "inputs": read(dice, before)}
        case "end":
            return {"halt": dice.random() < 0.8}
        case "llm":
            return {"prompt": read(dice, before)}
    fixed: dict[str, dict[str, Any]] = {"parallel": {"branches": 2}, "fail": {"code": "odd"}}
    return dict(fixed.get(kind, {}))


def approval(dice: Random, before: Sequence[str]) -> dict[str, Any]:
    asked: dict[str, Any] = {"message": f"go on with {read(dice, before)}?", "approvers": [dice.choice(["boss", "boss", "me"])]}
    if dice.random() < 0.4:
        asked["timeout"] = dice.choice(["20s", "1h"])
    if dice.random() < 0.2:
        asked["notify"] = f"https://notices/{read(dice, before)}"
    return asked


def read(dice: Random, before: Sequence[str], *, only: bool = False) -> str:
    """A reference, or a word; `only` a reference."""
    options = [f"<{name}>" for name in before] + ["<workflow.v>", "<workflow.u>"]
    return dice.choice(options + ["<input>"] + ([] if only else ["word"]))


def a_body(dice: Random, before: Sequence[str], prefix: str) -> dict[str, Any]:
    nodes: dict[str, Node] = {}
    for number in range(dice.randrange(1, 4)):
        node = a_node(dice, [*before, *nodes], f"{prefix}b{number}", depth=1)
        if nodes:
            connect(dice, node, nodes)
        nodes[f"{prefix}b{number}"] = node
    return {"nodes": nodes}


def connect(dice: Random, node: Node, nodes: dict[str, Node]) -> None:
    """Edges into a node from one to three others, and how it joins them."""
    sources = [name for name, one in nodes.items() if EXITS.get(one["type"], ("source",)) and not name.endswith("_tool")]
    if not sources:
        return
    chosen = dice.sample(sources, min(len(sources), dice.choice([1, 1, 1, 2, 2, 3])))
    after = list(dict.fromkeys(edge_from(dice, name, nodes) for name in chosen))
    node["after"] = after if len(after) > 1 or dice.random() < 0.2 else after[0]
    if len(after) > 1:
        set_join(dice, node, len(after))


def edge_from(dice: Random, name: str, nodes: dict[str, Node]) -> str:
    kind = nodes[name]["type"]
    exits = EXITS.get(kind, ("source", "source", "source", "error"))
    exits = tuple(one for one in exits if one != "timeout" or "timeout" in nodes[name]["with"])
    return f"{name}.{dice.choice(exits)}"


def set_join(dice: Random, node: Node, branches: int) -> None:
    mode = dice.choice(["all", "any", "any", "count", "every"])
    node["join"] = {"mode": mode} | ({"count": dice.randrange(1, branches + 1)} if mode == "count" else {})
    if dice.random() < 0.4:
        node["join"]["losers"] = "cancel"
    if dice.random() < 0.3:
        node["join"]["errors"] = dice.choice(["fail-fast", "collect-all"])
    if dice.random() < 0.2:
        node["on_parent_failure"] = dice.choice(["propagate", "substitute_default"])
    if dice.random() < 0.2:
        node["merge"] = dice.choice(["array", "object", "concat"])
