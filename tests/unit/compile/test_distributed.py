"""What the body of a `distributed` node may hold (compile/checks/distributed.py)."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.compile import check_document, compile_document
from stepless.nodes import KINDS

CALL: dict[str, Any] = {"type": "function", "with": {"call": "a.b"}}


def document(body: dict[str, Any], after: dict[str, Any] | None = None, **with_: Any) -> dict[str, Any]:
    each = {"type": "distributed", "after": "go", "with": {"items": "<go.rows>", "body": {"nodes": body}, **with_}}
    return {
        "id": "fan", "variables": {"seen": 0, "own": 0},
        "nodes": {"go": {"type": "manual"}, "each": each, **(after or {})},
    }  # fmt: skip


def found(body: dict[str, Any], after: dict[str, Any] | None = None, **with_: Any) -> list[tuple[str, str]]:
    return [(finding.code, finding.path) for finding in check_document(document(body, after, **with_), KINDS)]


IN = "nodes.each.with.body.nodes.one"
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "approval": ({"type": "approval", "with": {"message": "Go on?"}}, IN),
    "wait": ({"type": "wait", "with": {"for": "1s"}}, IN),
    "workflow": ({"type": "workflow", "with": {"workflow": "other"}}, IN),
    "callback of a lambda": ({"type": "lambda", "with": {"function": "f", "mode": "callback"}}, IN),
    "respond": ({"type": "respond"}, IN),
    "halt": ({"type": "end", "with": {"halt": True}}, IN),
    "limit": ({**CALL, "concurrency": {"max": 3}}, f"{IN}.concurrency"),
    "back-off": ({**CALL, "retry": {"attempts": 8, "backoff_ms": 5_000, "max_backoff_ms": 60_000}}, f"{IN}.retry"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_a_body_cannot_wait_end_the_run_or_hold_its_place_for_long(what: str) -> None:
    node, path = REFUSED[what]
    assert ("not_in_distributed", path) in found({"one": node})


def test_a_distributed_node_stands_at_the_top_level() -> None:
    inner = document({"one": CALL})["nodes"]["each"]
    inner.pop("after")
    loop = {"type": "loop", "after": "go", "with": {"times": 2, "body": {"nodes": {"in": inner}}}}
    codes = [finding.code for finding in check_document({"id": "l", "nodes": {"go": {"type": "manual"}, "l": loop}}, KINDS)]
    assert "not_in_distributed" in codes


def test_a_body_writes_only_variables_that_nobody_reads_outside() -> None:
    body = {"one": {"type": "set", "with": {"variables": {"seen": 1, "own": 1}}}}
    reader = {"out": {"type": "transform", "after": "each", "with": {"value": "<workflow.seen>"}}}
    assert found(body, reader) == [("not_in_distributed", f"{IN}.with.variables.seen")]


def test_graphs_of_work_and_inner_loops_are_allowed() -> None:
    body = {
        "one": {**CALL, "retry": {"attempts": 3}},
        "size": {"type": "condition", "after": "one", "with": {"cases": {"big": "<item.n> > 3", "small": "else"}}},
        "l": {"type": "loop", "after": "size.big", "with": {"times": 2, "body": {"nodes": {"x": {
            "type": "transform", "with": {"value": ["<item.n>", "<item.index>", "<each.index>", "<loop.index>", "<go.k>"]},
        }}}}},
    }  # fmt: skip
    assert found(body) == []
    assert compile_document(document(body), KINDS).root.nodes[1].container is not None


def test_an_item_is_read_inside_only() -> None:
    outside = {"out": {"type": "transform", "after": "each", "with": {"value": "{{ <item> }}"}}}
    assert ("unknown_reference", "nodes.out.with.value") in found({"one": CALL}, outside)


def test_a_body_does_not_read_all_items() -> None:
    body = {"one": {"type": "transform", "with": {"value": "<each.items>"}}}
    assert found(body) == [("unknown_turn_field", f"{IN}.with.value")]


@pytest.mark.parametrize(("with_", "code"), [
    ({"items": None}, "out_of_range"), ({"lanes": 201}, "out_of_range"), ({"concurrency": 0}, "out_of_range"),
    ({"shard": 5_001}, "out_of_range"), ({"items": ["${KEY}"]}, "secret_in_inputs"), ({"rate": 3}, "unknown_field"),
    ({"source": {"file": "a.csv"}}, "out_of_range"),
])  # fmt: skip
def test_parameters_have_bounds(with_: dict[str, Any], code: str) -> None:
    assert code in [code for code, _ in found({"one": CALL}, **with_)]


@pytest.mark.parametrize(("source", "place"), [
    ({}, ""), ({"file": "a.csv", "s3": {"bucket": "b", "key": "a.csv"}}, ""), ({"file": "a.txt"}, ".format"),
    ({"file": "/etc/a.csv"}, ".file"), ({"file": "../a.csv"}, ".file"), ({"file": "in/.hidden.csv"}, ".file"),
    ({"file": ""}, ".file"), ({"file": "a.csv", "delimiter": "ab"}, ".delimiter"),
    ({"file": "a.csv", "delimiter": '"'}, ".delimiter"), ({"file": "a.csv", "format": "objects"}, ".format"),
    ({"s3": {"bucket": "b"}}, ".s3"), ({"s3": {"bucket": "b", "key": "a.csv", "prefix": "a/"}}, ".s3"),
    ({"s3": {"bucket": "b", "prefix": "a/"}, "format": "csv"}, ".format"),
    ({"s3": {"bucket": "b", "key": "k" * 1_025}}, ".s3.key"),
])  # fmt: skip
def test_a_source_is_one_place_of_rows(source: dict[str, Any], place: str) -> None:
    assert ("out_of_range", f"nodes.each.with.source{place}") in found({"one": CALL}, items=None, source=source)


@pytest.mark.parametrize("into", [{}, {"file": "a", "s3": {"bucket": "b", "prefix": "a/"}}])
def test_results_go_to_one_place(into: dict[str, Any]) -> None:
    assert ("out_of_range", "nodes.each.with.into") in found({"one": CALL}, into=into)


@pytest.mark.parametrize("source", [
    {"file": "in/a.jsonl"}, {"file": "in/a.CSV.gz"}, {"file": "<go.path>", "format": "csv", "delimiter": ";", "header": False},
    {"s3": {"bucket": "b", "key": "a.ndjson"}}, {"s3": {"bucket": "<go.b>", "prefix": ""}}, "<go.source>",
])  # fmt: skip
def test_sources_may_be_named_by_references(source: Any) -> None:
    assert found({"one": CALL}, items=None, source=source, into={"file": "out/<run.id>"}) == []


@pytest.mark.parametrize("with_", [
    {"items": None, "source": {"file": "${KEY}.csv"}}, {"into": {"s3": {"bucket": "b", "prefix": "${KEY}"}}},
])  # fmt: skip
def test_places_have_no_secrets(with_: dict[str, Any]) -> None:
    assert "secret_in_inputs" in [code for code, _ in found({"one": CALL}, **with_)]


def test_tables_are_not_written_yet() -> None:
    assert found({"one": CALL}, into={"file": "out", "format": "csv"})
