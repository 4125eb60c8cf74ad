"""A changed document in the author's text: it reads back, and what did not change is as it was."""

from __future__ import annotations

import difflib
import json
import re
from random import Random
from typing import Any

import pytest
from kept_comments import ANCHORS, HAND, TEXTS, canonical, edited, keeps

from stepless.compile.patching import patched
from stepless.compile.reading.read_yaml import read_yaml
from stepless.model.json import JSON


@pytest.mark.parametrize("name", TEXTS)
def test_every_edit_reads_back_and_an_addition_loses_no_comment(name: str) -> None:
    rng = Random(name)
    for _ in range(12):
        text = TEXTS[name]
        document = read_yaml(text.removeprefix("\ufeff"))
        for _ in range(4):
            after, what = edited(rng, document)
            if not after or not isinstance(after, dict):
                continue
            made = patched(text, after)
            assert canonical(read_yaml(made.removeprefix("\ufeff"))) == canonical(after), what
            if what == "add":
                assert comments(text) <= comments(made)
            assert made.startswith("\ufeff") == text.startswith("\ufeff")
            assert ("\r\n" in made) == ("\r\n" in text)
            if name == "json":
                json.loads(made)
            text, document = made, after


def comments(text: str) -> set[str]:
    return set(re.findall(r"(?:^|\s)(#[^\n\"'\r]*)", text))


def test_nothing_changed_is_nothing_touched() -> None:
    for text in TEXTS.values():
        assert patched(text, read_yaml(text.removeprefix("\ufeff"))) == text


def touched(before: str, after: str) -> tuple[list[str], list[str]]:
    """The lines that go, and those that come."""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm=""))[2:]
    return [line[1:] for line in lines if line.startswith("-")], [line[1:] for line in lines if line.startswith("+")]


def change(text: str, *path: Any, value: Any) -> tuple[list[str], list[str]]:
    document = read_yaml(text)
    inner = document
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return touched(text, patched(text, document))


def test_a_value_is_replaced_in_its_line_and_keeps_the_comment_behind_it() -> None:
    assert change(HAND, "nodes", "triage", "with", "cases", "auto", value="<score.body.risk> < 0.3") == (
        ["                auto:   <score.body.risk> < 0.2 and <order.body.amount> < 100   # fast lane"],
        ["                auto: <score.body.risk> < 0.3   # fast lane"],
    )
    gone, come = change(HAND, "nodes", "score", "type", value="code")
    assert (gone, come) == (["        type: http    # risk"], ["        type: code    # risk"])


def test_a_value_inside_braces_is_replaced_there() -> None:
    assert change(HAND, "nodes", "order", "with", "auth", "hmac", value="none") == (
        ['        with: {path: /refunds, method: POST, auth: {hmac: "${REFUND_WEBHOOK_SECRET}"},'],
        ["        with: {path: /refunds, method: POST, auth: {hmac: none},"],
    )


def test_a_new_node_has_the_indent_of_its_neighbours() -> None:
    gone, come = change(HAND, "nodes", "pay", value={"type": "http", "with": {"url": "u"}})
    assert gone == []
    assert come == ["    pay:", "        type: http", "        with:", "            url: u"]


def test_an_item_of_a_list_is_added_and_dropped_with_its_line() -> None:
    assert change(HAND, "nodes", "score", "retry", "retry_on", value=["timeout", "provider_error", "rate_limit"]) == (
        [], ["            - provider_error"],
    )
    assert change(HAND, "nodes", "score", "retry", "retry_on", value=["timeout"]) == (
        ["            # the provider's own limit", "            - rate_limit"], [],
    )
    assert change(HAND, "env", value=["PAYMENTS_API_KEY"])[1] == ["env: [PAYMENTS_API_KEY]"]


def test_a_dropped_key_takes_the_comment_above_it() -> None:
    document = read_yaml(HAND)
    del document["nodes"]["triage"]
    gone, come = touched(HAND, patched(HAND, document))
    assert come == [] and gone[0] == "    # before triage" and len(gone) == 8


def test_a_node_under_a_new_name_is_renamed_in_its_line() -> None:
    document = read_yaml(HAND)
    document["nodes"] = {("risk" if key == "score" else key): node for key, node in document["nodes"].items()}
    assert touched(HAND, patched(HAND, document)) == (["    score:"], ["    risk:"])


def test_a_value_that_becomes_longer_keeps_its_comment_on_a_line_of_its_own() -> None:
    gone, come = change(HAND, "nodes", "score", "type", value="two\nlines")
    assert gone == ["        type: http    # risk"] and come[-1] == "        # risk" and come[0].startswith("        type: |")


def test_an_anchor_whose_node_goes_moves_to_its_first_alias() -> None:
    document = read_yaml(ANCHORS)
    del document["nodes"]["one"]
    made = patched(ANCHORS, document)
    assert read_yaml(made) == document
    assert "retry: &twice {attempts: 2, backoff_ms: 10}" in made and made.count("*twice") == 1 and "# the second" in made


def test_a_value_behind_an_alias_gets_a_value_of_its_own() -> None:
    document = read_yaml(ANCHORS)
    document["nodes"]["two"]["retry"] = {"attempts": 5}
    made = patched(ANCHORS, document)
    assert read_yaml(made) == document and "&twice {attempts: 2, backoff_ms: 10}" in made and made.count("*twice") == 1


def test_the_anchored_value_changes_alone() -> None:
    document = json.loads(json.dumps(read_yaml(ANCHORS)))
    document["nodes"]["one"]["retry"]["attempts"] = 9
    made = patched(ANCHORS, document)
    assert canonical(read_yaml(made)) == canonical(document) and "# the second" in made


@pytest.mark.parametrize("text", ["", "# only a comment\n", "- a\n", "a: [\n", "a: 1\na: 2\n", "x"])
def test_a_text_that_is_no_document_is_written_anew(text: str) -> None:
    assert read_yaml(patched(text, {"id": "w", "nodes": {}})) == {"id": "w", "nodes": {}}


def test_json_stays_json_and_new_fields_have_lines_of_their_own() -> None:
    text = TEXTS["json"]
    document = read_yaml(text)
    document["nodes"]["score"]["label"] = "Risk"
    gone, come = touched(text, patched(text, document))
    assert (len(gone), len(come)) == (1, 2) and come[1] == '      "label": "Risk"'


def test_many_changes_cost_about_as_much_as_one() -> None:
    nodes = {f"n{number}": {"type": "http", "with": {"url": f"u{number}"}} for number in range(400)}
    document: dict[str, Any] = {"id": "w", "nodes": nodes}
    text = "# head\n" + patched("", document)
    for number in range(400):
        document["nodes"][f"n{number}"]["with"]["url"] = f"v{number}"
    gone, come = touched(text, patched(text, document))
    assert len(gone) == len(come) == 400


@pytest.mark.parametrize("first", range(0, 160, 20))
def test_comments_outside_of_what_changed_are_kept(first: int) -> None:
    for seed in range(first, first + 20):
        keeps(seed)


def test_a_node_that_moves_takes_its_lines_and_its_comments() -> None:
    document = read_yaml(HAND)
    names = ["order", "triage", "score", "note"]
    document["nodes"] = {name: document["nodes"][name] for name in names}
    made = patched(HAND, document)
    assert list(read_yaml(made)["nodes"]) == names and sorted(made.splitlines()) == sorted(HAND.splitlines())
    assert "    # before triage\n    triage:\n" in made and "    # --- in ---\n    order:\n" in made


def test_items_of_a_list_that_change_places_take_their_comments() -> None:
    document = read_yaml(HAND)
    document["nodes"]["score"]["retry"]["retry_on"].reverse()
    gone, come = touched(HAND, patched(HAND, document))
    assert (gone, come) == (["            - timeout"], ["            - timeout"])


def test_an_anchor_that_moves_behind_its_alias_changes_places_with_it() -> None:
    document = read_yaml(ANCHORS)
    document["nodes"] = dict(reversed(document["nodes"].items()))
    made = patched(ANCHORS, document)
    assert canonical(read_yaml(made)) == canonical(document)
    assert "three: {type: http, retry: &twice {attempts: 2, backoff_ms: 10}}" in made and "two: # the second" in made


def test_aliases_follow_their_anchor_where_all_of_them_change() -> None:
    document = json.loads(canonical(read_yaml(ANCHORS)))
    for node in document["nodes"].values():
        node["retry"]["attempts"] = 9
    assert touched(ANCHORS, patched(ANCHORS, document)) == (
        ["    retry: &twice {attempts: 2, backoff_ms: 10}"], ["    retry: &twice {attempts: 9, backoff_ms: 10}"],
    )


@pytest.mark.parametrize(("text", "edit", "wanted"), [
    ('# one\na:   # two\n  ? "\\n"\n  : 1\n  # three\n  b: 2\n', {"a": {"b": 2}}, "# one\na:   # two\n  # three\n  b: 2\n"),
    ('a:\n  ? "\\n"\n  : 1 # one\n  b: 2\n', {"a": {"c": 1, "b": 2}}, "a:\n  c: 1\n  # one\n  b: 2\n"),
    ('a: 1\n', {"a": 1, "\n": 2}, 'a: 1\n"\\n": 2\n'),
    ("a:\n  b: 1\n   # in a\n", {"a": {"b": 1}, "c": "x\ny"}, "a:\n  b: 1\n   # in a\nc: |-\n  x\n  y\n"),
    ("a:\n  b: 1\n    # in b\n", {"a": {"b": "x\ny"}}, 'a:\n  b: "x\\ny"\n    # in b\n'),
    ("a:   # one\n  b: 1\n  c: 2\n", {"a": {"d": 1}}, "a:   # one\n  d: 1\n"),
    ("a:   # one\n  b: 1\n", {"a": 2}, "a: 2   # one\n"),
    ("a: {b: 1,   # one\n    c: 2}\n", {"a": {"b": 1}}, "a: {b: 1   # one\n    }\n"),
    ("a:\n- b: 1\n  # two\n  c: 2\n", {"a": [{"c": 2}]}, "a:\n- # two\n  c: 2\n"),
    ("a:\n  b: 1   # one\n", {"a": {"c": "x\ny"}}, "a:\n  c: |-\n    x\n    y\n# one\n"),
])
def test_a_comment_beside_an_odd_place_is_kept(text: str, edit: dict[str, JSON], wanted: str) -> None:
    assert patched(text, edit) == wanted and canonical(read_yaml(wanted)) == canonical(edit)


def test_a_first_entry_that_makes_way_for_another_one_takes_its_own_comment_alone() -> None:
    text = "# about a\na: 1\nb: {x: 1}  # kept\nc: [1]  # kept too\n"
    assert patched(text, {"new": 2, "b": {"x": 1}, "c": [1], "z": 3}) == "new: 2\nb: {x: 1}  # kept\nc: [1]  # kept too\nz: 3\n"
