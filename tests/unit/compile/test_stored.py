"""A published version is compiled without being checked again: the graph is the same."""

from __future__ import annotations

import gc
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from plain_graph import plain

from stepless.compile import compile_document, compile_stored, content_hash, features_of, parse
from stepless.compile.parsed import ParsedBody, ParsedEdge, ParsedNode
from stepless.errors import DamagedVersion, EngineBug, NewerVersion
from stepless.model.graph import Graph, all_nodes
from stepless.model.stored.document import encode_document
from stepless.nodes import KINDS

ROOT = Path(__file__).parents[3]
EXAMPLES = [path for path in sorted((ROOT / "examples").rglob("*.yaml")) if "plugin" not in path.parent.name]
CASES = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted((ROOT / "tests/conformance/cases").glob("*.json"))}


def both(document: Mapping[str, Any], entries: list[str] | None = None) -> tuple[Graph, Graph]:
    judged = compile_document(document, KINDS, entries=entries)
    features = features_of(document, limited=False, enclosing=any(node.whole for node in all_nodes(judged.root)))
    return judged, compile_stored(encode_document(document, features), judged.version, KINDS, entries)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_an_example_compiles_to_the_graph_that_judging_it_gives(path: Path) -> None:
    judged, stored = both(parse(path.read_bytes()))
    assert plain(stored) == plain(judged)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "publish_error" not in case["expect"]])
def test_a_golden_case_compiles_to_the_graph_that_judging_it_gives(name: str) -> None:
    judged, stored = both(CASES[name]["document"])
    assert plain(stored) == plain(judged)


RICH: dict[str, Any] = {
    "id": "rich", "name": "Rich", "env": ["KEY"], "variables": {"v": 1}, "on_failure": "halt", "max_steps": 99, "timeout": "2h",
    "concurrency": 3, "rate_limit": {"max": 2, "per": "1m", "by": "user.id"},
    "nodes": {
        "a": {"type": "webhook", "with": {"path": "/a", "auth": {"hmac": "${KEY}"}}},
        "b": {"type": "function", "after": {"from": "a", "param": "x", "key": "body.rows[0]", "merge": "json_object"},
              "with": {"call": "f.g", "args": {"n": "<inputs.x>", "t": "{{ 1 + len(<a.body>) }}"}}, "label": "B",
              "retry": {"attempts": 3, "retry_on": ["timeout"]}, "delivery": "at_most_once", "timeout_ms": 5,
              "input_contract": {"type": "object"}, "output_contract": {"type": "string"}, "moderation": "both"},
        "c": {"type": "condition", "after": ["b", "a"], "with": {"cases": {"yes": "<b> == 'x'", "no": "else"}}},
        "l": {"type": "loop", "after": "c.yes", "with": {
            "items": "<a.body.rows>", "on_error": "continue", "max_iterations": 7, "body": {
            "nodes": {"x": {"type": "transform", "with": {"value": "<loop.item>"}},
                      "p": {"type": "parallel", "after": "x", "with": {"branches": 2, "window": 1, "body": {
                          "nodes": {"y": {"type": "transform", "with": {"value": "<parallel.index>"}}}}}}}}}},
        "h": {"type": "approval", "after": "c.no",
              "with": {"message": "<b>?", "fields": {"n": {"type": "integer"}}, "timeout": "<b>"}},
        "j": {"type": "join", "after": ["l", "h.approved", "h.timeout", "b.onError"], "merge": "last_write_wins",
              "join": {"mode": "count", "count": 2, "losers": "cancel", "vars": {"custom": "<input>[0]"}, "timeout_ms": 9}},
        "off": {"type": "set", "after": "j", "enabled": False, "with": {"variables": {"v": "<j>"}},
                "on_parent_failure": "substitute_default", "default": [1]},
        "end": {"type": "end", "after": "off"},
    },
    "edges": [{"source": "b", "target": "off", "handle": "error", "condition": {"equals": None}}],
}  # fmt: skip


@pytest.mark.parametrize("entries", [None, ["a"], ["c"]])
def test_every_setting_comes_through(entries: list[str] | None) -> None:
    judged, stored = both(RICH, entries)
    assert plain(stored) == plain(judged)


def test_policies_of_containers_come_through_unless_an_earlier_release_has_stored_them() -> None:
    body = {"nodes": {"i": {"type": "workflow", "with": {"workflow": "w"}, "timeout_ms": 90_000}}}
    document = {"id": "w", "nodes": {"l": {"type": "loop", "retry": {"attempts": 2}, "with": {"times": 1, "body": body}}}}
    judged, stored = both(document)
    assert plain(stored) == plain(judged)
    (outer,) = stored.root.nodes
    assert outer.container is not None
    (inner,) = outer.container.body.nodes
    assert (outer.whole, outer.limit_ms, inner.whole, inner.limit_ms, inner.timeout_ms) == (True, None, True, 90_000, 30_000)
    former = compile_stored(json.dumps(document).encode(), judged.version, KINDS).root.nodes[0]
    assert former.container is not None
    idle = former.container.body.nodes[0]
    assert (former.whole, idle.whole, idle.limit_ms, idle.timeout_ms) == (False, False, None, 90_000)


def test_a_document_that_this_release_would_not_have_published_is_a_newer_version() -> None:
    for node in ({"type": "sorcery"}, {"type": "transform", "with": {"value": "{{ 1 + }}"}}, {"type": "condition", "with": {}}):
        with pytest.raises(NewerVersion) as raised:
            compile_stored(json.dumps({"id": "w", "nodes": {"a": node}}).encode(), "v", KINDS)
        assert (raised.value.code, raised.value.place) == ("newer_log", "v nodes.a")


DAMAGED_NODES: dict[str, Any] = {
    "a node that is null": None, "a type that is a list": {"type": []}, "a cycle": {"type": "join", "after": ["a", "c"]},
    "a node behind itself": {"type": "join", "after": ["a", "b"]}, "an edge that is a number": {"type": "join", "after": 3},
    "an edge from nowhere": {"type": "join", "after": {}}, "parameters in a list": {"type": "function", "with": [1]},
    "an unknown mode": {"type": "join", "after": "a", "join": {"mode": "x"}},
    "a retry": {"type": "join", "after": "a", "retry": 3},
    "an unknown merge": {"type": "join", "after": "a", "merge": "x"},
    "an empty condition": {"type": "join", "after": {"from": "a", "condition": {}}},
    "a bad key": {"type": "join", "after": {"from": "a", "key": "["}},
}  # fmt: skip
DAMAGED: dict[str, bytes] = {
    "no JSON": b"{", "nothing": b"", "no text": b"\xff\xfe", "a list": b"[]",
    "no nodes": b'{"id":"w"}', "nodes in a list": b'{"id":"w","nodes":[]}',
    "edges that are a number": b'{"id":"w","nodes":{"a":{"type":"manual"}},"edges":3}',
    **{
        name: json.dumps({"id": "w", "nodes": {"a": {"type": "manual"}, "b": node, "c": {"type": "join", "after": "b"}}}).encode()
        for name, node in DAMAGED_NODES.items()
    },
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_version_is_an_error_with_a_code(name: str) -> None:
    with pytest.raises(DamagedVersion) as raised:
        compile_stored(DAMAGED[name], "v", KINDS)
    assert (raised.value.code, raised.value.place) == ("damaged", "v")


def test_an_unexpected_error_in_an_intact_version_is_not_called_damage() -> None:
    document = {"id": "w", "nodes": {"a": {"type": "join", "after": "a"}}}
    with pytest.raises(EngineBug):
        compile_stored(json.dumps(document).encode(), content_hash(document), KINDS)


def test_nothing_is_left_of_a_draft_that_only_the_collector_could_find() -> None:
    """Else the parsed document would stay until the collector comes by, and be most of what the process holds."""
    ask = {"type": "approval", "after": "c.no", "with": {"message": "<b>?"}}  # one whose parameters fit as they are
    document = {**RICH, "nodes": {**RICH["nodes"], "h": ask}}
    data = json.dumps(document).encode()
    gc.collect()
    gc.disable()
    former = {id(thing) for thing in gc.get_objects() if isinstance(thing, ParsedNode | ParsedBody | ParsedEdge)}
    try:
        graph, judged = compile_stored(data, "v", KINDS), compile_document(document, KINDS)
        left = [thing for thing in gc.get_objects() if isinstance(thing, ParsedNode | ParsedBody | ParsedEdge)]
        left = [thing for thing in left if id(thing) not in former]  # what other tests have open
        assert len(graph.root.nodes) == len(judged.root.nodes) == len(document["nodes"])
        assert [type(thing).__name__ for thing in left] == []
    finally:
        gc.enable()


def test_a_graph_shares_what_most_nodes_have_alike() -> None:
    nodes = {f"n{i}": {"type": "function", "after": f"n{i - 1}", "with": {"call": "f.g"}} for i in range(1, 9)}
    document = {"id": "w", "nodes": {"n0": {"type": "manual"}, **nodes}}
    middle = compile_stored(json.dumps(document).encode(), "v", KINDS).root.nodes[2:7]
    for name in ("handles", "exits", "retry", "join", "tools"):
        assert len({id(getattr(node, name)) for node in middle}) == 1, name
    assert len({id(node.config.template) for node in middle}) == 1
    assert all(node.params[0].edges is node.incoming for node in middle)
