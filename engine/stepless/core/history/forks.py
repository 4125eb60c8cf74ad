"""Finds the fork and the branch that an instance is in, for the trace (docs/understand/semantics.md#trace). Both depend only on
the graph, not on the order in which instances settled."""

from __future__ import annotations

from typing import NamedTuple

from stepless.core.state import Instance
from stepless.model.graph import Body


class BranchOfFork(NamedTuple):
    """A branch of a fork: the id of the fork, and the number of the branch, from 0 in edge order. None after some of the fork's
    branches, but not all of them, have joined."""

    fork: str
    branch: int | None


class Forks:
    """The branches of instances. Analyses each body once, in linear time except for sorting it."""

    def __init__(self) -> None:
        self._known: dict[Body, list[_Found | None]] = {}

    def branch_of(self, instance: Instance) -> BranchOfFork | None:
        """Returns the innermost fork that an instance is in: a node with several targets, or a parallel, whose branches are its
        iterations. None outside any fork."""
        at: Instance | None = instance
        while at is not None:
            scope, found = at.scope, self._of(at.scope.body)[at.node.position]
            if found is not None:
                return BranchOfFork(scope.body.nodes[found.fork].id + scope.suffix, found.branch)
            owner = scope.owner
            if owner is not None and owner.node.container is not None and owner.node.container.parallel:
                return BranchOfFork(owner.id, scope.index - (owner.iterations.first if owner.iterations is not None else 0))
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
    """The branch of each node, by position. A node that is not deeper than its dominator comes after all of its branches, and so
    has the same branch. A deeper node comes directly after a fork."""
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
