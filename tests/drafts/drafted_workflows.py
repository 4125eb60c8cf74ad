"""Random workflows with secrets, approvals and whatever decides about them, and random drafts that a person makes of them to
cause what the workflow does not do."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

INPUTS: Final[Sequence[Any]] = ("i0", "i1", {"ok": "i2"})
_EXITS: Final = {
    "approval": ("approved", "approved", "rejected", "timeout"), "condition": ("a", "b"), "fail": ("error",), "end": (),
    "workflow": ("source", "source", "error"), "http": ("source", "source", "source", "error"),
}  # fmt: skip
Node = dict[str, Any]


@dataclass
class Draft:
    """A draft and what its test run is asked for."""

    document: dict[str, Any]
    pins: dict[str, dict[str, Any]] = field(default_factory=dict)
    entries: list[str] | None = None
    stop_after: str | None = None
    reused_from: str | None = None
    reused: dict[str, dict[str, Any]] = field(default_factory=dict)
    edits: list[str] = field(default_factory=list)


# -- a workflow --------------------------------------------------------------------------------------------------------


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
    sources = [name for name, one in nodes.items() if _EXITS.get(one["type"], ("source",)) and not name.endswith("_tool")]
    if not sources:
        return
    chosen = dice.sample(sources, min(len(sources), dice.choice([1, 1, 1, 2, 2, 3])))
    after = list(dict.fromkeys(edge_from(dice, name, nodes) for name in chosen))
    node["after"] = after if len(after) > 1 or dice.random() < 0.2 else after[0]
    if len(after) > 1:
        set_join(dice, node, len(after))


def edge_from(dice: Random, name: str, nodes: dict[str, Node]) -> str:
    kind = nodes[name]["type"]
    exits = _EXITS.get(kind, ("source", "source", "source", "error"))
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


# -- a draft -----------------------------------------------------------------------------------------------------------


def drafted(dice: Random, document: dict[str, Any]) -> Draft:
    """A draft with one to four edits or requests; not every one is valid."""
    draft = Draft(json.loads(json.dumps(document)))
    for _ in range(dice.choice([1, 1, 1, 2, 2, 3, 4])):
        edit = dice.choices(list(EDITS), list(EDITS.values()))[0]
        edit(dice, draft)
        draft.edits.append(edit.__name__)
    return draft


def _bodies(draft: Draft) -> list[tuple[dict[str, Node], str]]:
    """The bodies with nodes, each with what follows the ids of its nodes in a path."""
    nodes = draft.document["nodes"]
    found = [(nodes, "")]
    for name, node in nodes.items():
        body = (node.get("with") or {}).get("body")
        if isinstance(body, dict) and body.get("nodes"):
            found.append((body["nodes"], f"@{name}"))
    return found


def _any_node(dice: Random, draft: Draft) -> tuple[dict[str, Node], str, str]:
    bodies = _bodies(draft)
    nodes, around = bodies[0] if dice.random() < 0.75 else dice.choice(bodies)
    return nodes, dice.choice(list(nodes)), around


def _after(node: Node) -> list[str]:
    after = node.get("after")
    return [] if after is None else [after] if isinstance(after, str) else list(after)


def _set_after(node: Node, after: Sequence[str]) -> None:
    node.pop("after", None)
    if after:
        node["after"] = list(dict.fromkeys(after))
    if len(after) < 2:
        node.pop("join", None)
        node.pop("merge", None)


def pin(dice: Random, draft: Draft) -> None:
    _, name, around = _any_node(dice, draft)
    handle = dice.choice([None, None, "source", "approved", "rejected", "a", "b", "timeout"])
    outputs = INPUTS if name in ("e0", "e1") else [*INPUTS, "evil"]  # those of an entry could be inputs of the published version
    draft.pins[f"{name}{around}"] = {"output": dice.choice(outputs), "handle": handle}


def pin_effects(dice: Random, draft: Draft) -> None:
    """What an honest editor does: nothing, or most of what is called, is called."""
    for nodes, around in _bodies(draft):
        for name, node in nodes.items():
            if node["type"] in ("http", "workflow", "llm") and dice.random() < 0.8:
                draft.pins[f"{name}{around}"] = {"output": "r1", "handle": None}


def pin_entry(dice: Random, draft: Draft) -> None:
    draft.pins["e0"] = {"output": dice.choice(INPUTS), "handle": None}


def disable(dice: Random, draft: Draft) -> None:
    nodes, name, _ = _any_node(dice, draft)
    nodes[name]["enabled"] = not nodes[name].get("enabled", True)


def delete(dice: Random, draft: Draft) -> None:
    """Deletes a node; what came after it comes after what was before it, or not at all."""
    nodes, name, _ = _any_node(dice, draft)
    if len(nodes) < 2:
        return
    before = _after(nodes.pop(name))
    for node in nodes.values():
        after = _after(node)
        if any(edge.partition(".")[0] == name for edge in after):
            kept = [edge for edge in after if edge.partition(".")[0] != name]
            _set_after(node, kept + before if dice.random() < 0.8 else kept)
    text = json.dumps(draft.document["nodes"]).replace(f"<{name}>", dice.choice(["<input>", "evil"]))
    draft.document["nodes"] = json.loads(text)


def insert(dice: Random, draft: Draft) -> None:
    """A new node on an edge."""
    nodes, name, around = _any_node(dice, draft)
    after = _after(nodes[name])
    if not after:
        return
    new = f"m{len(draft.edits)}{len(nodes)}{around.replace('@', '')}"
    place = dice.randrange(len(after))
    node = a_node(dice, [], new, depth=1) if dice.random() < 0.4 else {"type": "transform", "with": {"value": "evil"}}
    node["after"] = after[place]
    nodes[new] = node
    edge = edge_from(dice, new, nodes) if node["type"] != "end" else f"{new}.error"
    _set_after(nodes[name], [*after[:place], edge, *after[place + 1 :]])


def append(dice: Random, draft: Draft) -> None:
    """A new node after another one."""
    nodes, _, around = _any_node(dice, draft)
    new = f"a{len(draft.edits)}{len(nodes)}{around.replace('@', '')}"
    node = a_node(dice, [], new, depth=1) if dice.random() < 0.4 else {"type": "transform", "with": {"value": "evil"}}
    connect(dice, node, nodes)
    nodes[new] = node
    if dice.random() < 0.3:
        draft.document["nodes"] = dict(dice.sample(list(draft.document["nodes"].items()), len(draft.document["nodes"])))


def change_params(dice: Random, draft: Draft) -> None:
    nodes, name, _ = _any_node(dice, draft)
    node = nodes[name]
    given = node.get("with") or {}
    new = params(dice, node["type"], [edge.partition(".")[0] for edge in _after(node)])
    if given and new:
        name = dice.choice([*given])
        if name in new:
            given[name] = new[name]
        elif name in ("timeout", "notify"):
            del given[name]


def turn_cases(dice: Random, draft: Draft) -> None:
    for nodes, _ in _bodies(draft):
        for node in nodes.values():
            cases = (node.get("with") or {}).get("cases")
            if cases and "else" not in cases.values():
                node["with"]["cases"] = dict(reversed(cases.items()))


def rewire(dice: Random, draft: Draft) -> None:
    nodes, name, _ = _any_node(dice, draft)
    others = {one: node for one, node in nodes.items() if one != name}
    if others and nodes[name]["type"] not in ("manual", "webhook"):
        connect(dice, nodes[name], others)


def cut(dice: Random, draft: Draft) -> None:
    nodes, name, _ = _any_node(dice, draft)
    after = _after(nodes[name])
    if after:
        after.pop(dice.randrange(len(after)))
        _set_after(nodes[name], after)


def other_exit(dice: Random, draft: Draft) -> None:
    nodes, name, _ = _any_node(dice, draft)
    after = _after(nodes[name])
    if after:
        place = dice.randrange(len(after))
        source = after[place].partition(".")[0]
        if source in nodes and _EXITS.get(nodes[source]["type"], ("source",)):
            after[place] = edge_from(dice, source, nodes)
            _set_after(nodes[name], after)


def swap_edges(dice: Random, draft: Draft) -> None:
    nodes, name, _ = _any_node(dice, draft)
    after = _after(nodes[name])
    if len(after) > 1:
        nodes[name]["after"] = after[::-1]


def change_join(dice: Random, draft: Draft) -> None:
    for nodes, _ in _bodies(draft):
        for node in nodes.values():
            if len(_after(node)) > 1 and dice.random() < 0.6:
                for field_ in ("join", "merge", "on_parent_failure"):
                    node.pop(field_, None)
                set_join(dice, node, len(_after(node)))


def change_variable(dice: Random, draft: Draft) -> None:
    draft.document["variables"][dice.choice("vuz")] = dice.choice(["evil", "x0", "i0"])


def change_env(dice: Random, draft: Draft) -> None:
    env = draft.document["env"]
    if dice.random() < 0.5:
        env.append("THIRD")
    elif "OTHER" in env:
        env.remove("OTHER")
    draft.document["env"] = list(dict.fromkeys(env))


def change_settings(dice: Random, draft: Draft) -> None:
    setting = dice.choice(["on_failure", "timeout", "name", "description", "max_steps"])
    values: dict[str, Sequence[Any]] = {
        "on_failure": ("isolate", "halt", "cancel"), "timeout": ("10s", "1h", "9h"), "name": ("V", "Please approve"),
        "description": ("x",), "max_steps": (5, 20_000),
    }  # fmt: skip
    draft.document[setting] = dice.choice(values[setting])
    if dice.random() < 0.4 and setting in ("timeout", "on_failure"):
        del draft.document[setting]


def choose_entries(dice: Random, draft: Draft) -> None:
    names = list(draft.document["nodes"])
    entries = [name for name in names if not _after(draft.document["nodes"][name])]
    if dice.random() < 0.6 or not entries:
        draft.entries = dice.sample(names, 1)
    else:
        draft.entries = dice.sample(entries, dice.randrange(1, len(entries) + 1))


def stop(dice: Random, draft: Draft) -> None:
    draft.stop_after = dice.choice(list(draft.document["nodes"]))


def reuse(dice: Random, draft: Draft) -> None:
    names = list(draft.document["nodes"])
    draft.reused_from = dice.choice(names)
    for name in names:
        if dice.random() < 0.7:
            handle = dice.choice(["source", "approved", "a", "b"])
            draft.reused[name] = {"output": dice.choice([*INPUTS, "evil"]), "handle": handle}


def swap_nodes(dice: Random, draft: Draft) -> None:
    nodes = draft.document["nodes"]
    if len(nodes) < 2:
        return
    one, two = dice.sample(list(nodes), 2)
    order = [two if name == one else one if name == two else name for name in nodes]
    draft.document["nodes"] = {name: nodes[name] for name in order}


def change_tool(dice: Random, draft: Draft) -> None:
    for name, node in draft.document["nodes"].items():
        if name.endswith("_tool"):
            node["with"]["url"] = "https://evil/<input.q>"


def rename(dice: Random, draft: Draft) -> None:
    name = dice.choice(list(draft.document["nodes"]))
    text = json.dumps(draft.document["nodes"])
    for form in ('"{}"', '"{}.', "<{}>"):
        text = text.replace(form.format(name), form.format(f"{name}r"))
    draft.document["nodes"] = json.loads(text)


Edit = Callable[[Random, Draft], None]
EDITS: Final[dict[Edit, int]] = {
    pin: 6, pin_effects: 4, pin_entry: 2, disable: 3, delete: 5, insert: 5, append: 6, change_params: 6, turn_cases: 1,
    rewire: 4, cut: 3, other_exit: 3, swap_edges: 1, change_join: 3, change_variable: 3, change_env: 2, change_settings: 2,
    choose_entries: 4,
    stop: 2, reuse: 2, swap_nodes: 2, change_tool: 1, rename: 1,
}  # fmt: skip
