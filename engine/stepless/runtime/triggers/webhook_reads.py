"""Finds which parts of a webhook's output a workflow reads: what it does not read need not be stored with each run."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from stepless.limits import MAX_KNOWN_WEBHOOKS
from stepless.model.graph import Graph, Node, all_nodes
from stepless.model.scope import Expression, Reference, Template

_INPUTS: Final = ("input", "inputs")


@lru_cache(maxsize=MAX_KNOWN_WEBHOOKS)
def reads_output(graph: Graph, entry: Node, field: str) -> str:
    """Returns `named` if a reference or an edge names this field (of any node), `whole` if the output of the entry is read or
    carried as a whole, or is an output of the run; else an empty text. A field that an expression computes the name of is not
    found."""
    found = "whole" if entry.is_leaf else ""
    if any(edge.key[:1] == (field,) for edge in entry.outgoing):
        return "named"
    for node in all_nodes(graph.root):
        for reference in _references(node):
            if field in reference.path:
                return "named"
            if _reads_whole(reference, entry, node):
                found = "whole"
    return found


def _reads_whole(reference: Reference, entry: Node, reader: Node) -> bool:
    if reference.env:
        return False
    if reference.root == entry.id:
        return not reference.path
    carried = any(edge.source == entry.position and not edge.key for edge in reader.incoming)
    return carried and reference.root in _INPUTS and len(reference.path) < 2


def _references(node: Node) -> Iterator[Reference]:
    for part in _compiled(node):
        yield from part.references


def _compiled(node: Node) -> Iterator[Expression | Template]:
    """The templates and expressions of a node."""
    yield node.config.template
    yield from node.config.expressions.values()
    yield from (case.expression for case in node.config.cases if case.expression is not None)
    container = node.container
    if container is not None:
        yield from (part for part in (container.expression, container.value) if part is not None)
    if node.join.custom is not None:
        yield node.join.custom
