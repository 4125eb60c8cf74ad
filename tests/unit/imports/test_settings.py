"""The settings of converted nodes that depend on their kind."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.imports.settings import disabled, is_retried, kept
from stepless.nodes import KINDS


@pytest.mark.parametrize(("node", "wanted"), [
    ({"type": "condition", "with": {"cases": {"yes": "true", "no": "else"}}}, {"exit": "yes"}),
    ({"type": "condition", "with": {"cases": {"only": "true"}}}, False),
    ({"type": "approval", "with": {"message": "m"}}, {"exit": "approved"}),
    ({"type": "approval", "with": {"message": "m", "approvers": [5]}}, {"exit": "approved"}),
    ({"type": "http", "with": {"url": "<a.url>"}}, False),
    ({"type": "end"}, False),
    ({"type": "join"}, False),
])  # fmt: skip
def test_a_disabled_node_leaves_by_its_first_exit(node: dict[str, Any], wanted: Any) -> None:
    assert disabled(node) == wanted


def test_a_function_that_stands_in_for_a_disabled_node_has_one_exit() -> None:
    node = {"type": "condition", "label": "C", "after": "a", "with": {}, "enabled": {"exit": "yes"}, "retry": {"attempts": 2}}
    assert kept(node) == {"label": "C", "after": "a", "enabled": False}
    assert kept({"type": "join", "after": "a"}) == {"after": "a"}


def test_only_what_calls_something_is_retried() -> None:
    assert {kind for kind in KINDS if is_retried(kind)} >= {"function", "http", "llm", "workflow", "loop", "parallel"}
    assert not any(map(is_retried, ("condition", "wait", "approval", "callback", "set", "transform", "join", "end", "manual")))
