"""Messages of drafts as JSON: what is written is read back, and what no client of ours sends is refused with its place."""

from __future__ import annotations

import json

import pytest
from written_messages import entry_written, request_written

from stepless.drafts.rules.effects import Delete, Put, Rename, Set, Splice, Unset
from stepless.drafts.rules.messages import Malformed, entry_read, read_request
from stepless.drafts.rules.requests import EditRequest, Guard, LogEntry, Operation, Outcome
from stepless.limits import MAX_DOCUMENT_DEPTH
from stepless.model.json import JSON

WRITES = (
    Put("block/a", {"id": "a", "1": {"#": "1.0"}}), Delete("edge/e"), Set("doc", ("a", "b"), None, "c"), Set("doc", ("a",), [1]),
    Unset("doc", ("x",)), Splice("text", ("yaml",), 3, 1, "\N{GRINNING FACE}"), Rename("block/a", "b", True),
    Rename("block/a", "c"),
)
OPERATIONS = (Operation(WRITES, (Guard("block/a", ("id",), "a"),), ((2, 1),)), Operation((Delete("edge/f"),)))
REQUEST = EditRequest("c1", 3, "tag", 7, OPERATIONS)


def test_a_request_comes_back() -> None:
    assert read_request(json.loads(json.dumps(request_written(REQUEST)))) == REQUEST


def test_an_item_comes_back_and_what_a_later_release_adds_is_ignored() -> None:
    item = LogEntry(9, "c1", 3, "tag", "ada", 5, WRITES[:6], (Outcome(0, "gone", "block/a", "bo", True, WRITES),), {"epoch": 2})  # type: ignore[arg-type]
    stored = json.loads(json.dumps(entry_written(item)))
    assert entry_read(stored) == item
    assert entry_read({**stored, "colour": 1, "effects": [*stored["effects"], ["swap", "block/a"]]}) == item


def test_numbers_that_javascript_writes_in_another_way_get_one_form() -> None:
    message = request_written(REQUEST._replace(operations=(Operation((Set("doc", ("a",), [1.0, 1.5, 2**60, -0.0, True]),)),)))
    read = read_request(message).operations[0].writes[0]
    assert isinstance(read, Set)
    assert read.value == [{"#": "1.0"}, 1.5, {"#": str(2**60)}, {"#": "-0.0"}, True]


def deep(levels: int) -> JSON:
    value: JSON = 1
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize(("change", "place"), [
    ({"client": ""}, "client"), ({"client": "x" * 65}, "client"), ({"client": "a\n"}, "client"), ({"n": 0}, "n"),
    ({"n": True}, "n"), ({"n": 1.0}, "n"), ({"base": -1}, "base"), ({"tag": None}, "tag"), ({"gestures": []}, "gestures"),
    ({"gestures": {}}, "gestures"), ({"gestures": [5]}, "gestures.0"),
    ({"gestures": [{"writes": 5}]}, "gestures.0.writes"), ({"gestures": [{"writes": [[]]}]}, "gestures.0.writes.0"),
    ({"gestures": [{"writes": [["swap", "a"]]}]}, "gestures.0.writes.0"),
    ({"gestures": [{"writes": [["del"]]}]}, "gestures.0.writes.0"),
    ({"gestures": [{"writes": [["set", "doc", "a", 1]]}]}, "gestures.0.writes.0"),
    ({"gestures": [{"writes": [["set", "doc", ["a"], "\ud800"]]}]}, "gestures.0.writes.0"),
    ({"gestures": [{"writes": [["set", "doc", ["a"], float("nan")]]}]}, "gestures.0.writes.0"),
    ({"gestures": [{"writes": [["set", "doc", ["a"], deep(MAX_DOCUMENT_DEPTH + 1)]]}]}, "gestures.0.writes.0"),
    ({"gestures": [{"writes": [["set", "doc", ["a"], deep(100_000)]]}]}, "gestures.0.writes.0"),
    ({"gestures": [{"writes": [["splice", "doc", ["a"], -1, 0, ""]]}]}, "gestures.0.writes.0"),
    ({"gestures": [{"writes": [], "guards": [[1]]}]}, "gestures.0.guards.0"),
    ({"gestures": [{"writes": [["del", "edge/a"]], "derived": [[0, 0]]}]}, "gestures.0.derived"),
])
def test_a_malformed_request_is_refused_with_its_place(change: dict[str, JSON], place: str) -> None:
    with pytest.raises(Malformed) as refused:
        read_request({**request_written(REQUEST), **change})
    assert refused.value.place == place and refused.value.message
