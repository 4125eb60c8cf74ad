"""Computes the graph of an export: bodies of loops, edges, nodes that never run, and upstream nodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from stepless.errors import InvalidRequest
from stepless.imports.graphs import closing, reached, upstream
from stepless.imports.n8n.export import MAIN, NOTE, Block, Edge, Export
from stepless.imports.n8n.findings import Report
from stepless.imports.sim.names import exits_for, ids_for
from stepless.limits import MAX_NESTED_CONTAINERS
from stepless.model.json import JSON
from stepless.model.kind import ERROR, SOURCE

MET: Final = "then"
NOT_MET: Final = "otherwise"
START: Final = "start"  # from a loop to the first nodes of its body: not an edge of the document
CHOICES: Final = ("if", "switch", "filter")
_OLD_LOOP: Final = 3  # the version in which the two outputs of a loop changed places


@dataclass(frozen=True, slots=True)
class Wire:
    """An edge of the document, by names of nodes."""

    source: str
    exit: str
    target: str
    edge: Edge


@dataclass(frozen=True, slots=True)
class Wiring:
    """The document's graph, by names of nodes. It contains only nodes that can run.

    `parents` maps a node to the loop whose body it is in. `bodies` maps a loop (None: the workflow itself) to its nodes, in
    order. `into` maps a node to its incoming wires. `starts` are the first nodes of bodies. `parts` maps a node to what n8n
    connects to it as a part: models, tools, memory. `closed` are the loops to which a path leads back.
    """

    ids: Mapping[str, str]
    parents: Mapping[str, str | None]
    bodies: Mapping[str | None, tuple[str, ...]]
    into: Mapping[str, tuple[Wire, ...]]
    starts: frozenset[str]
    parts: Mapping[str, tuple[Edge, ...]]
    closed: frozenset[str]
    above: Mapping[str, int]
    bits: Mapping[str, int]

    def runs(self, name: str) -> bool:
        return name in self.bits

    def is_upstream(self, name: str, of: str) -> bool:
        """Returns whether a path leads from one node to another of the same body."""
        return bool(self.above[of] & self.bits[name])


def exits_of_switch(block: Block) -> list[str]:
    """Returns the exits of a Switch by the number of its output; the last one is taken if no rule is true."""
    rules = block.params.get("rules")
    entries = (rules.get("values") or rules.get("rules")) if isinstance(rules, dict) else None
    titles = [_title(entry, place) for place, entry in enumerate(entries if isinstance(entries, list) else [])]
    if block.params.get("mode") == "expression":
        count = block.params.get("numberOutputs")
        titles = [f"output-{place}" for place in range(min(count, 100) if isinstance(count, int) else 4)]
    elif not isinstance(block.params.get("rules"), dict) or block.version < _OLD_LOOP:
        titles = [f"output-{place}" for place in range(max(4, len(titles)))]
    return exits_for([*titles, NOT_MET])


def _title(rule: JSON, place: int) -> str:
    key = rule.get("outputKey") if isinstance(rule, dict) and rule.get("renameOutput") is True else None
    return str(key) if key else f"output-{place}"


def _exits(block: Block, output: int) -> tuple[str, ...]:
    """The exits by which a connection leaves a node, or START; none if it has no such output."""
    if block.type == "if":
        own = [MET, NOT_MET]
    elif block.type == "filter":
        own = [MET]
    elif block.type == "switch":
        own = exits_of_switch(block)
    elif block.is_loop:
        own = [SOURCE, START] if block.version >= _OLD_LOOP else [START, SOURCE]
    else:
        own = [SOURCE]
    if output < len(own):
        both = block.on_error == "continueRegularOutput" and own == [SOURCE]
        return (own[output], ERROR) if both else (own[output],)
    return (ERROR,) if output == len(own) and block.on_error == "continueErrorOutput" else ()


def wire(export: Export, report: Report) -> Wiring:
    """Returns the graph of an export. Reports a finding for everything that is left out of it."""
    parts: dict[str, list[Edge]] = defaultdict(list)
    for edge in export.edges:
        if edge.sort != MAIN and edge.source in export.blocks and edge.target in export.blocks:
            parts[edge.target].append(edge)
    inner = {edge.source for edges in parts.values() for edge in edges}
    blocks = {name: block for name, block in export.blocks.items() if block.type != NOTE and name not in inner}
    ids = ids_for({name: name for name in blocks})
    wires = [wire for edge in export.edges for wire in _wires(edge, blocks, inner, report)]
    parents, closed = _parents(blocks, wires)
    wires = _within(wires, parents, blocks, report)
    starts = frozenset(wire.target for wire in wires if wire.exit == START)
    wires = _without_cycles([wire for wire in wires if wire.exit != START], report)
    bodies = _bodies(blocks, parents, wires, starts, report)
    _report_parts(export, parts, bodies, ids, report)
    return _linked(ids, parents, bodies, wires, starts, {name: tuple(edges) for name, edges in parts.items()}, closed)


def _wires(edge: Edge, blocks: Mapping[str, Block], inner: set[str], report: Report) -> list[Wire]:
    if edge.sort != MAIN and (edge.source in inner or edge.source not in blocks):
        return []  # a part of its target
    missing = next((end for end in (edge.source, edge.target) if end not in blocks), None)
    if missing is not None:
        report.add("n8n_edge_unreadable", edge.path, edge=edge.id, detail=f"`{missing}` is not a node of the workflow")
        return []
    if blocks[edge.target].is_trigger:
        report.add("n8n_edge_into_trigger", edge.path, edge=edge.id)
        return []
    exits = _exits(blocks[edge.source], edge.output)
    if not exits:
        report.add("n8n_edge_exit_unknown", edge.path, edge=edge.id, name=edge.source, output=edge.output)
    return [Wire(edge.source, exit, edge.target, edge) for exit in exits]


# -- loops ------------------------------------------------------------------------------------------------------------


def _parents(blocks: Mapping[str, Block], wires: Sequence[Wire]) -> tuple[dict[str, str | None], frozenset[str]]:
    """The innermost loop of each node, and the loops that are closed. The body of a loop is what can be reached from its start
    without passing through it, except what can be reached from outside as well."""
    targets: dict[str, set[str]] = defaultdict(set)
    firsts: dict[str, set[str]] = defaultdict(set)
    lasts: dict[str, set[str]] = defaultdict(set)  # where the run goes on after a loop
    for wire in wires:
        targets[wire.source].add(wire.target)
        (firsts if wire.exit == START else lasts)[wire.source].add(wire.target)
    loops = [name for name, block in blocks.items() if block.is_loop]
    inside: dict[str, set[str]] = {}
    closed = set[str]()
    for loop in loops:
        body = reached(firsts[loop] - {loop}, targets, loop)
        if loop in firsts[loop] or any(loop in targets[name] for name in body):
            closed.add(loop)
        roots = {name for name, block in blocks.items() if block.is_trigger}
        inside[loop] = body - reached((roots | lasts[loop]) - {loop}, targets, loop)
    parents: dict[str, str | None] = {}
    for name in blocks:
        around = [loop for loop in loops if name in inside[loop]]
        parents[name] = min(around, key=lambda loop: len(inside[loop]), default=None)
    for name in blocks:
        _check_depth(name, parents)
    return parents, frozenset(closed)


def _check_depth(name: str, parents: dict[str, str | None]) -> None:
    chain, parent = 0, parents[name]
    seen = {name}
    while parent is not None:
        chain += 1
        if parent in seen:  # two loops that contain each other
            parents[name] = None
            return
        if chain > MAX_NESTED_CONTAINERS:
            message = f"`{name}` is inside more than {MAX_NESTED_CONTAINERS} loops"
            raise InvalidRequest(message, code="n8n_export_too_large", mend="nest them less deeply", status=413)
        seen.add(parent)
        parent = parents[parent]


def _within(
    wires: Sequence[Wire], parents: Mapping[str, str | None], blocks: Mapping[str, Block], report: Report
) -> list[Wire]:
    """The wires that stay within one body, or start one. Those that lead back to the loop of a body end an iteration there."""
    kept = []
    for wire in wires:
        if wire.exit == START:
            fits = parents[wire.target] == wire.source
            ends = wire.target == wire.source
        else:
            fits = parents[wire.source] == parents[wire.target] and wire.source != wire.target
            ends = parents[wire.source] == wire.target
        if fits:
            kept.append(wire)
        elif not ends:
            report.add("n8n_edge_crosses_loop", wire.edge.path, edge=wire.edge.id)
    return kept


def _without_cycles(wires: Sequence[Wire], report: Report) -> list[Wire]:
    """The wires without those that close a cycle."""
    places = closing([(wire.source, wire.target) for wire in wires])
    for place in places:
        report.add("n8n_edge_in_circle", wires[place].edge.path, edge=wires[place].edge.id)
    return [wire for place, wire in enumerate(wires) if place not in set(places)]


# -- bodies -----------------------------------------------------------------------------------------------------------


def _bodies(
    blocks: Mapping[str, Block], parents: Mapping[str, str | None], wires: Sequence[Wire], starts: frozenset[str], report: Report
) -> dict[str | None, tuple[str, ...]]:
    """The reachable nodes of every body: from the first nodes of each loop that runs, and from the triggers of the workflow."""
    targets: dict[str, set[str]] = defaultdict(set)
    for wire in wires:
        targets[wire.source].add(wire.target)
    entered = {wire.target for wire in wires}
    bodies: dict[str | None, tuple[str, ...]] = {}
    owners: list[str | None] = [None]
    for owner in owners:
        inner = [name for name in blocks if parents[name] == owner]
        roots = [name for name in inner if (blocks[name].is_trigger if owner is None else name in starts)]
        if not roots and inner and owner is None:
            roots = [name for name in inner if name not in entered]
            report.add("n8n_no_trigger", "")
        found = reached(roots, targets)
        bodies[owner] = tuple(name for name in inner if name in found)
        owners += [name for name in bodies[owner] if blocks[name].is_loop]
    running = {name for body in bodies.values() for name in body}
    for name, block in blocks.items():
        if name not in running:
            report.add("n8n_node_unreachable", block.path, name=name, type=block.type)
    return bodies


def _report_parts(
    export: Export, parts: Mapping[str, Sequence[Edge]], bodies: Mapping[str | None, tuple[str, ...]], ids: Mapping[str, str],
    report: Report,
) -> None:
    """Tells of every part of a node that runs, of parts of parts, and of parts of what does not run."""
    told = set[str]()
    for owner in [name for body in bodies.values() for name in body]:
        seen, left = set[str](), [owner]
        while left:
            for edge in parts.get(left.pop(), ()):
                if edge.source not in seen:
                    seen.add(edge.source)
                    left.append(edge.source)
                    block = export.blocks[edge.source]
                    report.add("n8n_part_of_node", block.path, at=ids[owner], name=block.name, type=block.type, node=ids[owner])
        told |= seen
    for name in dict.fromkeys(edge.source for edges in parts.values() for edge in edges):
        if name not in told:
            report.add("n8n_node_unreachable", export.blocks[name].path, name=name, type=export.blocks[name].type)


def _linked(
    ids: Mapping[str, str], parents: Mapping[str, str | None], bodies: Mapping[str | None, tuple[str, ...]],
    wires: Sequence[Wire], starts: frozenset[str], parts: Mapping[str, tuple[Edge, ...]], closed: frozenset[str],
) -> Wiring:
    names = [name for body in bodies.values() for name in body]
    into: dict[str, list[Wire]] = {name: [] for name in names}
    for wire in wires:
        if wire.source in into and wire.target in into:
            into[wire.target].append(wire)
    bits, above = upstream({name: [wire.source for wire in into[name]] for name in names})
    return Wiring(ids, parents, bodies, {name: tuple(into[name]) for name in names}, starts, parts, closed, above, bits)
