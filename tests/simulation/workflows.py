"""The workflows of the simulated world, in every shape, and the result of each of their nodes, drawn from a seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from stepless.compile import compile_document, features_of
from stepless.model.graph import all_nodes
from stepless.nodes import KINDS

Nodes = dict[str, dict[str, Any]]
ROUTES = ("x", "y")


@dataclass
class Scenario:
    """A document and the script of its nodes. `children` are published beside it. `timed`: a status may depend on how long
    things take, so that only the invariants are checked and not the outcome."""

    document: dict[str, Any]
    script: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    children: list[dict[str, Any]] = field(default_factory=list)
    timed: bool = False


def call(after: Any = None, **more: Any) -> dict[str, Any]:
    node: dict[str, Any] = {"type": "function", "with": {"call": "test.echo"}, "timeout_ms": 30_000, **more}
    return {**node, "after": after} if after is not None else node


def ask(after: Any = None, timeout: str | None = None) -> dict[str, Any]:
    node: dict[str, Any] = {"type": "approval", "with": {"message": "Go on?", **({"timeout": timeout} if timeout else {})}}
    return {**node, "after": after} if after is not None else node


RETRY = {"attempts": 3, "backoff_ms": 400, "retry_on": ["timeout", "provider_error", "rate_limit"]}


def chain(random: Random) -> Nodes:
    return {"a": call(), "b": call("a", retry=RETRY), "c": call("b"), "d": call(["c", "b.error"], join={"mode": "any"})}


def fan(random: Random) -> Nodes:
    width = random.randint(2, 8)
    branches = {f"b{n}": call("a") for n in range(width)}
    rule = random.choice([{"mode": "all"}, {"mode": "all", "errors": "best-effort"}, {"mode": "count", "count": 2}])
    return {"a": call(), **branches, "z": call(list(branches), join=rule)}


def losers(random: Random) -> Nodes:
    join = {"mode": "any", "losers": "cancel"}
    branches = {"b": call("a"), "c": ask("a"), "d": call("a"), "e": call("d")}
    return {"a": call(), **branches, "z": call(["b", "c.approved", "e"], join=join), "end": ask("z")}


def loop_of_questions(random: Random) -> Nodes:
    body = {"nodes": {"work": call(), "ask": ask("work"), "then": call("ask.approved"), "no": call("ask.rejected")}}
    return {"a": call(), "l": {"type": "loop", "after": "a", "with": {"times": 3, "body": body}}, "z": call("l")}


def window(random: Random) -> Nodes:
    body = {"nodes": {"w": call(retry=RETRY), "v": call("w")}}
    on_error = random.choice(["continue", "drop"])
    config = {"items": [1, 2, 3, 4, 5, 6, 7], "window": 3, "on_error": on_error, "body": body}
    return {"p": {"type": "parallel", "with": config}, "z": call("p")}


def waits(random: Random) -> Nodes:
    return {
        "a": call(),
        "w": {"type": "wait", "after": "a", "with": {"for": random.choice(["1s", "20s", "10m"])}},
        "q": ask("a", timeout=random.choice(["5s", "3m"])),
        "late": call("q.timeout"),
        "yes": call("q.approved"),
        "z": call(["w", "a"]),
    }


def nested(random: Random) -> Nodes:
    inner = {"nodes": {"x": call(), "ask": ask("x"), "y": call(["ask.approved", "ask.rejected"])}}
    outer = {"nodes": {"m": {"type": "loop", "with": {"times": 2, "body": inner}}, "n": call("m")}}
    return {"p": {"type": "parallel", "with": {"branches": 2, "body": outer}}, "z": call("p")}


def early(random: Random) -> Nodes:
    return {"a": call(), "b": call("a"), "ask": ask("b"), "two": ask("ask.approved"), "z": call(["two.approved", "ask.rejected"])}


def once(random: Random) -> Nodes:
    return {"a": call(), "b": call("a", delivery="at_most_once"), "c": call(["b"]), "d": call("b.error"), "e": call("a")}


def halting(random: Random) -> Nodes:
    wait = {"type": "wait", "after": "a", "with": {"for": "30s"}}
    return {"a": call(), "b": call("a"), "c": call("a"), "ask": ask("a"), "w": wait, "d": call("c")}


def parent(random: Random) -> Nodes:
    child = {"type": "workflow", "with": {"workflow": "child", "inputs": {"n": 1}}, "after": "a", "timeout_ms": 3_600_000}
    return {"a": call(), "k": child, "m": dict(child), "z": call(["k", "m"], join={"errors": "best-effort"})}


def losing_child(random: Random) -> Nodes:
    child = {"type": "workflow", "with": {"workflow": "child", "inputs": {"n": 1}}, "after": "a", "timeout_ms": 3_600_000}
    join = {"mode": "any", "losers": "cancel"}
    return {"a": call(), "k": child, "b": call("a"), "z": call(["k", "b"], join=join), "end": ask("z")}


def bulky(random: Random) -> Nodes:
    """Decisions that exceed one batch, before an effect."""
    value = {"value": ["<run.id>", "<inputs.input.ballast>"]}
    values = {f"t{n}": {"type": "transform", "after": "a", "with": value} for n in range(14)}
    return {"a": {"type": "manual"}, **values, "z": call(list(values)), "y": call("a")}


def crowd(random: Random) -> Nodes:
    """More concurrent answers than are marked individually."""
    body = {"nodes": {"ask": ask()}}
    return {"p": {"type": "parallel", "with": {"branches": 24, "window": 24, "body": body}}, "z": call("p")}


def heavy(random: Random) -> Nodes:
    """A value that is stored beside the log, read again after a question, and used to choose a route."""
    cases = {"whole": "len(<t>) == 3", "no": "else"}
    return {
        "t": call(),
        "ask": ask("t"),
        "c": {"type": "condition", "after": ["ask.approved", "ask.rejected"], "with": {"cases": cases}},
        "y": call("c.whole"),
        "n": call("c.no"),
    }


def flow(random: Random) -> Nodes:
    """What compiled source uses: a loop that keeps its writes, not its results, a join of every branch, strict reads, `fail`."""
    body = {
        "w": {"type": "set", "with": {"variables": {"n": "{{ <workflow.n!> + 1 }}"}}},
        "x": call("w", retry=random.choice([RETRY, {"attempts": 1}])),
    }
    loop = {"times": 3, "results": "none", "keep_writes": random.choice([True, False]), "body": {"nodes": body}}
    return {
        "a": call(),
        "l": {"type": "loop", "after": "a", "with": loop},
        "n": {"type": "transform", "after": ["l", "l.error"], "with": {"value": "{{ text(<workflow.n!>) }}"}},
        "b": call("a"),
        "h": call("b.error"),
        "every": call(["n", "b"], join={"mode": "every"}),
        "again": {"type": "fail", "after": "h", "with": {"error": "<b.error!>"}},
        "z": call(["every", "again.error"], join={"mode": "any"}),
    }


def again(random: Random) -> Nodes:
    """Containers that are tried again, inside each other, with questions in them."""
    inner = {"nodes": {"x": call(), "ask": ask("x"), "y": call(["ask.approved", "ask.rejected"])}}
    loop = {"type": "loop", "retry": {"attempts": 2, "backoff_ms": 400}, "with": {"times": 2, "body": inner}}
    outer = {"nodes": {"l": loop, "n": call("l", retry=random.choice([RETRY, {"attempts": 1}]))}}
    config = {"branches": 2, "window": random.choice([1, 2]), "body": outer}
    return {"a": call(), "p": {"type": "parallel", "after": "a", "retry": RETRY, "with": config}, "z": call(["p", "p.error"])}


CHILD = {"id": "child", "nodes": {"s": {"type": "manual"}, "f": call("s"), "ask": ask("f"), "g": call("ask.approved")}}


def wild(random: Random) -> Nodes:
    """A random graph: routers, error edges, every join mode, containers, questions."""
    return _body(random, 0, "")


def _body(random: Random, depth: int, prefix: str) -> Nodes:
    nodes: Nodes = {}
    exits: dict[str, tuple[str, ...]] = {}
    for number in range(random.randint(1, 7 if depth == 0 else 3)):
        name = f"{prefix}n{number}"
        node, out = _node(random, depth, name)
        sources = random.sample(sorted(exits), random.randint(0, min(3, len(exits))))
        if sources:
            node["after"] = [f"{source}.{random.choice(exits[source])}" for source in sources]
            node["join"] = _join(random, len(sources))
            node["on_parent_failure"] = random.choice(["skip", "skip", "propagate", "substitute_default"])
        nodes[name], exits[name] = node, out
    return nodes


def _join(random: Random, branches: int) -> dict[str, Any]:
    rule: dict[str, Any] = {"mode": random.choice(["all", "any", "count"])}
    if rule["mode"] == "count":
        rule["count"] = random.randint(1, branches)
    rule["errors"] = random.choice(["fail-fast", "collect-all", "best-effort"])
    return {**rule, "min_success": random.randint(1, branches)} if rule["errors"] == "best-effort" else rule


def _node(random: Random, depth: int, name: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    match random.choice(["call", "call", "call", "router", "ask", "pure", "wait", *(["loop", "parallel"] if depth < 2 else [])]):
        case "router":
            routes = dict.fromkeys(ROUTES, "one of them")
            return {"type": "router", "with": {"routes": routes}, "timeout_ms": 30_000}, (*ROUTES, "error")
        case "ask":
            return ask(), ("approved", "rejected", "error")
        case "pure":
            return {"type": "transform", "with": {"value": {"made": name}}}, ("source", "error")
        case "wait":
            return {"type": "wait", "with": {"for": random.choice(["1s", "5s", "90s"])}}, ("source", "error")
        case "loop" | "parallel" as kind:
            counted = "times" if kind == "loop" else "branches"
            on_error = random.choice(["continue", "drop"])
            body = {"nodes": _body(random, depth + 1, f"{name}_")}
            config = {counted: random.randint(0, 3), "on_error": on_error, "body": body}
            return {"type": kind, "with": config}, ("source", "error")
    return call(retry=random.choice([RETRY, {"attempts": 1}])), ("source", "error")


# name → (its nodes, whether a status may depend on time, more of the document)
SHAPES: Mapping[str, tuple[Callable[[Random], Nodes], bool, dict[str, Any]]] = {
    "chain": (chain, False, {}),
    "fan": (fan, False, {}),
    "losers": (losers, True, {}),
    "loop-of-questions": (loop_of_questions, False, {}),
    "window": (window, False, {}),
    "waits": (waits, True, {}),
    "nested": (nested, False, {}),
    "early": (early, False, {}),
    "once": (once, False, {}),
    "halting": (halting, True, {"on_failure": "halt"}),
    "parent": (parent, False, {}),
    "losing-child": (losing_child, True, {}),
    "bulky": (bulky, False, {}),
    "crowd": (crowd, False, {}),
    "heavy": (heavy, False, {}),
    "flow": (flow, False, {"variables": {"n": 0}}),
    "hurried": (early, True, {"timeout": "20s"}),
    "again": (again, False, {}),
    "wild": (wild, False, {}),
    "wilder": (wild, False, {"on_failure": "isolate"}),
}
WEIGHTS = {"bulky": 0.3, "crowd": 0.2, "heavy": 0.5, "wild": 3, "wilder": 1}


def draw_scenario(random: Random) -> Scenario:
    names = list(SHAPES)
    (shape,) = random.choices(names, [WEIGHTS.get(name, 1) for name in names])
    build, timed, more = SHAPES[shape]
    scenario = Scenario({"id": shape, "nodes": build(random), **more}, timed=timed)
    if shape in ("parent", "losing-child"):
        scenario.children.append(CHILD)
    if shape == "heavy":
        scenario.script["t"] = [{"ok": {"ms": 5, "value": ["x" * 14_000] * 3}}]
    for document in (scenario.document, *scenario.children):
        for name, node in every_node(document["nodes"]):
            if node["type"] == "function" and name not in scenario.script:
                scenario.script[name] = [_outcome(random) for _ in range(3)]
            elif node["type"] == "router":
                scenario.script[name] = [{"ok": {"ms": random.choice([1, 300]), "handle": random.choice(ROUTES)}}]
            elif node["type"] == "approval":
                scenario.script[name] = [{"human": {"handle": random.choice(["approved", "approved", "rejected"])}}]
    return scenario


def _outcome(random: Random) -> dict[str, Any]:
    ms = random.choice([1, 5, 200, 1_500, 1_500, 12_000])
    if random.random() < 0.2:
        cause = random.choice(["provider_error", "config", "timeout", "rate_limit"])
        return {"fail": {"ms": ms, "cause": cause, **({"retry_after_ms": 3_000} if cause == "rate_limit" else {})}}
    return {"ok": {"ms": ms}}


def every_node(nodes: Nodes) -> list[tuple[str, dict[str, Any]]]:
    """Every node of every level, outer ones first."""
    found = []
    for name, node in nodes.items():
        found.append((name, node))
        if "body" in node.get("with", {}):
            found += every_node(node["with"]["body"]["nodes"])
    return found


def features(document: Mapping[str, Any]) -> frozenset[str]:
    """What the stored form of a document names, as publishing it finds it."""
    whole = any(node.whole for node in all_nodes(compile_document(document, KINDS).root))
    return features_of(document, limited=False, enclosing=whole)
