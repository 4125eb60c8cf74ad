"""Operations that take as much as the decision of one may, and the same with one write more, under small bounds: for each kind of
work that a decision counts. The console counts alike."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from typing import NamedTuple

from world import mutated

from stepless.drafts.rules import budget
from stepless.drafts.rules.effects import Delete, Put, Rename, Set, Splice, Write
from stepless.drafts.rules.requests import Operation
from stepless.drafts.rules.resolve import Change, Decision, resolve
from stepless.drafts.rules.state import TEXT, Entities
from stepless.drafts.rules.values import Object
from stepless.limits import MAX_ORDER_CHARACTERS
from stepless.model.json import JSON

NAMES = (
    "orders of siblings", "characters of a name", "splices without a text", "what was typed since", "parts of an entity",
    "names of one body", "levels of what moves", "what hangs on a block",
)  # fmt: skip


class Bounds(NamedTuple):
    effects: int = 10_000
    characters: int = 100_000
    pairs: int = 10_000
    parts: int = 1_000_000


class Case(NamedTuple):
    """`most` is within the bounds, `beyond` is not."""

    name: str
    bounds: Bounds
    state: Entities
    most: Operation
    beyond: Operation
    since: tuple[Change, ...] = ()


def decided(case: Case, *operations: Operation) -> Decision:
    """Under the bounds of a case."""
    names = zip(("EFFECTS", "CHARACTERS"), case.bounds[:2], strict=True)
    with ExitStack() as bounded:
        for name, most in names:
            bounded.enter_context(mutated(budget, f"MAX_DECIDED_{name}", most))
        bounded.enter_context(mutated(budget, "MAX_CROSSED_PAIRS", case.bounds.pairs))
        bounded.enter_context(mutated(budget, "MAX_REWRITTEN_PARTS", case.bounds.parts))
        return resolve(case.state, operations, case.since)


@cache
def cases() -> dict[str, Case]:
    """Each of NAMES with its case. Looking for their bounds takes a second: call it in a test, not while tests are collected."""
    return {case.name: case for case in _cases()}


def _cases() -> Iterator[Case]:
    long = "V" * MAX_ORDER_CHARACTERS
    siblings = {f"block/b{place}": block(f"n{place}") for place in range(50)}
    yield _found("orders of siblings", Bounds(effects=1_000), draft(**siblings), [
        Set("block/b1", ("order",), f"{long}{'V' * (1 + place % 2)}") for place in range(100)
    ])
    readers = {f"block/r{place}": block(f"r{place}", **{"with": {"t": "<a.x> <a.y>"}}) for place in range(50)}
    yield _found("characters of a name", Bounds(characters=1_000), draft(**{"block/a": block("a")}, **readers), [
        Splice("doc", ("description",), 0, 0, "\N{GRINNING FACE}" * 7) if place % 2 else Rename("block/a", f"n{place % 8}")
        for place in range(40)
    ])
    yield _found("splices without a text", Bounds(pairs=1_000), draft(), [
        Splice("doc", ("nowhere",), place % 5, place % 3, "xyz"[:place % 4]) for place in range(200)
    ])
    theirs = Change("Bo", [Splice("doc", ("description",), 0, 1, "y") for _ in range(20)])
    yield _found("what was typed since", Bounds(pairs=1_000), draft(), [
        Splice("doc", ("description",), place % 5, place % 2, "\N{GRINNING FACE}") for place in range(200)
    ], theirs)
    inner, shown = ("block/a", ("with", "t")), (TEXT, ("yaml",))
    typed = {"block/a": block("a", **{"with": {"t": "<\N{GRINNING FACE}" * 500, "u": 1}}), TEXT: {"yaml": "<" * 1_000}}
    yield _found("parts of an entity", Bounds(parts=50_000), draft(**typed), [
        Set("block/a", ("with", "v", "w"), place) if place % 2 else Splice(*(shown if place % 4 else inner), 0, 0, "x")
        for place in range(200)
    ])
    yield _found("names of one body", Bounds(effects=200), draft(), [
        Put(f"block/b{place}", block("same")) for place in range(80)
    ])
    inside = {f"block/c{place}": block(f"c{place}", "l" if place % 2 else f"c{place + 1}") for place in range(50)}
    containers = {"block/l": block("l"), "block/m": block("m"), **inside, "block/c50": block("c50", "l")}
    yield _found("levels of what moves", Bounds(effects=1_000), draft(**containers), [
        Set("block/l", ("parent",), None if place % 2 else "m") for place in range(200)
    ])
    tied = {f"edge/e{place}": {"source": "l", "target": "m", "key": f"k{place}", "order": "V"} for place in range(30)}
    yield _found("what hangs on a block", Bounds(effects=40), draft(**containers, **tied), [
        *(Set("doc", ("variables", f"v{place}"), place) for place in range(10)), Delete("block/l"), Delete("block/m"),
    ])


def _found(name: str, bounds: Bounds, state: Entities, writes: list[Write], *since: Change) -> Case:
    """The case with as many of these writes as are done."""
    def case(count: int) -> Case:
        return Case(name, bounds, state, Operation(tuple(writes[:count])), Operation(tuple(writes[:count + 1])), since)

    count = 0
    while count < len(writes) and not any(one.refused for one in decided(case(count), case(count).beyond).outcomes):
        count += 1
    return case(count)


def block(id_: str, parent: str | None = None, **fields: JSON) -> Object:
    return {"id": id_, "type": "loop", "parent": parent, "order": "V", **fields}


def draft(**entities: Object) -> Entities:
    return Entities({"doc": {"id": "w", "nodes": None, "description": "here"}, **entities})
