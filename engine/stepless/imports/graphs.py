"""Answers questions of importers about graphs: reachable nodes, edges that close a cycle, upstream nodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

_WHITE, _GREY, _BLACK = range(3)


def reached(roots: Iterable[str], targets: Mapping[str, Iterable[str]], barrier: str | None = None) -> set[str]:
    """Returns the roots, and everything to which a path leads from them without passing through the barrier."""
    found = set(roots)
    left = list(found)
    while left:
        new = set(targets.get(left.pop(), ())) - found - {barrier}
        found |= new
        left += new
    return found


def closing(edges: Sequence[tuple[str, str]]) -> list[int]:
    """Returns the places of the edges, (source, target), that close a cycle: found depth first, in the order of edges."""
    leaving: dict[str, list[int]] = defaultdict(list)
    for place, (source, _) in enumerate(edges):
        leaving[source].append(place)
    colour: dict[str, int] = defaultdict(int)
    found: list[int] = []
    for root in dict.fromkeys(source for source, _ in edges):
        if colour[root] != _WHITE:
            continue
        colour[root] = _GREY
        stack = [(root, iter(leaving[root]))]
        while stack:
            key, places = stack[-1]
            place = next(places, -1)
            if place < 0:
                colour[key] = _BLACK
                stack.pop()
                continue
            target = edges[place][1]
            if colour[target] == _GREY:
                found.append(place)
            elif colour[target] == _WHITE:
                colour[target] = _GREY
                stack.append((target, iter(leaving[target])))
    return found


def upstream(sources: Mapping[str, Sequence[str]]) -> tuple[dict[str, int], dict[str, int]]:
    """Returns the bit of each key of a graph without cycles, and the bits of all that is upstream of it. `sources` are the direct
    ones."""
    bits = {key: 1 << place for place, key in enumerate(sources)}
    above: dict[str, int] = {}
    for root in sources:
        stack = [root]
        while stack:
            key = stack[-1]
            missing = [source for source in sources[key] if source not in above]
            if missing and key not in above:
                stack += missing
                continue
            stack.pop()
            mask = 0
            for source in sources[key]:
                mask |= above[source] | bits[source]
            above[key] = mask
    return bits, above
