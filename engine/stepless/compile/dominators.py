"""Computes the dominators of an acyclic graph, and the fork depths that result from them. Near-linear, no recursion."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from stepless.compile.order import Links


class Tree:
    """A tree of the nodes 0 … n−1 below a virtual root (numbered n). `grown` lists them with parents before their children.

    `parents[v]` is v's parent. `meet` finds the lowest common ancestor in logarithmic time by jump pointers: E. W. Myers, An
    applicative random-access stack (1983). `holds` takes constant time by the intervals of an Euler tour, whose numbers are
    worked out when they are first needed.
    """

    def __init__(self, grown: Sequence[int]) -> None:
        size = len(grown)
        self.root = size
        self.grown = grown
        self.parents = [size] * (size + 1)
        self.jumps = [size] * (size + 1)
        self.depths = [0] * (size + 1)
        self.first: list[int] = []
        self.last: list[int] = []

    def meet(self, one: int, other: int) -> int:
        parents, jumps, depths = self.parents, self.jumps, self.depths
        if depths[one] < depths[other]:
            one, other = other, one
        while depths[one] > depths[other]:
            one = jumps[one] if depths[jumps[one]] >= depths[other] else parents[one]
        while one != other:
            if jumps[one] == jumps[other]:
                one, other = parents[one], parents[other]
            else:
                one, other = jumps[one], jumps[other]
        return one

    def number(self) -> None:
        """Numbers the nodes, unless they are numbered."""
        if self.last:
            return
        grown = self.grown
        sizes = [1] * (self.root + 1)
        for node in reversed(grown):
            sizes[self.parents[node]] += sizes[node]
        self.first = [0] * (self.root + 1)
        free = [1] * (self.root + 1)  # by node: the first number that is not yet assigned to a child
        for node in grown:
            parent = self.parents[node]
            self.first[node] = free[parent]
            free[parent] += sizes[node]
            free[node] = self.first[node] + 1
        self.last = [first + size for first, size in zip(self.first, sizes, strict=True)]

    def holds(self, ancestor: int, node: int) -> bool:
        """Returns whether `ancestor` is `node` or above it."""
        self.number()
        return self.first[ancestor] <= self.first[node] < self.last[ancestor]

    def count_below(self, node: int) -> int:
        """Returns how many nodes are strictly below `node`."""
        self.number()
        return self.last[node] - self.first[node] - 1

    def below(self, nodes: Collection[int]) -> dict[int, tuple[int, ...]]:
        """Returns, for each of `nodes`, the nodes strictly below it, in ascending order."""
        self.number()
        numbered = [0] * (self.root + 1)
        for node, number in enumerate(self.first):
            numbered[number] = node
        return {node: tuple(sorted(numbered[self.first[node] + 1 : self.last[node]])) for node in nodes}


def dominator_tree(order: Sequence[int], predecessors: Links) -> Tree:
    """Returns the tree in which a node's parent is its immediate dominator. Nodes that several entries reach are children of the
    root.

    In topological order the immediate dominator is the lowest common ancestor of the predecessors: one pass of K. D. Cooper,
    T. J. Harvey and K. Kennedy, A simple, fast dominance algorithm (2001), which needs more passes only for cycles. With the
    order reversed, and successors in place of predecessors, the result is the tree of post-dominators.
    """
    tree = Tree(order)
    parents, jumps, depths, root = tree.parents, tree.jumps, tree.depths, tree.root
    for node in order:
        sources = iter(predecessors[node])
        parent = next(sources, root)
        for source in sources:
            parent = tree.meet(parent, source)
        jump = jumps[parent]
        far = jumps[jump]
        parents[node], depths[node] = parent, depths[parent] + 1
        jumps[node] = far if depths[parent] - depths[jump] == depths[jump] - depths[far] else parent
    return tree


def fork_depths(order: Sequence[int], successors: Links, above: Tree, behind: Tree) -> list[int]:
    """Returns, by node, the number of forks (nodes with two targets or more) that strictly dominate it and that it does not
    post-dominate. Linear: with d the immediate dominator of v,

    * If v post-dominates d, the number is that of d. A fork f above d is post-dominated by v exactly if it is by d, since every
      path from f to v passes d, and every path from d passes v.
    * Otherwise v post-dominates no fork above d either, since a path from f to d may bypass v. The number is then that of all
      forks from d upwards.
    """
    behind.number()
    first, last, parents, root = behind.first, behind.last, above.parents, above.root
    forks = [0] * (root + 1)  # among the node and its dominators
    depths = [0] * (root + 1)
    for node in order:
        dominator = parents[node]
        forks[node] = forks[dominator] + (len(successors[node]) > 1)
        ends = dominator != root and first[node] <= first[dominator] < last[node]
        depths[node] = depths[dominator] if ends else forks[dominator]
    return depths[:root]
