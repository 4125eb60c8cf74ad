"""Computes orders of a directed graph with the nodes 0 … n−1: topological order, longest paths, cycles, ancestors. No
recursion."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

Links = Sequence[Collection[int]]  # by node: its distinct neighbours on one side

_CHUNK_BITS: Final = 1_024


def topological_order(successors: Links, predecessors: Links) -> list[int]:
    """Sources before targets, with entries in ascending order first. Nodes on cycles, and nodes behind cycles, are left out.

    A. B. Kahn, Topological sorting of large networks (1962). Linear.
    """
    missing = [len(sources) for sources in predecessors]
    order = [node for node, count in enumerate(missing) if count == 0]
    for node in order:  # grows during the iteration
        for target in successors[node]:
            missing[target] -= 1
            if missing[target] == 0:
                order.append(target)
    return order


def longest_paths(order: Iterable[int], successors: Links, start: int = 0) -> list[int]:
    """Returns, by node, the number of edges of the longest path to it, plus `start`."""
    waves = [start] * len(successors)
    for node in order:
        beyond = waves[node] + 1
        for target in successors[node]:
            if waves[target] < beyond:
                waves[target] = beyond
    return waves


def cycles(successors: Links, predecessors: Links) -> list[list[int]]:
    """Returns at least one cycle if there is any, without common nodes; each is the list of its nodes in edge direction. Linear.

    Nodes that cannot be on a cycle are removed from both ends first. Then each walk follows edges until it reaches itself, which
    is a cycle, or a node of a former walk.
    """
    behind = set(topological_order(successors, predecessors))
    ahead = set(topological_order(predecessors, successors))
    suspects = [node for node in range(len(successors)) if node not in behind and node not in ahead]
    walked: dict[int, int] = {}  # node → the start of the walk that visited it
    found = []
    for start in suspects:
        walk: list[int] = []
        node: int | None = start
        while node is not None and node not in walked:
            walked[node] = start
            walk.append(node)
            node = next((target for target in successors[node] if target not in behind and target not in ahead), None)
        if node is not None and walk and walked[node] == start:
            found.append(walk[walk.index(node):])
    return found


def reachable(starts: Iterable[int], successors: Links) -> set[int]:
    """Returns all nodes that can be reached from `starts`, including the starts."""
    seen = set(starts)
    queue = deque(seen)
    while queue:
        for target in successors[queue.popleft()]:
            if target not in seen:
                seen.add(target)
                queue.append(target)
    return seen


def not_upstream(
    pairs: Iterable[tuple[int, int]], order: Sequence[int], successors: Links, predecessors: Links,
) -> set[tuple[int, int]]:
    """Returns, of the pairs (ancestor, node), those without a path from the first to the second. The graph must be acyclic.

    Processes about a thousand requested ancestors at a time, in topological order, with one bit for each. The bits are propagated
    along the edges between the first ancestor and the last node of the portion. So references to near nodes are cheap in a graph
    of any size, and the worst case is (requested ancestors / 1024) · edges.
    """
    rank = [0] * len(order)
    for place, node in enumerate(order):
        rank[node] = place
    asked: dict[int, list[int]] = {}
    for ancestor, node in pairs:
        if ancestor not in predecessors[node]:
            asked.setdefault(ancestor, []).append(node)
    ancestors = sorted(asked, key=rank.__getitem__)
    portions = [ancestors[start : start + _CHUNK_BITS] for start in range(0, len(ancestors), _CHUNK_BITS)]
    return {pair for portion in portions for pair in _missed(portion, asked, rank, order, successors)}


def _missed(
    portion: Sequence[int], asked: dict[int, list[int]], rank: Sequence[int], order: Sequence[int], successors: Links,
) -> Iterator[tuple[int, int]]:
    """The pairs of one portion of requested ancestors that no path connects."""
    bits = {ancestor: 1 << place for place, ancestor in enumerate(portion)}
    end = max(rank[node] for ancestor in portion for node in asked[ancestor])
    above: dict[int, int] = {}
    for place in range(rank[portion[0]], end + 1):
        node = order[place]
        flowing = above.get(node, 0) | bits.get(node, 0)
        if flowing:
            for target in successors[node]:
                above[target] = above.get(target, 0) | flowing
    for ancestor in portion:
        for node in asked[ancestor]:
            if not above.get(node, 0) & bits[ancestor]:
                yield ancestor, node
