"""The shapes of the DAGs, as the numbers of each node's parents, for the engine, the floors and the peers."""

from __future__ import annotations

from math import isqrt
from random import Random

Parents = list[list[int]]


def chain(n: int) -> Parents:
    return [[]] + [[i] for i in range(n - 1)]


def fan(n: int) -> Parents:
    """One node, n parallel nodes, one node."""
    return [[]] + [[0]] * n + [list(range(1, n + 1))]


def layered(n: int, seed: int = 42) -> Parents:
    """About √n layers (100 from 10,000 nodes on), two edges per node from the layer above; parents by number."""
    layers = min(100, max(2, isqrt(n)))
    width = n // layers
    random = Random(seed)
    parents: Parents = [[] for _ in range(width)]
    for number in range(width, n):
        above = (number // width - 1) * width
        parents.append(sorted({above + random.randrange(width) for _ in range(2)}))
    return parents
