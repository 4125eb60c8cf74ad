"""Which fork an instance is in, and by which of its branches: what a trace tells besides order and depth
(docs/semantics.md#trace). It follows from the graph alone, so it does not depend on who settled first."""

from __future__ import annotations

from typing import NamedTuple

from stepless.core.state import Instance
from stepless.model.graph import Body


class Place(NamedTuple):
    """A place in a fork: the id of the fork, and the number of the branch, from 0 in edge order; None where several branches have
    met on the way and others have not."""

    fork: str
    branch: int | None


class Forks:
    """Places of instances. Each body is looked at once, in linear time but for sorting it."""

    def __init__(self) -> None:
        self._known: dict[Body, list[_Found | None]] = {}

    def place_of(self, instance: Instance) -> Place | None:
        """The innermost fork that an instance is in: a node with several targets, or a parallel, whose branches are its turns.
        None where there is none."""
        at: Instance | None = instance
        while at is not None:
            scope, found = at.scope, self._of(at.scope.body)[at.node.position]
            if found is not None:
                return Place(scope.body.nodes[found.fork].id + scope.suffix, found.branch)
            owner = scope.owner
            if owner is not None and owner.node.container is not None and owner.node.container.parallel:
                return Place(owner.id, scope.index)
            at = owner
        return None

    def _of(self, body: Body) -> list[_Found | None]:
        known = self._known.get(body)
        if known is None:
            known = self._known[body] = _innermost(body)
        return known


class _Found(NamedTuple):
    fork: int
    branch: int | None


def _innermost(body: Body) -> list[_Found | None]:
    """By position. A node that is no deeper than its dominator stands behind all branches of it, and so in the same place; one
    that is deeper stands right below a fork."""
    nodes = body.nodes
    numbers = {
        target: number
        for fork in nodes
        if len(fork.targets) > 1
        for number, target in enumerate(fork.targets)
        if len(nodes[target].branches) == 1
    }
    found: list[_Found | None] = [None] * len(nodes)
    for node in sorted(nodes, key=lambda node: node.wave):  # dominators first
        if node.dominator is not None:
            deeper = node.depth > nodes[node.dominator].depth
            found[node.position] = _Found(node.dominator, numbers.get(node.position)) if deeper else found[node.dominator]
    return found
