"""Computes the graph of an export: containers and their bodies, edges, blocks that never run, and upstream blocks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stepless.errors import InvalidRequest
from stepless.imports.graphs import closing, reached, upstream
from stepless.imports.sim.choices import RESPONSE, START, Choice, choices_of, exits_of
from stepless.imports.sim.export import NOTE, Block, Edge, Export
from stepless.imports.sim.findings import Report
from stepless.imports.sim.names import compared, ids_for
from stepless.limits import MAX_NESTED_CONTAINERS
from stepless.model.kind import ERROR

Parents = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Wire:
    """An edge of the document, by block keys."""

    source: str
    exit: str
    target: str
    edge: Edge


@dataclass(frozen=True, slots=True)
class Wiring:
    """The document's graph, by block keys. It contains only blocks that can run.

    `ids` has every block that is not a note. `bodies` maps a container (None: the workflow itself) to its blocks, in order.
    `into` maps a block to its incoming wires, in the order of edges. `choices` are the exits of conditions and routers.
    """

    ids: Mapping[str, str]
    parents: Parents
    bodies: Mapping[str | None, tuple[str, ...]]
    into: Mapping[str, tuple[Wire, ...]]
    choices: Mapping[str, tuple[Choice, ...]]
    above: Mapping[str, int]  # bits of all upstream blocks in the same body
    bits: Mapping[str, int]

    def runs(self, key: str) -> bool:
        return key in self.bits

    def is_upstream(self, key: str, of: str) -> bool:
        """Returns whether a path leads from one block to another of the same body."""
        return bool(self.above[of] & self.bits[key])

    def is_only_leaf(self, key: str) -> bool:
        """Returns whether a block is the only one of its body without outgoing edges. If so, its output is the output of each
        iteration."""
        body = self.bodies[self.parents[key]]
        followed = {wire.source for inner in body for wire in self.into[inner]}
        return [inner for inner in body if inner not in followed] == [key]


def wire(export: Export, report: Report) -> Wiring:
    """Returns the graph of an export. Reports a finding for everything that is left out of it."""
    blocks = {key: block for key, block in export.blocks.items() if block.type != NOTE}
    parents = _parents(blocks, report)
    ids = ids_for({key: block.name for key, block in blocks.items()})
    _report_duplicate_names(blocks.values(), report)
    leaving: dict[str, list[Edge]] = defaultdict(list)
    for edge in export.edges:
        leaving[edge.source].append(edge)
    choices = {key: choices_of(block, leaving[key], blocks, ids) for key, block in blocks.items()}
    wires: list[Wire] = []
    starts: dict[str, set[str]] = defaultdict(set)
    for edge in export.edges:
        fault, facts = _fault(edge, export, parents)
        exits = () if fault else exits_of(blocks[edge.source], edge, leaving[edge.source], choices[edge.source])
        if not fault and not exits:
            fault, facts = "sim_edge_exit_unknown", {"name": blocks[edge.source].name, "handle": edge.handle or "source"}
        elif not fault and (exits == (START,)) != (parents[edge.target] == edge.source):
            fault = "sim_edge_crosses_container"
        if fault:
            report.add(fault, edge.path, edge=edge.id, **facts)
        elif exits == (START,):
            starts[edge.source].add(edge.target)
        else:
            wires += [Wire(edge.source, exit, edge.target, edge) for exit in exits]
    wires = _without_cycles(wires, report)
    bodies = _bodies(blocks, parents, wires, starts, ids, report)
    return _linked(ids, parents, bodies, wires, choices)


def _parents(blocks: Mapping[str, Block], report: Report) -> Parents:
    parents: dict[str, str | None] = {}
    for key, block in blocks.items():
        inside = blocks.get(block.parent) if block.parent is not None else None
        if block.parent is not None and (inside is None or not inside.is_container):
            report.add("sim_unknown_parent", block.path, name=block.name)
            inside = None
        parents[key] = inside.key if inside is not None else None
    for key in blocks:
        chain, parent = [key], parents[key]
        while parent is not None and parent not in chain:
            chain.append(parent)
            parent = parents[parent]
            if parent is not None and len(chain) > MAX_NESTED_CONTAINERS:
                raise _too_deep(blocks[key])
        if parent is not None:
            report.add("sim_cyclic_parents", blocks[key].path, name=blocks[key].name)
            parents[key] = None
    return parents


def _too_deep(block: Block) -> InvalidRequest:
    message = f"`{block.name}` is inside more than {MAX_NESTED_CONTAINERS} containers"
    return InvalidRequest(message, code="sim_export_too_large", place=block.path, mend="nest them less deeply", status=413)


def _report_duplicate_names(blocks: Iterable[Block], report: Report) -> None:
    seen: set[str] = set()
    for block in blocks:
        if compared(block.name) in seen:
            report.add("sim_name_twice", block.path, name=block.name)
        seen.add(compared(block.name))


def _fault(edge: Edge, export: Export, parents: Parents) -> tuple[str, dict[str, Any]]:
    """The code and facts of the finding for an edge that cannot be converted; the code is empty if it can. Ignores the exit."""
    for end in (edge.source, edge.target):
        if end not in parents:
            return "sim_edge_end_unknown", {"name": export.blocks[end].name if end in export.blocks else end}
    source, target = export.blocks[edge.source], export.blocks[edge.target]
    if edge.source == edge.target:
        return "sim_edge_to_itself", {}
    if parents[edge.target] not in (parents[edge.source], edge.source):
        return "sim_edge_crosses_container", {}
    if target.is_trigger and parents[edge.target] is None:
        return "sim_edge_into_trigger", {}
    if source.role == RESPONSE and edge.handle != ERROR:
        return "sim_edge_after_end", {"name": source.name}
    return "", {}


def _without_cycles(wires: Sequence[Wire], report: Report) -> list[Wire]:
    """The wires without those that close a cycle."""
    places = closing([(wire.source, wire.target) for wire in wires])
    for place in places:
        report.add("sim_edge_in_circle", wires[place].edge.path, edge=wires[place].edge.id)
    return [wire for place, wire in enumerate(wires) if place not in set(places)]


def _bodies(
    blocks: Mapping[str, Block], parents: Parents, wires: Sequence[Wire], starts: Mapping[str, set[str]], ids: Mapping[str, str],
    report: Report,
) -> dict[str | None, tuple[str, ...]]:
    """The reachable blocks of every body: from the start of each container that runs, and from the triggers of the workflow."""
    inner: dict[str | None, list[str]] = defaultdict(list)
    for key, owner in parents.items():
        inner[owner].append(key)
    targets: dict[str, set[str]] = defaultdict(set)
    for wire in wires:
        targets[wire.source].add(wire.target)
    entered = {wire.target for wire in wires}
    bodies: dict[str | None, tuple[str, ...]] = {}
    owners: list[str | None] = [None]
    for owner in owners:
        roots = [key for key in inner[owner] if (blocks[key].is_trigger if owner is None else key in starts.get(owner, ()))]
        if not roots and inner[owner]:
            roots = [key for key in inner[owner] if key not in entered]
            if owner is None:
                report.add("sim_no_trigger", "")
            else:
                report.add("sim_container_start", blocks[owner].path, at=ids[owner], node=ids[owner])
        found = reached(roots, targets)
        bodies[owner] = tuple(key for key in inner[owner] if key in found)
        owners += [key for key in bodies[owner] if blocks[key].is_container]
    running = {key for body in bodies.values() for key in body}
    for key, block in blocks.items():
        if key not in running:
            report.add("sim_block_unreachable", block.path, name=block.name, type=block.type)
    return bodies


def _linked(
    ids: Mapping[str, str], parents: Parents, bodies: Mapping[str | None, tuple[str, ...]], wires: Sequence[Wire],
    choices: Mapping[str, tuple[Choice, ...]],
) -> Wiring:
    keys = [key for body in bodies.values() for key in body]
    into: dict[str, list[Wire]] = {key: [] for key in keys}
    for wire in wires:
        if wire.source in into and wire.target in into:
            into[wire.target].append(wire)
    bits, above = upstream({key: [wire.source for wire in into[key]] for key in keys})
    return Wiring(ids, parents, bodies, {key: tuple(wires) for key, wires in into.items()}, choices, above, bits)
