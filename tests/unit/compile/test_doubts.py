"""Warnings for documents that are valid but probably not what the author meant; they refuse nothing."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.compile import check_document, compile_document
from stepless.expressions.references import doubtful_words
from stepless.limits import MAX_DOUBTFUL_WORDS
from stepless.nodes import KINDS


def warned(node: dict[str, Any], **more: Any) -> list[tuple[str, str, str]]:
    nodes = {"order": {"type": "manual"}, "n": {"after": "order", **node}, **more}
    compiled = compile_document({"id": "d", "nodes": nodes}, KINDS)  # which refuses nothing
    assert compiled.warnings == check_document({"id": "d", "nodes": nodes}, KINDS)
    return [(finding.code, finding.path, finding.mend) for finding in compiled.warnings]


@pytest.mark.parametrize(("value", "place", "near"), [
    ("hi <ordr>", "value", "order"), ({"a": ["<oder>"]}, "value.a.0", "order"), ("<Order>", "value", "order"),
    ("<rum>", "value", "run"),
])  # fmt: skip
def test_a_bare_word_near_a_known_name_is_doubted(value: Any, place: str, near: str) -> None:
    [(code, path, mend)] = warned({"type": "transform", "with": {"value": value}})
    assert (code, path, mend) == ("doubtful_reference", f"nodes.n.with.{place}", f"Did you mean `<{near}>`?")


@pytest.mark.parametrize("value", [
    "<order>", "<b>bold</b>", "<oder>closed</oder>", "<div>", "a <br> b", "x < y > z", "<orders-of-magnitude>", "{{ 1 }}", "${no",
])  # fmt: skip
def test_other_words_in_brackets_are_text(value: str) -> None:
    assert warned({"type": "transform", "with": {"value": value}}) == []


def test_of_many_words_only_some_are_compared() -> None:
    words = " ".join(f"<w{number:05}>" for number in range(20_000))
    guessed: dict[str, str | None] = {}
    assert list(doubtful_words(words, lambda word: word == "order", guessed, MAX_DOUBTFUL_WORDS)) == []
    assert len(guessed) == MAX_DOUBTFUL_WORDS


def test_a_condition_without_else_is_a_warning() -> None:
    open_end = {"a": "<order.x> > 1"}
    for cases, expected in ((open_end, [("no_else", "nodes.n.with.cases")]), ({**open_end, "b": "else"}, [])):
        found = warned({"type": "condition", "with": {"cases": cases}})
        assert [(code, path) for code, path, _ in found] == expected
        assert all("`otherwise: else`" in mend for _, _, mend in found)
