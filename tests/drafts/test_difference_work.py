"""What a difference costs, in lines of Python that run: ten times the document is at most some ten times the work."""

from __future__ import annotations

import sys
from collections.abc import Callable
from random import Random
from types import FrameType
from typing import Any

import pytest
from retyped import is_container

from stepless.drafts.rules.diff import difference, flattened, towards
from stepless.drafts.rules.document import from_document, to_document
from stepless.drafts.rules.requests import Operation
from stepless.drafts.rules.resolve import resolve
from stepless.drafts.rules.state import Entities, prefix_of
from stepless.drafts.rules.values import same

FEW, MANY = 40, 400
LINEAR = 1.3  # of so many times the work; sorting is a little more than linear

Document = dict[str, Any]
Nodes = dict[str, Any]


def chain(count: int, prefix: str = "n") -> Document:
    """Each node after two before it."""
    nodes: Nodes = {}
    for place in range(count):
        nodes[f"{prefix}{place}"] = node = {"type": "http", "with": {"url": f"https://example.com/{place}"}}
        if place:
            node["after"] = [f"{prefix}{place - 1}"] if place == 1 else [f"{prefix}{place - 1}", f"{prefix}{place // 2 - 1}"]
    return {"id": "w", "nodes": nodes}


def loops(count: int) -> Document:
    def body(place: int) -> Nodes:
        return {"x": {"type": "http", "with": {"url": f"u{place}"}}, "y": {"type": "http", "after": "x"}}

    return {"id": "w", "nodes": {
        f"l{place}": {"type": "loop", "with": {"times": 3, "body": {"nodes": body(place)}}} for place in range(count // 3)
    }}  # fmt: skip


def with_nodes(document: Document, change: Callable[[list[tuple[str, Any]]], list[tuple[str, Any]]]) -> Document:
    return {**document, "nodes": dict(change(list(document["nodes"].items())))}


def shuffled(nodes: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    return Random(1).sample(nodes, len(nodes))


def in_edges(document: Document) -> Document:
    """The same with all edges in one list."""
    edges = [{"from": source, "to": name} for name, node in document["nodes"].items() for source in node.get("after", ())]
    bare = {name: {key: node[key] for key in node if key != "after"} for name, node in document["nodes"].items()}
    return {**document, "nodes": bare, "edges": edges}


def one_changed(document: Document) -> Document:
    middle = len(document["nodes"]) // 2
    return with_nodes(document, lambda nodes: [
        (name, {**node, "description": "changed"} if place == middle else node) for place, (name, node) in enumerate(nodes)
    ])  # fmt: skip


CASES: dict[str, Callable[[int], tuple[Document, Document]]] = {
    "one node is changed": lambda count: (chain(count), one_changed(chain(count))),
    "every node has another place": lambda count: (chain(count), with_nodes(chain(count), shuffled)),
    "every node has another name": lambda count: (chain(count), chain(count, "m")),
    "half of the nodes are gone": lambda count: (chain(count), with_nodes(chain(count), lambda nodes: nodes[: count // 2])),
    "half of the nodes are new": lambda count: (chain(count // 2), chain(count)),
    "the edges are written elsewhere": lambda count: (chain(count), in_edges(chain(count))),
    "one of many loops is changed": lambda count: (loops(count), one_changed(loops(count))),
    "all of it is another document": lambda count: (loops(count), chain(count)),
}


def lines(run: Callable[[], Any]) -> tuple[int, Any]:
    """How many lines of Python run, and what comes of it."""
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    former = sys.gettrace()
    sys.settrace(trace)
    try:
        made = run()
    finally:
        sys.settrace(former)
    return count, made


@pytest.mark.parametrize("case", CASES)
def test_a_difference_costs_as_much_as_the_document_is_long(case: str) -> None:
    counts = []
    for size in (FEW, MANY):
        before, goal = CASES[case](size)
        state = Entities(from_document(before, "e", is_container))
        count, groups = lines(lambda state=state, goal=goal: difference(state, goal, "s", is_container))
        counts.append(count)
        reached = to_document(resolve(state, [flattened(groups)]).state)
        assert same(reached, goal)
    assert counts[1] < LINEAR * MANY / FEW * counts[0], counts


@pytest.mark.parametrize("step", [1, -1])
def test_names_that_wait_for_each_other_cost_as_much_as_there_are(step: int) -> None:
    """Each node takes the name of the next one: none is free but the last, or all of them go round."""
    for around in (False, True):
        counts = []
        for size in (FEW, MANY):
            state = Entities(from_document(chain(size), "e", is_container))
            keys = sorted((key for key in state if prefix_of(key) == "block"), reverse=step < 0)
            names = [(state.get(key) or {})["id"] for key in keys]
            wanted = [*names[1:], names[0] if around else "last"]
            goal = {key: dict(state.get(key) or {}) for key in state}
            for key, name in zip(keys, wanted, strict=True):
                goal[key]["id"] = name
            count, groups = lines(lambda state=state, goal=goal: towards(state, goal))
            counts.append(count)
            decided = resolve(state, [Operation(flattened(groups).writes)])
            assert not decided.outcomes and [(decided.state.get(key) or {})["id"] for key in keys] == wanted
        assert counts[1] < LINEAR * MANY / FEW * counts[0], counts
