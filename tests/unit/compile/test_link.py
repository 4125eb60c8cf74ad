from __future__ import annotations

from typing import Any

import pytest

from stepless.model.declaration.policies import JoinRule, Merge, OnParentFailure, Retry
from stepless.model.graph import Body, Condition, Graph, Node, OnError

DIAMOND: dict[str, Any] = {"a": {}, "b": "a", "c": "a", "j": ["b", "c"]}


def node(graph: Graph, name: str) -> Node:
    return graph.root.nodes[graph.root.positions[name]]


def ids(body: Body, positions: Any) -> list[str]:
    return [body.nodes[position].id for position in positions]


def test_positions_follow_the_document_and_edges_the_order_of_edges(link: Any) -> None:
    graph = link({"j": ["c", "b.error"], "b": {}, "c": {}}, edges=[{"source": "b", "target": "j"}])
    assert [each.id for each in graph.root.nodes] == ["j", "b", "c"]
    incoming = [(edge.order, edge.source, edge.handle) for edge in node(graph, "j").incoming]
    assert incoming == [(0, 2, "source"), (1, 1, "error"), (2, 1, "source")]
    assert node(graph, "j").branches == (2, 1)
    assert node(graph, "b").targets == (0,) and node(graph, "b").handles == {"error", "source"}
    assert ids(graph.root, graph.root.entries) == ["b", "c"] and ids(graph.root, graph.root.leaves) == ["j"]


def test_edges_into_one_param_merge_by_the_first_override(link: Any) -> None:
    after = [
        {"from": "a", "param": "x", "key": "body.rows[0].id"},
        {"from": "b", "param": "y", "condition": {"contains": "k"}},
        {"from": "b", "param": "x", "merge": "concat"},
        {"from": "c", "param": "x", "merge": "json_object"},
    ]
    j = node(link({"a": {}, "b": {}, "c": {}, "j": {"after": after, "merge": "array"}}), "j")
    assert [(param.name, param.merge, [edge.order for edge in param.edges]) for param in j.params] == [
        ("x", Merge.CONCAT, [0, 2, 3]), ("y", Merge.ARRAY, [1]),
    ]
    assert j.incoming[0].key == ("body", "rows", 0, "id")
    assert j.incoming[1].condition == Condition("contains", "k")


@pytest.mark.parametrize(("join", "need"), [
    ({}, 3), ({"mode": "any"}, 1), ({"mode": "count", "count": 2}, 2), ({"mode": "timeout", "timeout_ms": 5}, 3),
])
def test_a_join_needs_as_many_branches_as_its_mode_says(link: Any, join: Any, need: int) -> None:
    j = node(link({"a": {}, "b": {}, "c": {}, "j": {"after": ["a", "b", "c", "c.error"], "join": join}}), "j")
    assert (j.join.need, len(j.branches)) == (need, 3)
    assert j.join.rule.proceeds == (join.get("mode") == "timeout")


def test_settings_reach_the_node(link: Any) -> None:
    a = node(link({"a": {
        "type": "function", "label": "Alpha", "enabled": False, "timeout_ms": 7, "delivery": "at_most_once",
        "on_parent_failure": "substitute_default", "default": [0], "moderation": "both", "moderation_on_error": "allow",
        "input_contract": {"type": "object"},
        "retry": {"attempts": 4, "retry_on": ["rate_limit"]},
        "join": {"errors": "best-effort", "vars": {"custom": "<input>[0]"}, "on_conflict": "error"},
    }}), "a")
    assert (a.label, a.enabled, a.timeout_ms, a.delivery) == ("Alpha", False, 7, "at_most_once")
    assert (a.on_parent_failure, a.default) == (OnParentFailure.SUBSTITUTE, [0])
    assert (a.moderation, a.moderation_on_error) == ("both", "allow")
    assert a.retry == Retry(attempts=4, retry_on=["rate_limit"])
    assert a.join.rule == JoinRule(errors="best-effort", vars={"custom": "<input>[0]"}, on_conflict="error")
    assert a.join.custom is not None and a.join.custom.source == "<input>[0]"
    assert a.input_contract is not None and a.input_contract.violations([]) and a.output_contract is None


def test_a_time_limit_of_what_encloses_other_work_has_no_default(link: Any) -> None:
    body = {"nodes": {"a": {"type": "join"}}}

    def loop(**policies: Any) -> Node:
        return node(link({"l": {"type": "loop", "with": {"times": 1, "body": body}, **policies}}), "l")

    assert (loop().whole, loop().limit_ms) == (False, None)
    assert (loop(retry={"attempts": 2}).whole, loop(retry={"attempts": 2}).limit_ms) == (True, None)
    assert (loop(timeout_ms=7).whole, loop(timeout_ms=7).limit_ms) == (True, 7)


def test_the_exit_of_a_disabled_node_reaches_it(link: Any) -> None:
    choice = {"type": "condition", "with": {"cases": {"yes": "true", "no": "else"}}}
    c = node(link({"c": {**choice, "enabled": {"exit": "no"}}}), "c")
    assert (c.enabled, c.leaves_by) == (False, "no")


def test_the_graph_carries_what_the_document_says(link: Any) -> None:
    graph = link({"a": {}}, name="Name", variables={"x": 1}, env=["KEY"], on_failure="halt", max_steps=5, timeout="2m")
    assert (graph.workflow_id, graph.name, graph.variables, graph.env) == ("d", "Name", {"x": 1}, ("KEY",))
    assert (graph.on_failure, graph.max_steps, graph.timeout_ms) == ("halt", 5, 120_000)
    assert link({"a": {}}).name == "d"


def test_fields_are_compiled_by_their_part(link: Any) -> None:
    graph = link({
        "f": {"type": "function", "with": {"call": "a.b", "args": {"x": "<input.n>"}}},
        "c": {"type": "condition", "after": "f", "with": {"cases": {"hit": "<f.n> > 1", "rest": " else "}}},
        "w": {"type": "approval", "after": "c.hit", "with": {"message": "<f.n>?", "fields": {"note": {"type": "string"}}}},
    })
    f, c, w = graph.root.nodes
    assert f.config.literals == {"call": "a.b"} and not f.config.template.constant
    cases = [(case.name, case.expression and case.expression.source) for case in c.config.cases]
    assert cases == [("hit", "<f.n> > 1"), ("rest", None)]
    assert c.config.template.constant and c.exits == ("hit", "rest")
    assert w.exits == ("approved", "rejected", "timeout")
    assert w.answer_contract is not None
    assert w.answer_contract.violations({"note": 5}) and not w.answer_contract.violations({"note": "x"})


# -- what is reached --------------------------------------------------------------------------------------------------


def test_only_what_the_entries_reach_exists(link: Any) -> None:
    nodes = {"a": {}, "b": {}, "x": "a", "y": "b", "j": {"after": ["x", "y"], "join": {"mode": "count", "count": 2}}, "z": "y"}
    whole, part = link(nodes), link(nodes, entries=["a"])
    assert (node(whole, "j").join.need, len(node(whole, "j").branches)) == (2, 2)
    assert [each.id for each in part.root.nodes] == ["a", "x", "j"]
    assert (node(part, "j").join.need, node(part, "j").branches, node(part, "j").wave) == (1, (1,), 2)
    assert node(part, "j").incoming[0].order == 1 and ids(part.root, part.root.entries) == ["a"]


def test_an_entry_in_the_middle_becomes_a_root(link: Any) -> None:
    graph = link(DIAMOND, entries=["c"])
    assert [(each.id, each.wave, each.depth) for each in graph.root.nodes] == [("c", 0, 0), ("j", 1, 0)]


# -- worked out -------------------------------------------------------------------------------------------------------


def test_waves_depths_and_dominators_of_a_diamond(link: Any) -> None:
    graph = link(DIAMOND)
    assert [(each.wave, each.depth) for each in graph.root.nodes] == [(0, 0), (1, 1), (1, 1), (2, 0)]
    assert [each.dominator for each in graph.root.nodes] == [None, 0, 0, 0]


def test_clocks_start_with_the_fork_or_with_the_scope(link: Any) -> None:
    timed = {"join": {"timeout_ms": 9}}
    graph = link({**DIAMOND, "j": {"after": ["b", "c"], **timed}, "r": {}, "k": {"after": ["j", "r"], **timed}, "e": timed})
    assert ids(graph.root, node(graph, "a").clocks) == ["j"]
    assert ids(graph.root, graph.root.root_clocks) == ["k"]


def test_losers_are_those_whose_every_path_ends_in_the_join(link: Any) -> None:
    join = {"after": ["b", "c2"], "join": {"mode": "any", "losers": "cancel"}}
    graph = link({**DIAMOND, "c2": "c", "j": join, "z": "c", "end": "j"})
    assert ids(graph.root, node(graph, "j").losers) == ["b", "c2"]
    assert node(graph, "end").losers == ()


def test_bodies_continue_waves_and_depths_of_their_container(link: Any) -> None:
    inner = {"type": "parallel", "after": "x", "with": {"branches": "<x.n>", "window": 3, "body": {"nodes": {"deep": {}}}}}
    loop = {"type": "loop", "after": "a", "with": {
        "items": [1, 2], "on_error": "drop", "max_iterations": 7, "body": {"nodes": {"x": {}, "p": inner, "y": "x"}},
    }}
    outer = node(link({"a": {}, "l": loop, "b": "a"}), "l")
    assert (outer.wave, outer.depth) == (1, 1)
    loop_of = outer.container
    assert loop_of is not None and loop_of.value is not None and loop_of.expression is None
    assert (loop_of.parallel, loop_of.mode, loop_of.on_error, loop_of.max_iterations) == (False, "items", OnError.DROP, 7)
    assert loop_of.body.owner == "l"
    assert [(n.id, n.wave, n.depth) for n in loop_of.body.nodes] == [("x", 2, 2), ("p", 3, 3), ("y", 3, 3)]
    spread = loop_of.body.nodes[1].container
    assert spread is not None and spread.expression is not None and spread.value is None
    assert (spread.parallel, spread.mode, spread.window, spread.expression.source) == (True, "branches", 3, "<x.n>")
    assert [(n.id, n.wave, n.depth) for n in spread.body.nodes] == [("deep", 4, 4)]


def test_a_long_chain_needs_no_stack(link: Any) -> None:
    size, work = 20_000, {"type": "function", "with": {"args": {"x": "<n0.v>"}}}
    graph = link({f"n{n}": {"after": f"n{n - 1}", **work} if n else {} for n in range(size)})
    assert graph.root.nodes[-1].wave == size - 1 and graph.root.nodes[-1].dominator == size - 2
