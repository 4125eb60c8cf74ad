"""How a published document is stored, and what the release before makes of one with limits per key."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stepless.compile import compile_document, compile_stored
from stepless.errors import NewerVersion
from stepless.model.stored_document import decode_document, encode_document
from stepless.nodes import KINDS

PLAIN: dict[str, Any] = {
    "id": "pay", "name": "Zahlen ü",
    "nodes": {"go": {"type": "manual"}, "a": {"type": "function", "after": "go", "with": {"function": "m:f"}}},
}  # fmt: skip
LIMITED: dict[str, Any] = {**PLAIN, "concurrency": {"max": 2, "by": "<input.customer>"}}
STORED = (
    '{"id":"pay","name":"Zahlen ü","nodes":{"limits":{"type":"stepless:limits"}},"stepless:limits":{"id":"pay","name":"Zahlen ü",'
    '"nodes":{"go":{"type":"manual"},"a":{"type":"function","after":"go","with":{"function":"m:f"}}},'
    '"concurrency":{"max":2,"by":"<input.customer>"}}}'
).encode()
"""A promise: this text stays readable."""


def test_a_document_without_limits_is_stored_as_it_is() -> None:
    data = encode_document(PLAIN, limited=False)
    assert data == json.dumps(PLAIN, ensure_ascii=False, separators=(",", ":")).encode()
    assert decode_document(data) == PLAIN


def test_a_document_with_limits_is_stored_inside_another_one() -> None:
    assert encode_document(LIMITED, limited=True) == STORED
    assert decode_document(STORED) == LIMITED
    graph = compile_stored(STORED, "v", KINDS)
    assert (graph.workflow_id, graph.limited, len(graph.root.nodes)) == ("pay", True, 2)


def test_the_release_before_finds_an_unknown_kind_in_it() -> None:
    """It does not look inside."""
    outside = {field: value for field, value in json.loads(STORED).items() if field != "stepless:limits"}
    with pytest.raises(NewerVersion, match="stepless:limits"):
        compile_stored(json.dumps(outside).encode(), "v", KINDS)


def test_no_checked_document_looks_like_one_with_another_inside() -> None:
    with pytest.raises(Exception, match="stepless:limits"):
        compile_document({**PLAIN, "stepless:limits": PLAIN}, KINDS)
