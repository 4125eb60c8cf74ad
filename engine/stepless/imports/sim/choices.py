"""Finds the exits of conditions and routers, and the exit by which each edge of the export leaves its node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from stepless.imports.sim.export import Block, Edge
from stepless.imports.sim.names import exits_for
from stepless.imports.sim.values import Unreadable, read_list
from stepless.limits import MAX_CASES
from stepless.model.json import JSON
from stepless.model.kind import ERROR, SOURCE

CONDITION: Final = "condition"
ROUTERS: Final = ("router", "router_v2")
APPROVAL: Final = "human_in_the_loop"
RESPONSE: Final = "response"
START: Final = "start"  # from a container to the first nodes of its body: not an edge of the document, but an entry of the body

_PLAIN_HANDLES: Final = (None, "", "source", "default")
_SUCCESSES: Final = ("source", "default")
_OF_CHOICES: Final = ("condition-", "router-")
_CONTAINER_STARTS: Final = ("loop-start-source", "parallel-start-source")


@dataclass(frozen=True, slots=True)
class Choice:
    """One case or route: the `handle` by which edges name it in Sim, its `exit` in the document, its title and its text."""

    handle: str
    exit: str
    title: str
    text: str


def choices_of(block: Block, edges: Sequence[Edge], blocks: Mapping[str, Block], ids: Mapping[str, str]) -> tuple[Choice, ...]:
    """Returns the cases of a condition or the routes of a router, in order; none for other blocks. `edges` are the block's
    outgoing edges."""
    if block.role == CONDITION:
        return _listed(block.fields.get("conditions"), "condition-")
    if block.role in ROUTERS and "routes" in block.fields:
        return _listed(block.fields["routes"], "router-")
    if block.role in ROUTERS:
        targets = dict.fromkeys(edge.target for edge in edges if edge.handle != ERROR and edge.target in ids)
        return tuple(Choice(f"router-{key}", ids[key], blocks[key].name, blocks[key].name) for key in list(targets)[:MAX_CASES])
    return ()


def _listed(value: JSON, prefix: str) -> tuple[Choice, ...]:
    try:
        entries = read_list(value if value is not None else [])[:MAX_CASES]
    except Unreadable:
        return ()
    titles = [str(entry.get("title") or entry.get("label") or f"case {place + 1}") for place, entry in enumerate(entries)]
    texts = [entry.get("value", entry.get("condition")) for entry in entries]
    return tuple(
        Choice(f"{prefix}{entry.get('id')}", exit, title, text if isinstance(text, str) else "")
        for entry, exit, title, text in zip(entries, exits_for(titles), titles, texts, strict=True)
    )


def exits_of(block: Block, edge: Edge, edges: Sequence[Edge], choices: Sequence[Choice]) -> tuple[str, ...]:
    """Returns the exits by which an edge leaves its block, or START; none if the block has no such exit. `edges` are all outgoing
    edges of the block."""
    if edge.handle == ERROR:
        return (ERROR,)
    if block.is_container:
        return _of_container(edge)
    if block.role == CONDITION or block.role in ROUTERS:
        return _of_choice(block, edge, edges, choices)
    if edge.handle is not None and edge.handle.startswith(_OF_CHOICES):
        return ()  # in Sim, the exit of a case or a route, which this block never chooses
    success = "approved" if block.role == APPROVAL else SOURCE
    if edge.handle not in _SUCCESSES and any(other.handle == ERROR for other in edges):
        return (success, ERROR)  # in Sim, an edge with an unknown handle is also taken after a handled failure
    return (success,)


def _of_container(edge: Edge) -> tuple[str, ...]:
    if edge.handle in _CONTAINER_STARTS:
        return (START,)
    return () if edge.handle is not None and edge.handle.startswith(_OF_CHOICES) else (SOURCE,)


def _of_choice(block: Block, edge: Edge, edges: Sequence[Edge], choices: Sequence[Choice]) -> tuple[str, ...]:
    handle = edge.handle
    if handle in _PLAIN_HANDLES or not handle:
        if block.role == CONDITION:  # the n-th edge leaves by the n-th case
            place = [other for other in edges if other.handle != ERROR].index(edge)
            return (choices[place].exit,) if place < len(choices) else ()
        handle = f"router-{edge.target}"
    if not handle.startswith(_OF_CHOICES):
        return tuple(dict.fromkeys(choice.exit for choice in choices))  # it names no choice: taken after every choice
    return tuple(choice.exit for choice in choices if choice.handle == handle)[:1]
