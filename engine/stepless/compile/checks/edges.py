"""Checks the edges of each body."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stepless.compile.order import cycles
from stepless.compile.parsed import Parsed, ParsedBody, ParsedEdge, ParsedNode
from stepless.compile.suggest import did_you_mean, listed, nearest
from stepless.limits import MAX_SHOWN_IDS
from stepless.model.declaration.document import ConditionView
from stepless.model.findings import Change, Finding, Fix, Severity, use
from stepless.model.kind import ERROR, Nature

_REMOVE: Final = Fix(Change.REMOVE, "Remove the edge")


def unknown_ends(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    for edge in body.edges:
        for end in dict.fromkeys((edge.source, edge.target)):
            if end in body.nodes or end in body.unreadable:
                continue
            if next(parsed.named(end), None) is not None:
                message = f"`{end}` is in another body, and edges cannot cross the border of a body"
                mend, fix = "Connect the container instead.", None
            else:
                message, mend = f"there is no node `{end}`", did_you_mean(end, body.nodes, what="nodes")
                fix = _connect(edge, end, nearest(end, body.nodes))
            yield _finding("unknown_node", edge, message, mend, fix=fix)


def _connect(edge: ParsedEdge, end: str, name: str | None) -> Fix | None:
    """Another node for an unknown end. Where both ends are the unknown one, two fixes would be needed."""
    if edge.source == edge.target or name is None:
        return None
    return use(name, change=Change.CONNECT, former="source" if end == edge.source else "target")


def self_edges(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    for edge in body.edges:
        if edge.source == edge.target and edge.source in body.nodes:
            yield _finding("self_edge", edge, f"`{edge.source}` has an edge to itself", "Use a loop to repeat something.")


def edges_into_entries(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    for edge in body.edges:
        target = body.nodes.get(edge.target)
        if target is not None and target.kind is not None and target.kind.nature is Nature.ENTRY:
            message = f"`{edge.target}` is a {target.kind.name}: runs start there, so no edge may lead into it"
            yield _finding("edge_into_entry", edge, message, "Remove the edge.", fix=_REMOVE)


def unknown_exits(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    for edge in body.edges:
        source = body.nodes.get(edge.source)
        if source is not None and source.exits is not None and edge.handle != ERROR and edge.handle not in source.exits:
            yield _unknown_exit(edge, source)


def _unknown_exit(edge: ParsedEdge, source: ParsedNode) -> Finding:
    if not source.exits:
        message = f"nothing leaves `{source.id}`: {source.document.type} has no exit"
        return _finding("no_exit", edge, message, f"Only `{source.id}.error` can be used.")
    exits = source.all_exits
    message = f"`{source.id}` has no exit `{edge.handle}`; it has {listed(exits)}"
    mend = did_you_mean(edge.handle, exits) or f"Write `{source.id}.{exits[0]}`, for example."
    fix = use(nearest(edge.handle, exits), change=Change.EXIT)
    return _finding("unknown_exit", edge, message, mend, fix=fix)


def conditions(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    for edge in body.edges:
        condition = edge.condition
        if condition is not None and len(condition) != 1:
            known = listed(ConditionView.fields)
            yield _finding("bad_condition", edge, f"a condition has exactly one of {known}", "Keep the one that you mean.")


def doubled_edges(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    seen: set[tuple[str, str, str, str, str]] = set()
    for edge in body.edges:
        key = edge.written.key if edge.written is not None else ""
        same = (edge.source, edge.handle, edge.target, edge.param, key)
        if same in seen and edge.condition is None:
            message = f"the edge from `{edge.source}` to `{edge.target}` exists twice, so its value is merged twice"
            yield _finding("doubled_edge", edge, message, "Keep one of them.", Severity.WARNING, _REMOVE)
        seen.add(same)


def circles(parsed: Parsed, body: ParsedBody) -> Iterator[Finding]:
    for cycle in cycles(body.successors, body.predecessors):
        nodes = list(body.order)
        ids = [nodes[place].id for place in cycle]
        shown = ids if len(ids) <= MAX_SHOWN_IDS else [*ids[:MAX_SHOWN_IDS], "…"]
        message = "these nodes form a cycle: " + " → ".join([*shown, ids[0]])
        first = nodes[min(cycle)]
        yield Finding("cycle", first.path, message, "Break it, or use a loop to repeat something.", first.id)


def _finding(
    code: str, edge: ParsedEdge, message: str, mend: str, severity: Severity = Severity.ERROR, fix: Fix | None = None,
) -> Finding:
    return Finding(code, edge.path, message, mend, edge.target, edge.name, severity, fix)
