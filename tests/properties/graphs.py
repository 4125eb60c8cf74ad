"""Random workflows for the property tests: routers, error edges, every join mode, containers, pauses."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

ROUTES = ("x", "y")
ECHO: dict[str, Any] = {"type": "function", "with": {"call": "test.echo"}}


@st.composite
def joins(draw: st.DrawFn, branches: int) -> dict[str, Any]:
    """A join rule whose verdict does not depend on time."""
    rule: dict[str, Any] = {"mode": draw(st.sampled_from(["all", "every", "any", "count"]))}
    if rule["mode"] == "count":
        rule["count"] = draw(st.integers(1, branches))
    rule["errors"] = draw(st.sampled_from(["fail-fast", "collect-all", *(["best-effort"] if rule["mode"] != "every" else [])]))
    if rule["errors"] == "best-effort":
        rule["min_success"] = draw(st.integers(1, branches))
    return rule


@st.composite
def bodies(draw: st.DrawFn, depth: int = 0, prefix: str = "") -> dict[str, Any]:
    """A graph level: nodes in topological order, each with edges from earlier ones."""
    nodes: dict[str, Any] = {}
    exits: dict[str, tuple[str, ...]] = {}
    for number in range(draw(st.integers(1, 7 if depth == 0 else 3))):
        name = f"{prefix}n{number}"
        node, out = draw(_node(depth, name))
        sources = draw(st.lists(st.sampled_from(sorted(exits)), max_size=3, unique=True)) if exits else []
        if sources:
            node["after"] = [f"{source}.{draw(st.sampled_from(exits[source]))}" for source in sources]
            node["join"] = draw(joins(len(sources)))
            node["on_parent_failure"] = draw(st.sampled_from(["skip", "skip", "propagate", "substitute_default"]))
        nodes[name] = node
        exits[name] = out
    return {"nodes": nodes}


@st.composite
def _node(draw: st.DrawFn, depth: int, name: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    kinds = ["function", "function", "function", "router", "approval", "transform", "fail"]
    kind = draw(st.sampled_from(kinds + (["loop", "parallel"] if depth < 2 else [])))
    match kind:
        case "router":
            return {"type": "router", "with": {"routes": dict.fromkeys(ROUTES, "one of them")}}, (*ROUTES, "error")
        case "approval":
            return {"type": "approval", "with": {"message": "Go on?"}}, ("approved", "rejected", "error")
        case "transform":
            return {"type": "transform", "with": {"value": {"made": name}}}, ("source", "error")
        case "fail":
            return {"type": "fail", "with": {"code": "given_up"}}, ("error",)
        case "loop" | "parallel":
            counted = "times" if kind == "loop" else "branches"
            container = {
                counted: draw(st.integers(0, 3)),
                "on_error": draw(st.sampled_from(["continue", "drop"])),
                "body": draw(bodies(depth + 1, f"{name}_")),
            }
            if kind == "loop":
                container |= {"results": draw(st.sampled_from(["list", "none"])), "keep_writes": draw(st.booleans())}
            return {"type": kind, "with": container}, ("source", "error")
    return dict(ECHO), ("source", "error")


def inner_nodes(nodes: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Every node of every level."""
    found = []
    for name, node in nodes.items():
        found.append((name, node))
        if "body" in node.get("with", {}):
            found += inner_nodes(node["with"]["body"]["nodes"])
    return found


@st.composite
def scenarios(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """A document, and what every node of it comes to: an outcome that does not depend on time."""
    body = draw(bodies())
    document = {"id": "random", "nodes": body["nodes"]}
    outcomes: dict[str, Any] = {}
    for name, node in inner_nodes(body["nodes"]):
        match node["type"]:
            case "function":
                outcomes[name] = draw(st.sampled_from([{"ok": {}}, {"ok": {}}, {"fail": {"cause": "config"}}]))
            case "router":
                outcomes[name] = {"ok": {"handle": draw(st.sampled_from(ROUTES))}}
            case "approval":
                outcomes[name] = {"ok": {"handle": draw(st.sampled_from(["approved", "rejected"]))}}
    return document, outcomes
