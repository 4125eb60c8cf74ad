"""Orders of a directed graph whose nodes are 0 … n−1: topological, longest paths, cycles, ancestors. No recursion."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

Links = Sequence[Collection[int]]  # by node: its distinct neighbours on one side

_CHUNK_BITS: Final = 1_024


def topological_order(successors: Links, predecessors: Links) -> list[int]:
    """Sources before targets, entries in rising order first. Nodes on cycles, and those behind, are left out.

    A. B. Kahn, Topological sorting of large networks (1962). Linear.
    """
    missing = [len(sources) for sources in predecessors]
    order = [node for node, count in enumerate(missing) if count == 0]
    for node in order:  # grows while it is walked
        for target in successors[node]:
            missing[target] -= 1
            if missing[target] == 0:
                order.append(target)
    return order


def longest_paths(order: Iterable[int], successors: Links, start: int = 0) -> list[int]:
    """By node, the number of edges of the longest path to it, plus `start`."""
    waves = [start] * len(successors)
    for node in order:
        beyond = waves[node] + 1
        for target in successors[node]:
            if waves[target] < beyond:
                waves[target] = beyond
    return waves


def cycles(successors: Links, predecessors: Links) -> list[list[int]]:
    """At least one cycle if there is any, and no node in two of them; each as its nodes in edge direction. Linear.

    Nodes that no cycle can hold are trimmed from both ends first. Then walks run ahead until they meet themselves, which
    is a cycle, or a node that was walked before.
    """
    behind = set(topological_order(successors, predecessors))
    ahead = set(topological_order(predecessors, successors))
    suspects = [node for node in range(len(successors)) if node not in behind and node not in ahead]
    walked: dict[int, int] = {}  # node → the walk that came through it
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
    """Everything that some path from `starts` leads to, the starts included."""
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
    """Of pairs (ancestor, node), those where no path leads from the first to the second. The graph has no cycle.

    Asked ancestors are taken some thousand at a time, in topological order, one bit each; the bits flow along the edges
    between the first ancestor and the last node of the portion. So reading what is near costs little however large the
    graph is, and the worst case is (asked ancestors / 1024) · edges.
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
    """The pairs of one portion of asked ancestors that no path joins."""
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
