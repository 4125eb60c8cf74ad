"""For any input, the compiler returns a graph or findings."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator

from stepless.compile import check_document, compile_document, content_hash, json_schema, parse
from stepless.errors import DocumentRefused
from stepless.model.findings import Severity
from stepless.model.kind import Kinds
from stepless.nodes import KINDS

REFUND = """
id: refund
variables: {status: pending}
env: [KEY]
nodes:
  order: {type: manual}
  triage:
    type: condition
    after: order
    with: {cases: {auto: <order.amount> < 100, review: else}}
  each:
    type: loop
    after: triage.auto
    join: {mode: count, count: 1, errors: collect-all, vars: {custom: "<input>[0]"}}
    with:
      items: <order.rows>
      body:
        nodes:
          pay: {type: function, with: {call: pay, args: {row: <loop.item>, key: "${KEY}"}}, retry: {attempts: 2}}
          note: {type: function, after: [{from: pay.error, param: why, key: message, condition: {present: true}}]}
        edges: [{source: pay, target: note, handle: source}]
  ask: {type: approval, after: triage.review, with: {message: "<order.id>?", fields: {note: {type: string}}, timeout: 2d}}
  deny: {type: set, after: [ask.rejected, ask.timeout], with: {variables: {status: denied}}}
  done: {type: join, after: ask.approved, merge: json_object, on_parent_failure: substitute_default, default: null}
timeout: 3d
"""
junk = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "order", "<order.x>", "<ghost.x>", "{{ 1"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["a", "type", "nodes", "after", "from", "1 x"]), inner, max_size=3),
    max_leaves=6,
)


def places_in(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place, *(found for key, inner in entries for found in places_in(inner, (*place, key)))]


PLACES = places_in(parse(REFUND))[1:]


def test_the_example_is_published_without_findings(kinds: Kinds) -> None:
    assert check_document(parse(REFUND), kinds) == ()
    ids = [node.id for node in compile_document(parse(REFUND), kinds).root.nodes]
    assert ids == ["order", "triage", "each", "ask", "deny", "done"]


@given(st.lists(st.tuples(st.sampled_from(PLACES), junk), min_size=1, max_size=3))
def test_a_spoilt_document_gives_a_graph_or_findings(kinds: Kinds, spoils: list[tuple[tuple[Any, ...], Any]]) -> None:
    spoilt: Any = copy.deepcopy(parse(REFUND))
    for place, value in spoils:
        parent = spoilt
        for step in place[:-1]:
            parent = parent[step] if isinstance(parent, dict) and step in parent else None
        if isinstance(parent, dict):
            parent[place[-1]] = value
    errors = [finding for finding in check_document(spoilt, kinds) if finding.severity is Severity.ERROR]
    try:
        compile_document(spoilt, kinds)
        assert not errors
    except DocumentRefused as refused:
        assert list(refused.findings) == errors


@pytest.mark.parametrize(
    "document", [{}, {"id": 5, "nodes": 5}, {"id": "a", "nodes": {"a": None}}, {"nodes": []}, {"id": "a", "edges": 1}],
)
def test_a_document_that_is_none_is_refused(kinds: Kinds, document: Any) -> None:
    with pytest.raises(DocumentRefused) as caught:
        compile_document(document, kinds)
    assert caught.value.findings


# -- the hash ---------------------------------------------------------------------------------------------------------


def test_layout_and_language_do_not_change_the_hash() -> None:
    document = parse(REFUND)
    spellings = [json.dumps(document, indent=3), REFUND.replace("\nnodes", "\n# note\nnodes")]
    assert {content_hash(parse(text)) for text in spellings} == {content_hash(document)}
    assert len(content_hash(document)) == 64


def test_every_change_of_meaning_changes_the_hash() -> None:
    cases = "{auto: <order.amount> < 100, review: else}"
    assert cases in REFUND
    changed = [REFUND.replace("pending", "open"), REFUND.replace(cases, "{review: else, auto: <order.amount> < 100}")]
    assert len({content_hash(parse(text)) for text in [REFUND, *changed]}) == 3


def test_the_hash_is_pinned_because_stored_versions_are_known_by_it() -> None:
    assert content_hash({"id": "ä", "nodes": {}}) == "3d418d3572795ad06ea9d3ec54653113acafb14f60bc84c63f3e7bfa44520ea0"


# -- the schema -------------------------------------------------------------------------------------------------------


def test_the_schema_accepts_what_the_compiler_accepts(kinds: Kinds) -> None:
    validator = Draft202012Validator(json_schema(kinds))
    assert [error.message for error in validator.iter_errors(parse(REFUND))] == []


@pytest.mark.parametrize(("place", "value"), [
    (("nodes", "order", "typ"), "manual"),
    (("nodes", "order", "type"), "manuel"),
    (("nodes", "triage", "with"), {"cases": []}),
    (("nodes", "triage", "with"), {}),
    (("nodes", "each", "with", "body", "nodes", "pay", "with"), {"cal": "x"}),
    (("nodes", "each", "with", "body", "nodes"), {}),
    (("nodes", "each", "join", "mode"), "most"),
    (("nodes", "each", "with", "on_error"), "<order.x>"),
    (("nodes", "loop"), {"type": "join"}),
    (("nodes", "1 x"), {"type": "join"}),
    (("nodes",), {}),
    (("timeout",), 5),
])
def test_the_schema_refuses_what_the_compiler_refuses(kinds: Kinds, place: tuple[str, ...], value: Any) -> None:
    document: Any = copy.deepcopy(parse(REFUND))
    parent = document
    for step in place[:-1]:
        parent = parent[step]
    parent[place[-1]] = value
    assert not Draft202012Validator(json_schema(kinds)).is_valid(document)
    assert any(finding.severity is Severity.ERROR for finding in check_document(document, kinds))


def test_the_schema_takes_a_reference_wherever_a_template_stands(kinds: Kinds) -> None:
    document = {"id": "d", "nodes": {
        "m": {"type": "manual"},
        "f": {"type": "function", "after": "m", "with": {"times": "<m.n>"}},
        "w": {"type": "llm", "after": "m", "with": {"prompt": [{"role": "<m.role>", "text": "hi"}]}},
    }}
    assert Draft202012Validator(json_schema(kinds)).is_valid(document)
    assert check_document(document, kinds) == ()


def placed(line: int, source: str) -> dict[str, Any]:
    """A document with its source, whose nodes are at a line."""
    call = {"type": "function", "with": {"call": "a.b"}, "at": [line, line + 1]}
    inner = {"type": "parallel", "with": {"branches": 2, "body": {"nodes": {"x": call}}}}
    loop = {"type": "loop", "with": {"times": 1, "body": {"nodes": {"p": inner}}}, "at": [line, line]}
    made_by = {"language": "python", "file": "a.py", "function": "f", "source": source}
    return {"id": "w", "made_by": made_by, "nodes": {"s": {"type": "manual"}, "l": {**loop, "after": "s"}}}


def test_where_a_document_comes_from_is_no_part_of_its_version() -> None:
    written = json.dumps(placed(1, "")).replace(', "at": [1, 1]', "").replace(', "at": [1, 2]', "")
    bare = {name: value for name, value in json.loads(written).items() if name != "made_by"}
    assert '"at"' not in written
    assert content_hash(placed(1, "one")) == content_hash(placed(7, "two")) == content_hash(bare)
    assert check_document(placed(1, "one"), KINDS) == ()


def test_values_of_a_node_that_are_named_at_are_part_of_the_version() -> None:
    def sent(at: int) -> dict[str, Any]:
        body = {"nodes": {"x": {"at": at}}, "made_by": at}
        params = {"url": "https://a.example", "method": "POST", "body": body}
        return {"id": "w", "nodes": {"at": {"type": "http", "with": params}}}

    assert content_hash(sent(1)) != content_hash(sent(2))
    assert content_hash({**sent(1), "variables": {"at": 1}}) != content_hash({**sent(1), "variables": {"at": 2}})


def test_lines_are_the_first_and_the_last() -> None:
    document = placed(1, "")
    document["nodes"]["s"]["at"] = [3, 2]
    (finding,) = check_document(document, KINDS)
    assert (finding.code, finding.path, finding.severity.value) == ("out_of_range", "nodes.s.at", "error")
    for lines in ([0, 1], [1], [1, 2, 3], [1.0, 2], "1"):
        document["nodes"]["s"]["at"] = lines
        assert {found.code for found in check_document(document, KINDS)} == {"invalid_value"}
