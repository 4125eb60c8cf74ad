"""The limits of a draft and of a request: what is at the limit is taken, and one more is refused with its code or its place."""

from __future__ import annotations

import pytest
from replica import MAX_JOINED_WRITES, MAX_UNDO, Replica

from stepless.drafts.rules.effects import Delete, Put, Set, Splice, all_written
from stepless.drafts.rules.messages import Malformed, read_request
from stepless.drafts.rules.requests import Operation
from stepless.drafts.rules.resolve import resolve
from stepless.drafts.rules.state import Entities
from stepless.drafts.rules.values import Object
from stepless.limits import (
    MAX_COUNT,
    MAX_DOCUMENT_DEPTH,
    MAX_DRAFT_BLOCKS,
    MAX_INTEGER_BITS,
    MAX_INTENT_WRITES,
    MAX_KEY_CHARACTERS,
)
from stepless.model.json import JSON


def block(number: int) -> Object:
    return {"id": f"n{number}", "type": "http", "parent": None, "order": "V"}


def asked(**changed: JSON) -> JSON:
    return {"client": "c", "n": 1, "tag": "t", "base": 0, "gestures": [{"writes": [["del", "block/a"]]}], **changed}


def written(*writes: JSON, **more: JSON) -> JSON:
    return asked(gestures=[{"writes": list(writes), **more}])


def nested(levels: int) -> JSON:
    made: JSON = 1
    for _ in range(levels):
        made = [made]
    return made


def test_a_draft_has_so_many_blocks_and_not_one_more() -> None:
    state = Entities({"doc": {"id": "w", "nodes": None}, **{f"block/{one}": block(one) for one in range(MAX_DRAFT_BLOCKS - 1)}})
    last = resolve(state, [Operation((Put("block/last", block(MAX_DRAFT_BLOCKS)),))])
    assert last.outcomes == () and last.state.blocks == MAX_DRAFT_BLOCKS
    more = resolve(last.state, [Operation((Set("block/0", ("name",), "x"), Put("block/more", block(MAX_DRAFT_BLOCKS + 1))))])
    assert [(one.code, one.key, one.refused) for one in more.outcomes] == [("too_many_blocks", "block/more", True)]
    assert more.effects == ()
    instead = resolve(last.state, [Operation((Delete("block/0"), Put("block/more", block(MAX_DRAFT_BLOCKS + 1))))])
    assert instead.outcomes == () and instead.state.blocks == MAX_DRAFT_BLOCKS


LETTERS = "c" * MAX_KEY_CHARACTERS
DIGITS = 2**MAX_INTEGER_BITS


@pytest.mark.parametrize(
    ("taken", "refused", "place"),
    [
        (asked(client=LETTERS), asked(client=LETTERS + "c"), "client"),
        (asked(tag=LETTERS), asked(tag=LETTERS + "c"), "tag"),
        (asked(n=1), asked(n=0), "n"),
        (asked(n=MAX_COUNT), asked(n=MAX_COUNT + 1), "n"),
        (asked(base=MAX_COUNT), asked(base=MAX_COUNT + 1), "base"),
        (written(*[["del", "a"]] * MAX_INTENT_WRITES), written(*[["del", "a"]] * (MAX_INTENT_WRITES + 1)), "gestures.0.writes"),
        (
            written(["del", "doc"], guards=[["doc", [], None]] * MAX_INTENT_WRITES),
            written(["del", "doc"], guards=[["doc", [], None]] * (MAX_INTENT_WRITES + 1)), "gestures.0.guards",
        ),
        (
            written(["unset", "doc", ["a"] * MAX_DOCUMENT_DEPTH]), written(["unset", "doc", ["a"] * (MAX_DOCUMENT_DEPTH + 1)]),
            "gestures.0.writes.0",
        ),
        (
            written(["set", "doc", ["a"], nested(MAX_DOCUMENT_DEPTH)]),
            written(["set", "doc", ["a"], nested(MAX_DOCUMENT_DEPTH + 1)]), "gestures.0.writes.0",
        ),
        (written(["set", "doc", ["a"], DIGITS - 1]), written(["set", "doc", ["a"], DIGITS]), "gestures.0.writes.0"),
        (
            written(["splice", "doc", ["a"], MAX_COUNT, MAX_COUNT, ""]), written(["splice", "doc", ["a"], MAX_COUNT + 1, 0, ""]),
            "gestures.0.writes.0",
        ),
        (written(["splice", "doc", ["a"], 0, 0, ""]), written(["splice", "doc", ["a"], -1, 0, ""]), "gestures.0.writes.0"),
        (
            written(["del", "doc"], ["del", "doc"], derived=[[1, 0]]), written(["del", "doc"], ["del", "doc"], derived=[[1, 1]]),
            "gestures.0.derived",
        ),
    ],
)  # fmt: skip
def test_a_request_is_taken_at_its_limit_and_refused_beyond_with_the_place(taken: JSON, refused: JSON, place: str) -> None:
    assert read_request(taken).operations
    with pytest.raises(Malformed) as raised:
        read_request(refused)
    assert raised.value.place == place


def test_a_tab_takes_back_its_last_actions_up_to_a_number() -> None:
    replica = Replica("c", Entities({"doc": {"id": "w", "text": ""}}))
    for number in range(MAX_UNDO + 5):
        assert replica.edit(Operation((Set("doc", ("q",), number),)))
        replica.message(lambda: "t")
        replica.sent = None  # committed, and heard by none
    undone = 0
    while replica.undo():
        undone += 1
    assert undone == MAX_UNDO


def test_a_request_takes_along_so_many_writes() -> None:
    replica = Replica("c", Entities({"doc": {"id": "w", "text": ""}}))
    for _ in range(MAX_JOINED_WRITES + 1):
        replica.edit(Operation((Splice("doc", ("text",), 0, 0, "x"),)))
    first = replica.message(lambda: "t")
    assert first is not None and sum(len(operation.writes) for operation in first.operations) == MAX_JOINED_WRITES
    assert len(replica.unsent) == 1 and all(all_written(operation.writes) for operation in first.operations)
