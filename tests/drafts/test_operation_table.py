"""Every operation of the editor beside what another person did at the same time: what is committed of it, and what its author is
told. One row for each pair; an operation is sent as a client expands it over what it shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pytest
from expansion import expand
from invariants import faults
from inverse import inverse

from stepless.drafts.rules.effects import Delete, Effect, Put, Rename, Set, Splice, Unset, Write
from stepless.drafts.rules.fold import fold
from stepless.drafts.rules.requests import Guard, Operation
from stepless.drafts.rules.resolve import Change, Decision, resolve
from stepless.drafts.rules.state import Entities
from stepless.drafts.rules.values import NOTHING, Object, at
from stepless.limits import MAX_ORDER_CHARACTERS
from stepless.model.json import JSON


def block(id_: str, parent: str | None = None, order: str = "V", **fields: JSON) -> Object:
    return {"id": id_, "type": "http", "parent": parent, "order": order, **fields}


def edge(source: str, target: str, **fields: JSON) -> Object:
    return {"source": source, "target": target, "order": "V", "home": "after", **fields}


START: Mapping[str, Object] = {
    "doc": {"id": "w", "nodes": None},
    "block/a": block("a", order="A"),
    "block/b": block("b", order="B", **{
        "with": {"prompt": "hello <a.x>", "items": {"[]": {"k": {"order": "V", "is": "<a.y>"}}}},
    }),
    "block/l": block("l", order="C", type="loop", **{"with": {}}),
    "subflow/l": {"items": "<a.rows>", "body": {"nodes": None}},
    "block/m": block("m", order="D", type="loop", **{"with": {}}),
    "subflow/m": {"times": 3, "body": {"nodes": None}},
    "block/c": block("c", "l", "A", **{"with": {"text": "<a.y> <c.z>"}}),
    "block/d": block("d", "l", "B"),
    "block/x": block("a", "m", "A", **{"with": {"text": "<a.own>"}}),
    "edge/ab": edge("a", "b"),
    "edge/cd": edge("c", "d"),
    "place/b": {"x": 1, "y": 2},
    "pin/b": {"output": 1},
}
PROMPT = ("with", "prompt")
GONE = NOTHING
LONG = "A" * MAX_ORDER_CHARACTERS + "V"


class Row(NamedTuple):
    """`told`: code, key, by, whether all of it is refused. `left`: what stands at paths of entities afterwards."""

    operation: str
    beside: str
    asked: tuple[Write, ...]
    since: tuple[Effect, ...]
    told: tuple[tuple[str, str, str | None, bool], ...]
    left: Mapping[tuple[str, ...], JSON]
    guards: tuple[Guard, ...] = ()


FRAGMENT = (Put("block/n", block("n")), Put("block/r", block("r", **{"with": {"t": "<n.out>"}})), Put("edge/nr", edge("n", "r")))
ROWS = [
    Row("add", "the same id taken", FRAGMENT, (Put("block/o", block("n")),), (), {
        ("block/n", "id"): "n_2", ("block/o", "id"): "n", ("block/r", "with", "t"): "<n_2.out>", ("edge/nr", "source"): "n",
    }),
    Row("add", "the same id taken twice", FRAGMENT, (Put("block/o", block("n")), Put("block/p", block("n_2"))), (), {
        ("block/n", "id"): "n_3", ("block/r", "with", "t"): "<n_3.out>",
    }),
    Row("add", "its parent gone", (Put("block/n", block("n", "m")), Put("place/n", {"x": 1, "y": 1})), (
        Delete("block/x"), Delete("subflow/m"), Delete("block/m"),
    ), (("gone", "block/m", "Bo", False), ("gone", "block/n", None, False)), {("block/n",): GONE, ("place/n",): GONE}),
    Row("connect", "its block deleted", (Put("edge/n", edge("b", "l")),), (
        Delete("edge/ab"), Delete("place/b"), Delete("pin/b"), Delete("block/b"),
    ), (("gone", "block/b", "Bo", False),), {("edge/n",): GONE}),
    Row("connect", "the same source, handle, target, param and key", (Put("edge/n", edge("b", "l", handle="error", key="k")),), (
        Put("edge/o", edge("b", "l", handle="error", key="k")),
    ), (("already_there", "edge/o", "Bo", False),), {("edge/n",): GONE, ("edge/o", "key"): "k"}),
    Row("connect", "two keys from one source into one param", (Put("edge/n", edge("b", "l", key="k")),), (
        Put("edge/o", edge("b", "l", key="j")),
    ), (), {("edge/n", "key"): "k", ("edge/o", "key"): "j"}),
    Row("reconnect", "its new end deleted", (Delete("edge/ab"), Put("edge/n", edge("a", "m"))), (
        Delete("block/x"), Delete("subflow/m"), Delete("block/m"),
    ), (("gone", "block/m", "Bo", False),), {("edge/ab",): GONE, ("edge/n",): GONE}),
    Row("reconnect", "the same edge made meanwhile", (Delete("edge/ab"), Put("edge/n", edge("a", "l"))), (
        Put("edge/o", edge("a", "l")),
    ), (("already_there", "edge/o", "Bo", False),), {("edge/ab",): GONE, ("edge/n",): GONE, ("edge/o", "target"): "l"}),
    Row("delete blocks", "edits of it", (Delete("block/b"),), (
        Set("block/b", ("enabled",), False), Put("edge/o", edge("b", "l")), Splice("block/b", PROMPT, 0, 0, "typed"),
    ), (), {("block/b",): GONE, ("edge/ab",): GONE, ("edge/o",): GONE, ("place/b",): GONE, ("pin/b",): GONE}),
    Row("edit", "it was deleted", (Splice("block/b", PROMPT, 0, 0, "typed"), Set("block/b", ("enabled",), False)), (
        Delete("edge/ab"), Delete("place/b"), Delete("pin/b"), Delete("block/b"),
    ), (("superseded", "block/b", "Bo", False), ("gone", "block/b", "Bo", False)), {("block/b",): GONE}),
    Row("delete blocks", "a child moved out before", (Delete("block/l"),), (
        Delete("edge/cd"), Set("block/c", ("parent",), None),
    ), (), {("block/c", "id"): "c", ("block/d",): GONE, ("block/l",): GONE, ("subflow/l",): GONE}),
    Row("move in the canvas", "both drag", (Set("place/b", ("x",), 9), Set("place/b", ("y",), 9)), (
        Set("place/b", ("x",), 5), Set("place/b", ("y",), 5),
    ), (), {("place/b", "x"): 9, ("place/b", "y"): 9}),
    Row("move in the canvas", "both place it for the first time", (Put("place/a", {"x": 9, "y": 9}),), (
        Put("place/a", {"x": 5, "y": 5}),
    ), (), {("place/a", "x"): 9}),
    Row("tidy", "one of the blocks deleted", (
        Put("place/a", {"x": 0, "y": 0}), Set("place/b", ("x",), 0), Put("place/l", {"x": 0, "y": 9}),
    ), (Delete("edge/ab"), Delete("place/b"), Delete("pin/b"), Delete("block/b")), (("gone", "place/b", "Bo", False),), {
        ("place/a", "x"): 0, ("place/l", "y"): 9, ("place/b",): GONE,
    }),
    Row("reorder", "both reorder", (Set("block/b", ("order",), "0V"),), (Set("block/b", ("order",), "Z"),), (), {
        ("block/b", "order"): "0V",
    }),
    Row("reorder", "an order of more than 64 characters", (Set("block/b", ("order",), LONG),), (
        Put("block/o", block("o", order="AV")),
    ), (), {("block/a", "order"): "A", ("block/b", "order"): "K", ("block/o", "order"): "U"}),
    Row("into a container", "the container gone", (Set("block/b", ("parent",), "m"), Set("block/b", ("order",), "W")), (
        Delete("block/x"), Delete("subflow/m"), Delete("block/m"),
    ), (("gone", "block/m", "Bo", False),), {("block/b", "parent"): None, ("edge/ab", "target"): "b"}),
    Row("into a container", "its name taken there", (Set("block/b", ("parent",), "m"),), (Put("block/o", block("b", "m")),), (), {
        ("block/b", "parent"): "m", ("block/b", "id"): "b_2",
    }),
    Row("into a container", "an edge tied to it meanwhile", (Set("block/b", ("parent",), "m"),), (
        Put("edge/o", edge("b", "l")),
    ), (), {("block/b", "parent"): "m", ("edge/o",): GONE, ("edge/ab",): GONE}),
    Row("connect", "the other end moved into a container", (Put("edge/n", edge("b", "a", handle="error")),), (
        Delete("edge/ab"), Set("block/b", ("parent",), "l"),
    ), (("other_body", "block/a", None, False),), {("edge/n",): GONE}),
    Row("into a container", "a cycle of parents", (Set("block/l", ("parent",), "m"),), (Set("block/m", ("parent",), "l"),), (
        ("parent_cycle", "block/l", None, True),
    ), {("block/l", "parent"): None, ("block/m", "parent"): "l"}),
    Row("rename", "the name taken", (Rename("block/a", "new"),), (Put("block/o", block("new")),), (
        ("name_taken", "block/o", "Bo", True),
    ), {("block/a", "id"): "a", ("block/b", "with", "prompt"): "hello <a.x>"}),
    Row("rename", "text typed meanwhile", (Rename("block/a", "new"),), (
        Splice("block/b", PROMPT, 0, 5, "good day"), Splice("block/b", PROMPT, 14, 0, " and <a.typed>"),
    ), (), {
        ("block/a", "id"): "new", ("block/b", "with", "prompt"): "good day <new.x> and <a.typed>",
        ("block/b", "with", "items", "[]", "k", "is"): "<new.y>", ("block/c", "with", "text"): "<new.y> <c.z>",
        ("subflow/l", "items"): "<new.rows>", ("block/x", "with", "text"): "<a.own>",
    }),
    Row("change kind", "the same", (Set("block/b", ("type",), "code"),), (Set("block/b", ("type",), "loop"),), (), {
        ("block/b", "type"): "code", ("block/b", "with", "prompt"): "hello <a.x>",
    }),
    Row("change kind", "of a container", (Set("block/l", ("type",), "http"),), (Set("subflow/l", ("items",), "<a.other>"),), (), {
        ("block/l", "type"): "http", ("subflow/l", "items"): "<a.other>", ("block/c", "parent"): "l",
    }),
    Row("switch", "the same path", (Set("block/b", ("enabled",), False),), (Set("block/b", ("enabled",), True),), (), {
        ("block/b", "enabled"): False,
    }),
    Row("choice", "a path above it", (Set("block/b", ("with", "prompt"), "mine"),), (Set("block/b", ("with",), {"u": 1}),), (), {
        ("block/b", "with"): {"u": 1, "prompt": "mine"},
    }),
    Row("JSON", "a path below it", (Set("block/b", ("with",), {"u": 2}),), (Set("block/b", PROMPT, "theirs"),), (), {
        ("block/b", "with"): {"u": 2},
    }),
    Row("number", "it was taken away", (Set("block/b", ("retry", "attempts"), 3),), (Unset("block/b", ("with",)),), (), {
        ("block/b", "retry", "attempts"): 3, ("block/b", "with"): GONE,
    }),
    Row("unset", "the same path", (Unset("block/b", ("with", "prompt")),), (Set("block/b", PROMPT, "theirs"),), (), {
        ("block/b", "with", "prompt"): GONE,
    }),
    Row("typing", "other splices", (Splice("block/b", PROMPT, 5, 0, " mine"),), (
        Splice("block/b", PROMPT, 5, 0, " theirs"),
    ), (), {
        ("block/b", "with", "prompt"): "hello theirs mine <a.x>",
    }),
    Row("typing", "a removal around it", (Splice("block/b", PROMPT, 2, 0, "MINE"),), (Splice("block/b", PROMPT, 0, 6, ""),), (), {
        ("block/b", "with", "prompt"): "MINE<a.x>",
    }),
    Row("typing", "a set over it", (Splice("block/b", PROMPT, 0, 0, "typed"),), (Set("block/b", PROMPT, "theirs"),), (
        ("superseded", "block/b", "Bo", False),
    ), {("block/b", "with", "prompt"): "theirs"}),
    Row("typing in a list", "other splices", (Splice("block/b", ("with", "items", "[]", "k", "is"), 0, 0, "m"),), (
        Splice("block/b", ("with", "items", "[]", "k", "is"), 5, 0, "t"),
    ), (), {("block/b", "with", "items", "[]", "k", "is"): "m<a.y>t"}),
]


def asked(row: Row) -> Operation:
    made = expand(Entities(START), Operation(row.asked, row.guards)).operation
    assert made is not None, "the client would not send it"
    return made


def decided(row: Row, operation: Operation) -> Decision:
    return resolve(fold(Entities(START), row.since), [operation], [Change("Bo", row.since)])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.operation} · {row.beside}")
def test_an_operation_beside_what_another_person_did(row: Row) -> None:
    operation = asked(row)
    made = decided(row, operation)
    assert tuple((one.code, one.key, one.by, one.refused) for one in made.outcomes) == row.told
    assert list(faults(made.state)) == []
    for (key, *path), value in row.left.items():
        found = at(made.state.get(key), path) if key in made.state else GONE
        assert found == value and type(found) is type(value), (key, path, found)
    for outcome in made.outcomes:  # what was typed is offered back from there
        assert outcome.writes and all(write in operation.writes for write in outcome.writes)


UNDONE = [
    Row("undo of a set", "it was changed since", (Set("block/b", ("enabled",), False),), (Set("block/b", ("enabled",), True),), (
        ("changed_since", "block/b", "Bo", True),
    ), {("block/b", "enabled"): True}),
    Row("undo of an addition", "edges of others on it", (Put("block/n", block("n")),), (Put("edge/o", edge("a", "n")),), (), {
        ("block/n",): GONE, ("edge/o",): GONE,
    }),
    Row("undo of an addition", "it was changed", (Put("block/n", block("n")),), (Set("block/n", ("enabled",), False),), (
        ("changed_since", "block/n", "Bo", True),
    ), {("block/n", "enabled"): False}),
    Row("undo of a move into a container", "nothing", (Set("block/b", ("parent",), "m"),), (), (), {
        ("block/b", "parent"): None, ("edge/ab", "target"): "b",
    }),
    Row("undo of typing", "typing beside it", (Splice("block/b", PROMPT, 5, 0, " mine"),), (
        Splice("block/b", PROMPT, 5, 0, "!"),
    ), (), {("block/b", "with", "prompt"): "hello! <a.x>"}),
]


@pytest.mark.parametrize("row", UNDONE, ids=lambda row: f"{row.operation} · {row.beside}")
def test_an_undo_beside_what_another_person_did(row: Row) -> None:
    start = Entities(START)
    done = expand(start, Operation(row.asked))
    back = inverse(start, done.effects)
    view = fold(start, done.effects)
    made = resolve(fold(view, row.since), [back], [Change("Bo", row.since)])
    assert tuple((one.code, one.key, one.by, one.refused) for one in made.outcomes) == row.told
    assert list(faults(made.state)) == []
    for (key, *path), value in row.left.items():
        assert (at(made.state.get(key), path) if key in made.state else GONE) == value, (key, path)
    if row.told:  # *Overwrite* sends it without its guards
        over = resolve(fold(view, row.since), [Operation(back.writes)], [Change("Bo", row.since)])
        assert over.outcomes == () and over.effects
