"""Nodes that are only tools: not part of the graph, and checked where they are run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stepless.compile import check_document, compile_document
from stepless.compile.stored import compile_stored
from stepless.errors import DocumentRefused, InvalidRequest
from stepless.model.graph import Graph, all_nodes
from stepless.nodes import KINDS

LOOKUP = {"type": "function", "with": {"call": "crm.find", "args": {"id": "<input.id>", "region": "<start.region>"}}}


def agent(*names: str, **more: Any) -> dict[str, Any]:
    return {"type": "llm", "after": "start", "with": {"prompt": "Who?", "tools": [{"node": name} for name in names]}, **more}


def document(nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": "d", "nodes": {"start": {"type": "manual"}, **nodes}, **more}


def told(nodes: dict[str, Any], **more: Any) -> list[tuple[str, str, str]]:
    found = check_document(document(nodes), KINDS, **more)
    return [(finding.code, finding.path, f"{finding.message} {finding.mend}") for finding in found]


def compiled(nodes: dict[str, Any], **more: Any) -> Graph:
    return compile_document(document(nodes), KINDS, **more)


def test_a_tool_is_no_part_of_the_graph_and_belongs_to_the_node_that_runs_it() -> None:
    graph = compiled({"lookup": LOOKUP, "ask": agent("lookup"), "end": {"type": "join", "after": "ask"}})
    assert [node.id for node in graph.root.nodes] == ["start", "ask", "end"]
    assert [node.position for node in graph.root.nodes] == [0, 1, 2] and graph.root.entries == (0,)
    (tool,) = graph.root.nodes[1].tools.values()
    assert (tool.id, tool.kind.name, tool.incoming, tool.outgoing) == ("lookup", "function", (), ())
    assert not graph.root.nodes[0].tools
    assert [node.id for node in all_nodes(graph.root)] == ["start", "ask", "lookup", "end"]


def test_two_nodes_may_have_the_same_tool_and_an_inner_body_has_its_own() -> None:
    inner = {"body": {"nodes": {"find": LOOKUP | {"with": {"call": "a.b"}}, "x": agent("find") | {"after": None}}}, "times": 2}
    graph = compiled({"lookup": LOOKUP, "ask": agent("lookup"), "again": agent("lookup"), "l": {"type": "loop", "with": inner}})
    assert [node.id for node in all_nodes(graph.root)] == ["start", "ask", "lookup", "again", "lookup", "l", "x", "find"]


@pytest.mark.parametrize(("nodes", "code", "path", "words"), [
    ({"lookup": LOOKUP, "ask": agent("lokup")}, "unknown_node", "nodes.ask.with.tools.0.node", "Did you mean `lookup`?"),
    ({"wait": {"type": "approval", "with": {"message": "?"}}, "ask": agent("wait")}, "not_a_tool", "nodes.ask.with.tools.0.node",
     "approval"),
    ({"f": {"type": "lambda", "with": {"function": "f", "mode": "callback"}}, "ask": agent("f")}, "not_a_tool",
     "nodes.ask.with.tools.0.node", "a tool has no outgoing edges"),
    ({"ask": agent("ask")}, "not_a_tool", "nodes.ask.with.tools.0.node", "llm"),
    ({"c": {"type": "workflow", "with": {"workflow": "w"}}, "ask": agent("c")}, "not_a_tool", "nodes.ask.with.tools.0.node", ""),
    ({"lookup": LOOKUP | {"after": "start"}, "ask": agent("lookup")}, "wired_tool", "nodes.lookup.after", "leads into it"),
    ({"lookup": LOOKUP, "ask": agent("lookup"), "z": {"type": "join", "after": "lookup"}}, "wired_tool", "nodes.z.after",
     "out of it"),
    ({"lookup": LOOKUP | {"with": {"call": "a.b", "args": {"x": "<late>"}}}, "ask": agent("lookup"),
      "late": {"type": "join", "after": "ask"}}, "not_upstream", "nodes.lookup.with.args.x", "`late` is not upstream of `ask`"),
    ({"lookup": LOOKUP, "ask": agent("lookup"), "z": {"type": "transform", "after": "ask", "with": {"value": "<lookup>"}}},
     "not_upstream", "nodes.z.with.value", "lookup"),
    ({"ask": {"type": "llm", "with": {"prompt": "?", "tools": [{"node": "x", "call": "a.b"}]}}, "x": LOOKUP}, "exactly_one",
     "nodes.ask.with.tools.0", "`call`, `node`"),
])  # fmt: skip
def test_what_cannot_be_a_tool_is_told_where_it_stands(nodes: dict[str, Any], code: str, path: str, words: str) -> None:
    found = [finding for finding in told(nodes) if finding[0] == code]
    assert [finding[1] for finding in found] == [path], told(nodes)
    assert words in found[0][2]


def test_a_node_of_another_body_is_no_tool() -> None:
    inner = {"times": 2, "body": {"nodes": {"x": agent("lookup") | {"after": None}}}}
    found = told({"lookup": LOOKUP, "ask": agent("lookup"), "l": {"type": "loop", "with": inner}})
    assert [(code, path) for code, path, _ in found] == [("unknown_node", "nodes.l.with.body.nodes.x.with.tools.0.node")]


def test_settings_that_a_tool_does_not_have_are_told_of() -> None:
    found = told({"lookup": {**LOOKUP, "retry": {"attempts": 3}, "timeout_ms": 10}, "ask": agent("lookup")})
    assert [(code, path) for code, path, _ in found] == [("idle_setting", "nodes.lookup.retry")]


def test_an_unknown_function_of_a_tool_is_told_with_what_may_be_meant() -> None:
    nodes = {"ask": {"type": "llm", "with": {"prompt": "?", "tools": [{"call": "crm.fnid"}]}}}
    ((code, path, words),) = told(nodes, functions=["crm.find"])
    assert (code, path) == ("unknown_callable", "nodes.ask.with.tools.0.call") and "Did you mean `crm.find`?" in words


def test_a_run_does_not_start_at_a_tool() -> None:
    with pytest.raises(InvalidRequest):
        compiled({"lookup": LOOKUP, "ask": agent("lookup")}, entries=["lookup"])


def test_a_tool_that_is_no_node_refuses_the_document() -> None:
    with pytest.raises(DocumentRefused):
        compiled({"ask": agent("nobody")})


def test_a_stored_document_has_the_same_tools() -> None:
    written = document({"lookup": LOOKUP, "ask": agent("lookup"), "end": {"type": "join", "after": "ask"}})
    stored = compile_stored(json.dumps(written).encode(), "v", KINDS)
    assert [node.id for node in all_nodes(stored.root)] == ["start", "ask", "lookup", "end"]
    with pytest.raises(InvalidRequest):
        compile_stored(json.dumps(written).encode(), "v", KINDS, ["lookup"])
