"""The order of nodes, against brute force on small random graphs, and by counting on large ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepless.compile.dominators import dominator_tree, fork_depths
from stepless.compile.order import cycles, longest_paths, not_upstream, reachable, topological_order

Edges = list[tuple[int, int]]
SIZE = 9


def links(size: int, edges: Edges) -> tuple[list[dict[int, None]], list[dict[int, None]]]:
    successors: list[dict[int, None]] = [{} for _ in range(size)]
    predecessors: list[dict[int, None]] = [{} for _ in range(size)]
    for source, target in edges:
        successors[source][target] = None
        predecessors[target][source] = None
    return successors, predecessors


numbers = st.integers(0, SIZE - 1)
any_edges = st.lists(st.tuples(numbers, numbers).filter(lambda edge: edge[0] != edge[1]), max_size=20)
dags = st.tuples(st.permutations(range(SIZE)), any_edges).map(
    lambda drawn: [(drawn[0][min(edge)], drawn[0][max(edge)]) for edge in drawn[1]]
)


def paths_from(node: int, successors: Sequence[dict[int, None]]) -> Iterator[list[int]]:
    """Every path to a leaf."""
    if not successors[node]:
        yield [node]
    for target in successors[node]:
        for rest in paths_from(target, successors):
            yield [node, *rest]


def all_paths(successors: Sequence[dict[int, None]], predecessors: Sequence[dict[int, None]]) -> list[list[int]]:
    return [path for node in range(len(successors)) if not predecessors[node] for path in paths_from(node, successors)]


@given(dags)
def test_sources_come_before_targets_and_waves_are_longest_paths(edges: Edges) -> None:
    successors, predecessors = links(SIZE, edges)
    order = topological_order(successors, predecessors)
    assert sorted(order) == list(range(SIZE))
    assert all(order.index(source) < order.index(target) for source, target in edges)
    paths = all_paths(successors, predecessors)
    assert longest_paths(order, successors, 3) == [
        3 + max(path.index(node) for path in paths if node in path) for node in range(SIZE)
    ]


@given(any_edges)
def test_a_cycle_is_found_exactly_when_there_is_one(edges: Edges) -> None:
    successors, predecessors = links(SIZE, edges)
    found = cycles(successors, predecessors)
    assert bool(found) == (len(topological_order(successors, predecessors)) < SIZE)
    for cycle in found:
        assert all(target in successors[source] for source, target in zip(cycle, [*cycle[1:], cycle[0]], strict=True))
    assert len({node for cycle in found for node in cycle}) == sum(map(len, found))


@given(dags, st.sets(st.tuples(numbers, numbers), max_size=15))
def test_what_no_path_joins_is_not_upstream(edges: Edges, pairs: set[tuple[int, int]]) -> None:
    successors, predecessors = links(SIZE, edges)
    order = topological_order(successors, predecessors)
    missed = {(above, node) for above, node in pairs if above == node or node not in reachable([above], successors)}
    assert not_upstream(pairs, order, successors, predecessors) == missed


def test_more_ancestors_are_asked_for_than_fit_into_one_portion() -> None:
    size = 5_000
    successors, predecessors = links(size, [(node, node + 1) for node in range(size - 1)])
    order = topological_order(successors, predecessors)
    good = {(node, node + 3) for node in range(size - 3)}
    bad = {(node + 3, node) for node in range(0, size - 3, 7)}
    assert not_upstream(good | bad, order, successors, predecessors) == bad


@given(dags)
def test_a_dominator_is_on_every_path_from_an_entry(edges: Edges) -> None:
    successors, predecessors = links(SIZE, edges)
    tree = dominator_tree(topological_order(successors, predecessors), predecessors)
    paths = all_paths(successors, predecessors)
    for node in range(SIZE):
        heads = [path[: path.index(node)] for path in paths if node in path]
        above = set.intersection(*map(set, heads))
        assert {other for other in range(SIZE) if other != node and tree.holds(other, node)} == above
        nearest = tree.parents[node]
        assert nearest == max(above, key=heads[0].index) if above else nearest == tree.root


@given(dags)
def test_depth_counts_forks_above_that_are_not_joined_again(edges: Edges) -> None:
    successors, predecessors = links(SIZE, edges)
    order = topological_order(successors, predecessors)
    above, behind = dominator_tree(order, predecessors), dominator_tree(order[::-1], successors)
    paths = all_paths(successors, predecessors)

    def open_forks(node: int) -> int:
        dominators = set.intersection(*(set(path[: path.index(node)]) for path in paths if node in path))
        forks = [fork for fork in dominators if len(successors[fork]) > 1]
        return sum(any(node not in path for path in paths_from(fork, successors)) for fork in forks)

    assert fork_depths(order, successors, above, behind) == [open_forks(node) for node in range(SIZE)]


@given(dags, numbers)
def test_what_is_below_a_join_among_post_dominators_ends_in_it_alone(edges: Edges, join: int) -> None:
    successors, predecessors = links(SIZE, edges)
    behind = dominator_tree(topological_order(successors, predecessors)[::-1], successors)
    losers = tuple(n for n in range(SIZE) if n != join and all(join in path for path in paths_from(n, successors)))
    assert behind.below([join])[join] == losers
    assert behind.count_below(join) == len(losers)


class Counted(list[dict[int, None]]):
    """Links that count how often they are looked at."""

    looks = 0

    def __getitem__(self, place):  # type: ignore[no-untyped-def, override]
        self.looks += 1
        return super().__getitem__(place)


@pytest.mark.parametrize("size", [2_000, 20_000])
def test_each_link_is_looked_at_a_few_times_however_large_the_graph(size: int) -> None:
    edges = [(max(0, node - 1 - node % 5), node) for node in range(1, size)] + [(node - 2, node) for node in range(2, size)]
    successors, predecessors = map(Counted, links(size, edges))
    order = topological_order(successors, predecessors)
    above, behind = dominator_tree(order, predecessors), dominator_tree(order[::-1], successors)
    fork_depths(order, successors, above, behind)
    longest_paths(order, successors)
    assert not_upstream({(node - 2, node) for node in range(2, size)}, order, successors, predecessors) == set()
    assert successors.looks + predecessors.looks < 10 * size
