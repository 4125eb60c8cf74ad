"""A changed document in the author's text: it reads back, and what did not change is as it was."""

from __future__ import annotations

import copy
import difflib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from stepless.compile.patching import patched
from stepless.compile.reading.read_yaml import read_yaml
from stepless.model.json import JSON

ROOT = Path(__file__).parents[4]
HAND = """\
# Refunds. Owner: payments team
id: refund-approval        # never change
name: "Refund approval"
variables: {status: pending}              # workflow variables

env: [PAYMENTS_API_KEY,  REFUND_WEBHOOK_SECRET]
nodes:
    # --- in ---
    order:
        type: webhook
        with: {path: /refunds, method: POST, auth: {hmac: "${REFUND_WEBHOOK_SECRET}"},
               schema: {type: object, required: [order_id, amount]}}

    score:
        type: http    # risk
        after: order
        with:
            url: 'https://risk.example.com/score'
            body: {order: <order.body.order_id>, amount: <order.body.amount>}
        retry:
            attempts: 4
            retry_on:
            - timeout
            # the provider's own limit
            - rate_limit
        timeout_ms: 10000
    # before triage
    triage:
        type: condition
        after: score
        with:
            cases:
                auto:   <score.body.risk> < 0.2 and <order.body.amount> < 100   # fast lane
                review: else
    note:
        type: transform
        after: [triage.auto, triage.review]
        with:
            value: >-
                folded text that is long enough to be wrapped somewhere else than where the author
                wrapped it, which a writer must not touch
            other: |
                line one
                  line two
"""
ANCHORS = """\
id: a
nodes:
  one:
    type: http
    retry: &twice {attempts: 2, backoff_ms: 10}
  two: # the second
    type: http
    retry: *twice
  three: {type: http, retry: *twice}
"""


def canonical(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def texts() -> dict[str, str]:
    made = {"hand": HAND, "anchors": ANCHORS, "json": json.dumps(read_yaml(HAND), indent=2)}
    made["crlf"] = "\ufeff" + HAND.replace("\n", "\r\n")
    for file in sorted((ROOT / "examples").rglob("*.yaml")):
        text = file.read_text("utf-8")
        if "nodes:" in text:
            made[file.parent.name] = text
    return made


TEXTS = texts()
VALUES: list[JSON] = [
    "x", "", "a: b # c", "two\nlines", "  lead", 3, 2.5, True, None, "yes", "<a.b> < 2", [1, "a"], {"k": {"d": "e"}}, {}, [],
    "\u00e9\N{GRINNING FACE}", "- item", "{x", "'q'", '"', "\ttab", "line\n\n", "\n", "1e3", "null", [{"a": 1, "b": "x\ny"}, "t"],
    "x" * 150, "word " * 40, 2**70, -0.0, 1.0,
]


def paths(value: JSON, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in parts:
        yield (*path, step)
        yield from paths(inner, (*path, step))


def edited(rng: Random, document: JSON) -> tuple[JSON, str]:
    """The document after one edit, and what the edit was."""
    made = copy.deepcopy(document)
    path = rng.choice(list(paths(made)))
    inner = made
    for step in path[:-1]:
        inner = inner[step]
    what = rng.choice(("set", "set", "add", "drop", "rename", "move"))
    value = copy.deepcopy(rng.choice(VALUES))
    if what == "set":
        inner[path[-1]] = value
    elif what == "drop":
        del inner[path[-1]]
    elif isinstance(inner, list):
        inner.insert(rng.randrange(len(inner) + 1), value)
    else:
        items = list(inner.items())
        if what == "add":
            items.insert(rng.randrange(len(items) + 1), (f"new{rng.randrange(999)}", value))
        elif what == "rename":
            items = [(f"{key}_2" if key == path[-1] else key, held) for key, held in items]
        else:
            items.append(items.pop(rng.randrange(len(items))))
        inner.clear()
        inner.update(items)
    return made, what


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
