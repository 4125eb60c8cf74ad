"""Texts that are not an export, or one with an unusual structure."""

from __future__ import annotations

import random
from typing import Any

import pytest

from stepless.compile import compile_document
from stepless.errors import InvalidRequest
from stepless.imports.sim import convert
from stepless.nodes import KINDS

STATE = {"blocks": {"s": {"type": "starter", "name": "S"}}, "edges": []}


@pytest.mark.parametrize(
    "export",
    [
        {},
        [],
        None,
        7,
        "text",
        {"state": {}},
        {"state": {"blocks": [], "edges": []}},
        {"state": {"blocks": {}, "edges": {}}},
        {"id": "x", "nodes": {}},
        {"state": {"state": {"state": {"state": STATE}}}},
        {"blocks": {}, "edges": [], "x": float("nan")},
        {"blocks": {1: {}}, "edges": []},
    ],
)
def test_what_is_no_export_is_refused_with_what_was_expected(export: Any) -> None:
    with pytest.raises(InvalidRequest) as refused:
        convert(export)
    assert refused.value.code == "no_sim_export"
    assert '"state"' in refused.value.mend


@pytest.mark.parametrize("export", [STATE, {"version": "1.0", "state": STATE}, {"data": STATE}, {"data": {"state": STATE}}])
def test_an_export_is_read_in_each_of_its_forms(export: Any) -> None:
    assert convert(export).document == {"id": "sim-workflow", "on_failure": "halt", "nodes": {"S": {"type": "manual"}}}


def test_an_empty_export_is_a_workflow_that_does_nothing() -> None:
    imported = convert({"blocks": {}, "edges": []})
    assert compile_document(imported.document, KINDS)


def test_malformed_parts_are_left_out_and_named() -> None:
    blocks = {
        **STATE["blocks"],
        "a": 7,
        "b": {"name": "no type"},
        "c": {"type": "slack"},
        "d": {"type": "slack", "name": 3, "subBlocks": [1], "data": 4},
    }  # type: ignore[dict-item]
    edges = [7, {"source": "s"}, {"id": "e", "source": "s", "target": "c", "sourceHandle": 5}, {"source": "s", "target": "d"}]
    imported = convert(
        {"blocks": blocks, "edges": edges, "loops": {"x": {}}, "parallels": 3, "variables": [1, {"name": " "}], "novelty": 1}
    )
    assert list(imported.document["nodes"]) == ["S", "slack", "slack_2"]
    paths = {finding.path for finding in imported.findings}
    assert paths >= {"blocks.a", "blocks.b", "edges.0", "edges.1", "loops.x", "variables.0", "variables.1", "novelty"}


def test_a_field_that_nests_too_deeply_is_left_out_and_told() -> None:
    deep: Any = "x"
    for _ in range(40):
        deep = [deep]
    blocks = {
        **STATE["blocks"],
        "a": {"type": "slack", "name": "A", "subBlocks": {"f": {"value": deep}, "g": {"value": "[" * 900 + "]" * 900}}},
    }
    imported = convert({"blocks": blocks, "edges": [{"source": "s", "target": "a"}]})
    assert "sim_field_unreadable" in {finding.code for finding in imported.findings}
    assert list(imported.document["nodes"]["A"]["with"]["args"]) == ["g"]


def test_an_export_that_is_too_large_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="blocks") as refused:
        convert({"blocks": {str(number): {"type": "wait"} for number in range(2_001)}, "edges": []})
    assert (refused.value.code, refused.value.http_status) == ("sim_export_too_large", 413)


def test_the_largest_export_that_is_read_takes_seconds_at_most() -> None:
    blocks = {
        "s": {"type": "starter", "name": "S"},
        **{f"b{n}": {"type": "slack", "name": "Same", "subBlocks": {"t": {"value": "<same.x> <s.y>"}}} for n in range(1_999)},
    }
    edges = [{"source": "s", "target": "b0"}, *({"source": f"b{n}", "target": f"b{n + 1}"} for n in range(1_998))]
    assert len(convert({"blocks": blocks, "edges": edges}).document["nodes"]) == 2_000


TYPES = (
    "starter",
    "schedule",
    "agent",
    "slack",
    "function",
    "condition",
    "router",
    "router_v2",
    "loop",
    "parallel",
    "response",
    "wait",
    "api",
    "human_in_the_loop",
    "variables",
    "note",
    "github",
)
HANDLES = (
    None,
    "source",
    "error",
    "condition-1",
    "router-1",
    "router-b3",
    "loop-start-source",
    "loop-end-source",
    "parallel-start-source",
    "parallel-end-source",
)
TEXTS = (
    "",
    "plain",
    "<b1.content>",
    "a <B2.x.y> {{KEY}}",
    "<loop.currentItem>",
    "[1, <b3.z>]",
    '[{"id": "1", "title": "if", "value": "<b4.x> > 1"}]',
    "${x} {{",
    5,
    True,
    [{"name": "a", "value": "<b5>"}],
    {"a": "<variable.v>"},
)
FIELDS = (
    "conditions",
    "routes",
    "code",
    "url",
    "messages",
    "data",
    "timeValue",
    "variables",
    "tools",
    "inputFormat",
    "builderData",
    "text",
    "body",
    "responseFormat",
    "collection",
    "iterations",
    "loopType",
)


@pytest.mark.parametrize("seed", range(150))
def test_whatever_is_wired_the_document_compiles_and_no_block_or_edge_is_lost(seed: int) -> None:
    chance = random.Random(seed)
    keys = [f"b{n}" for n in range(chance.randint(1, 14))]
    blocks: dict[str, Any] = {}
    for key in keys:
        fields = {name: {"value": chance.choice(TEXTS)} for name in chance.sample(FIELDS, 5)}
        data = {
            "parentId": chance.choice(keys),
            "loopType": chance.choice(("for", "forEach", "while", "doWhile")),
            "whileCondition": "<b1.x> < 3",
            "count": 2,
        }
        blocks[key] = {
            "type": chance.choice(TYPES),
            "name": chance.choice((key, "Same", "loop")),
            "enabled": chance.random() > 0.1,
            "subBlocks": fields,
            "data": data if chance.random() < 0.4 else {},
            "triggerMode": chance.random() < 0.1,
        }
    edges = [
        {"id": f"e{n}", "source": chance.choice(keys), "target": chance.choice(keys), "sourceHandle": chance.choice(HANDLES)}
        for n in range(chance.randint(0, 25))
    ]
    imported = convert({"state": {"blocks": blocks, "edges": edges, "variables": [{"name": "v", "value": 1}]}})
    compile_document(imported.document, KINDS)
    told = {finding.path for finding in imported.findings}
    written = str(imported.document)
    for key in keys:
        kept = blocks[key]["name"] in written
        assert kept or any(path.startswith(f"state.blocks.{key}") for path in told)
