"""Random drafts of a workflow: edits, pins and requests of a person who wants to cause what the workflow does not do."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from drafted_workflows import EXITS, INPUTS, Node, a_node, connect, edge_from, params, set_join


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
        if source in nodes and EXITS.get(nodes[source]["type"], ("source",)):
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
