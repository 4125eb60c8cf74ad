"""How a published document is stored, and what the release before makes of one with limits per key."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stepless.compile import compile_document, compile_stored, features_of
from stepless.errors import NewerVersion
from stepless.model.stored.document import decode_document, encode_document, read_stored
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
    data = encode_document(PLAIN, ())
    assert data == json.dumps(PLAIN, ensure_ascii=False, separators=(",", ":")).encode()
    assert decode_document(data) == PLAIN


def test_a_document_with_limits_is_stored_inside_another_one() -> None:
    assert encode_document(LIMITED, {"limits"}) == STORED
    assert decode_document(STORED) == LIMITED
    graph = compile_stored(STORED, "v", KINDS)
    assert (graph.workflow_id, graph.limited, len(graph.root.nodes)) == ("pay", True, 2)


def test_the_release_before_finds_an_unknown_kind_in_it() -> None:
    """It does not look inside."""
    outside = {field: value for field, value in json.loads(STORED).items() if field != "stepless:limits"}
    with pytest.raises(NewerVersion, match="stepless:limits"):
        compile_stored(json.dumps(outside).encode(), "v", KINDS)


def test_a_document_with_other_features_names_them_all() -> None:
    document = {**LIMITED, "concurrency": {"max": 2, "by": "need(<input.customer>)"}}
    data = encode_document(document, features_of(document, limited=True))
    outside = json.loads(data)
    assert outside.pop("stepless:document") == document
    assert outside == {
        "id": "pay", "name": "Zahlen ü",
        "nodes": {"functions": {"type": "stepless:functions"}, "limits": {"type": "stepless:limits"}},
    }  # fmt: skip
    assert read_stored(data)[:2] == (document, {"functions", "limits"})
    assert compile_stored(data, "v", KINDS).slots is not None
    with pytest.raises(NewerVersion, match="stepless:functions"):  # as a release that does not know it reads it
        compile_stored(json.dumps(outside).encode(), "v", KINDS)


def test_a_feature_of_a_later_release_is_refused() -> None:
    later = {"id": "pay", "nodes": {"later": {"type": "stepless:later"}}, "stepless:document": PLAIN}
    assert decode_document(json.dumps(later).encode()) == later
    with pytest.raises(NewerVersion, match="stepless:later"):
        compile_stored(json.dumps(later).encode(), "v", KINDS)


def test_a_join_of_every_branch_is_a_feature_in_any_body() -> None:
    join = {"type": "join", "after": ["a", "b"], "join": {"mode": "every"}}
    body = {"nodes": {"a": {"type": "join"}, "b": {"type": "join"}, "j": join}}
    inside = {"id": "w", "nodes": {"l": {"type": "loop", "with": {"times": 1, "body": body}}}}
    assert features_of(inside, limited=False) == {"every"}
    assert features_of({"id": "w", **body}, limited=True) == {"every", "limits"}
    stored = encode_document(inside, {"every"})
    assert compile_stored(stored, "v", KINDS).root.nodes[0].container is not None
    assert json.loads(stored)["nodes"] == {"every": {"type": "stepless:every"}}


STRICT: dict[str, Any] = {
    "id": "w",
    "nodes": {
        "s": {"type": "manual"},
        "t": {"type": "transform", "after": "s", "with": {"value": ["<s.a!>", "is <s.a!>", "{{ '<s.a!>' }}"]}},
    },
}  # fmt: skip


def test_a_strict_reference_is_one_only_in_a_document_that_was_published_with_it() -> None:
    """To earlier releases it was text, and what they have published keeps its meaning."""
    assert features_of(STRICT, limited=False) == {"strict-references"}
    new = compile_stored(encode_document(STRICT, {"strict-references"}), "v", KINDS)
    old = compile_stored(encode_document(STRICT, ()), "v", KINDS)
    assert [len(graph.root.nodes[1].config.template.references) for graph in (new, old)] == [3, 0]
    assert features_of({"id": "w", "nodes": {"t": {"type": "transform", "with": {"value": "<b!"}}}}, limited=False) == set()


def test_functions_in_nodes_are_no_feature() -> None:
    """A release that does not know them refuses the node."""
    node = {"type": "transform", "with": {"value": "{{ need(1) }}"}}
    document = {"id": "w", "concurrency": {"max": 1, "by": "<input.a>"}, "nodes": {"t": node}}
    assert features_of(document, limited=True) == {"limits"}


def test_no_checked_document_looks_like_one_with_another_inside() -> None:
    with pytest.raises(Exception, match="stepless:limits"):
        compile_document({**PLAIN, "stepless:limits": PLAIN}, KINDS)
