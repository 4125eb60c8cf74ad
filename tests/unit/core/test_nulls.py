"""A failure about a null names the references that were null."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.core.values.reference_values import with_nulls
from stepless.limits import MAX_SHOWN_NULLS

BODY = {"nodes": {"x": {"type": "join"}}}


@pytest.mark.parametrize(("node", "told"), [
    ({"type": "loop", "with": {"items": "<led.n>", "body": BODY}}, "items is null, not a list or an object; `<led.n>` is null"),
    ({"type": "loop", "with": {"times": "<led.n>", "body": BODY}}, "times is null, not a whole number ≥ 0; `<led.n>` is null"),
    ({"type": "parallel", "with": {"branches": "<led.n>", "body": BODY}}, "branches is null, not a whole number ≥ 0; `<led.n>`"),
    ({"type": "loop", "with": {"while": "<led.n> < 3", "body": BODY}}, "`<led.n>` is null"),
    ({"type": "transform", "with": {"value": "{{ <led.a> + <led.b> + <led.id> }}"}}, "; `<led.a>`, `<led.b>` are null"),
    ({"type": "condition", "with": {"cases": {"x": "<led.n> > 1", "y": "else"}}}, "; `<led.n>` is null"),
    ({"type": "wait", "with": {"for": "<led.time>"}}, "`for` is null"),
    ({"type": "approval", "with": {"message": "<led.question>"}}, "should be text, not null"),
])  # fmt: skip
def test_a_failure_names_what_was_null(node: dict[str, Any], told: str, play: Any) -> None:
    run = play({"led": {"type": "manual"}, "n": {"after": "led", **node}})
    run.begin({"id": 1})
    error = run.state.get("n").error
    assert told in error["message"]
    assert "null" in error["message"].rpartition(";")[2]


def test_a_failure_about_something_else_names_none() -> None:
    assert with_nulls("the list is empty", ("<led.rows>",)) == "the list is empty"
    assert with_nulls("`nullable` is no word", ("<led.rows>",)) == "`nullable` is no word"
    assert with_nulls("it is null", ()) == "it is null"


def test_a_message_names_each_once_and_not_too_many() -> None:
    told = with_nulls("it is null", [f"<a.{place // 2}>" for place in range(99)])
    assert told.count("`<a.") == MAX_SHOWN_NULLS and told.endswith("are null")
