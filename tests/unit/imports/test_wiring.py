"""Edges, exits, cycles, unreachable blocks, containers and their content."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stepless.errors import InvalidRequest
from stepless.testing import simulate

W = ("wait", "W", {})


def named(sort: str, *names: str) -> dict[str, Any]:
    return {name.lower(): (sort, name, {}) for name in names}


START = named("start_trigger", "S")


def test_conditions_leave_by_their_cases_and_routers_by_their_routes(tried: Any) -> None:
    cases = json.dumps([{"id": "k-if", "title": "if", "value": "<s.n> > 1"}, {"id": "k-else", "title": "else", "value": ""}])
    routes = [{"id": "r1", "title": "Big deal", "value": "when it is big"}, {"id": "r2", "title": "error", "value": "else"}]
    made = tried(
        {
            **START,
            "k": ("condition", "K", {"conditions": cases}),
            "r": ("router_v2", "R", {"routes": routes, "context": "<s.n>", "model": "gpt-4o"}),
            **named("wait", "A", "B", "C", "D"),
        },
        [
            ("s", "k"),
            ("k", "r", "condition-k-if"),
            ("k", "a", "condition-k-else"),
            ("r", "b", "router-r1"),
            ("r", "c", "router-r2"),
            ("r", "d", "error"),
            ("k", "d", "condition-gone"),
        ],
    )
    assert made.params("K") == {"cases": {"if": "<S.n> > 1", "else": "else"}}
    assert made.params("R") == {
        "routes": {"big-deal": "when it is big", "error_2": "else"},
        "provider": "openai",
        "model": "gpt-4o",
        "prompt": "{{ str(<S.n>) }}",
    }
    assert [made.node(name)["after"] for name in ("R", "A", "B", "C", "D")] == [
        "K.if",
        "K.else",
        "R.big-deal",
        "R.error_2",
        "R.error",
    ]
    assert made.codes == ["sim_edge_exit_unknown"]


def test_a_condition_without_handles_is_wired_by_order_and_a_legacy_router_by_targets(tried: Any) -> None:
    cases = [{"id": "a", "title": "if", "value": "1 === 1"}, {"id": "b", "title": "else"}]
    blocks = {
        **START,
        "k": ("condition", "K", {"conditions": cases}),
        "r": ("router", "R", {"prompt": "?", "model": "claude-x"}),
        **named("wait", "A", "B", "C"),
    }
    made = tried(blocks, [("s", "k"), ("k", "r"), ("k", "a"), ("r", "b", "source"), ("r", "c", "router-c")])
    assert [made.node(name)["after"] for name in ("R", "A", "B", "C")] == ["K.if", "K.else", "R.B", "R.C"]
    assert made.params("R")["routes"] == {"B": "B", "C": "C"}


def test_conditions_and_routers_without_choices_keep_the_graph_whole(tried: Any) -> None:
    blocks = {**START, "k": ("condition", "K", {"conditions": "no json"}), "r": ("router_v2", "R", {"model": "m"})}
    made = tried(blocks, [("s", "k"), ("s", "r")])
    assert made.codes.count("sim_no_cases") == 2


def test_an_edge_without_a_handle_is_taken_after_a_handled_failure_too(tried: Any) -> None:
    made = tried(
        {**START, "x": ("slack", "X", {}), **named("wait", "A", "B", "C")},
        [("s", "x"), ("x", "a"), ("x", "b", "error"), ("x", "c", "source")],
    )
    assert [made.node(name)["after"] for name in ("A", "B", "C")] == [["X", "X.error"], "X.error", "X"]


def test_a_handle_that_is_unknown_there_is_the_default_exit(tried: Any) -> None:
    """Whatever an editor once called it; only the names of cases and routes mean something else."""
    made = tried(
        {**START, "x": ("slack", "X", {}), "y": ("slack", "Y", {}), "l": ("loop", "L", {}), **named("wait", "A", "B", "C", "I")},
        [
            ("s", "x", "output"), ("x", "a", "out-0"), ("x", "y", "source"), ("y", "b", "done"), ("y", "c", "error"),
            ("a", "l", "next"), ("l", "i", "loop-start-source"), ("l", "b", "after"),
        ],
        inside={"i": "l"}, settings={"l": {"loopType": "for", "iterations": 2}},
    )  # fmt: skip
    assert [made.node(name)["after"] for name in ("X", "A", "Y", "L")] == ["S", "X", "X", "A"]
    assert made.node("B")["after"] == ["Y", "Y.error", "L"], "with an error edge beside it, it is taken after a failure too"
    assert "sim_edge_exit_unknown" not in made.codes


def test_a_handle_of_a_condition_that_names_no_case_is_taken_whatever_is_chosen(tried: Any) -> None:
    cases = [{"id": "a", "title": "if", "value": "1 === 1"}, {"id": "b", "title": "else"}]
    made = tried(
        {**START, "k": ("condition", "K", {"conditions": cases}), **named("wait", "A", "B")},
        [("s", "k"), ("k", "a", "condition-a"), ("k", "b", "output")],
    )
    assert [made.node(name)["after"] for name in ("A", "B")] == ["K.if", ["K.if", "K.else"]]


@pytest.mark.parametrize(
    ("edge", "code"),
    [
        (("a", "gone"), "sim_edge_end_unknown"),
        (("a", "n"), "sim_edge_end_unknown"),
        (("a", "a"), "sim_edge_to_itself"),
        (("b", "a"), "sim_edge_in_circle"),
        (("a", "s"), "sim_edge_into_trigger"),
        (("r", "b"), "sim_edge_after_end"),
        (("a", "b", "condition-x"), "sim_edge_exit_unknown"),
        (("a", "i"), "sim_edge_crosses_container"),
        (("i", "a"), "sim_edge_crosses_container"),
        (("i", "l"), "sim_edge_crosses_container"),
        (("l", "a", "loop-start-source"), "sim_edge_crosses_container"),
        (("l", "i", "loop-end-source"), "sim_edge_crosses_container"),
    ],
)
def test_an_edge_that_cannot_be_drawn_is_told_with_its_id(edge: tuple[str, ...], code: str, tried: Any) -> None:
    blocks = {**START, **named("wait", "A", "B", "I"), "r": ("response", "R", {}), "n": ("note", "N", {}), "l": ("loop", "L", {})}
    edges = [("s", "a"), ("a", "b"), ("s", "r"), ("a", "l"), ("l", "i", "loop-start-source"), edge]
    made = tried(blocks, edges, inside={"i": "l"}, settings={"l": {"loopType": "for", "iterations": 2}})
    assert [finding.edge for finding in made.imported.findings if finding.code == code] == ["e5"]


def test_what_cannot_be_reached_is_left_out_and_named(tried: Any) -> None:
    made = tried({**START, **named("wait", "A", "B", "C")}, [("s", "a"), ("b", "c")])
    assert list(made.document["nodes"]) == ["S", "A"]
    assert made.codes == ["sim_block_unreachable"] * 2


def test_without_a_trigger_every_root_starts(tried: Any) -> None:
    made = tried(named("wait", "A", "B", "C"), [("a", "b")])
    assert list(made.document["nodes"]) == ["A", "B", "C"]
    assert made.codes == ["sim_no_trigger"]


def test_ids_are_slugged_from_names_unique_and_never_reserved(tried: Any) -> None:
    blocks = {
        **START,
        "a": ("wait", "My block!", {}),
        "b": ("wait", "my.block", {}),
        "c": ("wait", "input", {}),
        "d": ("wait", "日本", {}),
        "e": ("wait", "1st", {}),
        "f": ("wait", "My block!", {}),
    }
    made = tried(blocks, [("s", key) for key in "abcdef"])
    assert list(made.document["nodes"]) == ["S", "My_block", "my_block", "input_2", "block", "n_1st", "My_block_2"]
    assert made.codes == ["sim_name_twice"]


# -- containers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "params"),
    [
        ({"loopType": "for", "iterations": 3}, {"times": 3}),
        ({"loopType": "for", "iterations": "<s.n>"}, {"times": "int(<S.n>)"}),
        ({"loopType": "for", "iterations": 0}, {"times": 1000}),
        ({"loopType": "for", "iterations": 5000}, {"times": 5000, "max_iterations": 5000}),
        ({"loopType": "forEach", "forEachItems": "<s.list>"}, {"items": "<S.list>"}),
        ({"loopType": "forEach", "forEachItems": '["a", <s.b>]'}, {"items": ["a", "<S.b>"]}),
        ({"loopType": "forEach", "forEachItems": "['a', 'b']"}, {"items": "['a', 'b']"}),
        ({"loopType": "forEach", "forEachItems": {"a": 1}}, {"items": {"a": 1}}),
        ({"loopType": "forEach", "forEachItems": "some text"}, {"items": []}),
        ({"loopType": "forEach"}, {"items": []}),
        ({"loopType": "while", "whileCondition": "<loop.index> < 3"}, {"while": "<loop.index> < 3"}),
        ({"loopType": "doWhile", "doWhileCondition": "<loop.index> < 3"}, {"do_while": "<loop.index> < 3"}),
        ({"loopType": "doWhile", "iterations": 4, "doWhileCondition": ""}, {"times": 4}),
    ],
)
def test_a_loop_keeps_how_often_it_runs(settings: Any, params: Any, tried: Any) -> None:
    made = tried(
        {**START, "l": ("loop", "L", {}), "w": W},
        [("s", "l"), ("l", "w", "loop-start-source")],
        inside={"w": "l"},
        settings={"l": settings},
    )
    told = made.params("L")
    assert list(told.pop("body")["nodes"]) == ["W"]
    assert told == params


@pytest.mark.parametrize(
    ("settings", "params"),
    [
        ({"parallelType": "count", "count": 4, "batchSize": 2}, {"branches": 4, "window": 2}),
        ({"parallelType": "count", "count": 0}, {"branches": 0}),
        ({"parallelType": "collection", "distribution": "<s.list>", "count": 5}, {"items": "<S.list>"}),
        ({"count": None}, {"branches": 1}),
    ],
)
def test_a_parallel_keeps_its_branches(settings: Any, params: Any, tried: Any) -> None:
    edges = [("s", "p"), ("p", "w", "parallel-start-source")]
    made = tried({**START, "p": ("parallel", "P", {}), "w": W}, edges, inside={"w": "p"}, settings={"p": settings})
    told = made.params("P")
    assert list(told.pop("body")["nodes"]) == ["W"]
    assert told == params


def test_settings_are_read_where_a_release_kept_them_and_stale_fields_are_told(tried: Any) -> None:
    blocks = {**START, "l": ("loop", "L", {"collection": "<s.old>", "loopType": "forEach"}), "w": W}
    edges = [("s", "l"), ("l", "w", "loop-start-source")]
    beside = {"l": {"data": {"loopType": "forEach", "collection": "<s.new>"}}}
    made = tried(blocks, edges, inside={"w": "l"}, more=beside)
    assert made.params("L")["items"] == "<S.new>"
    assert "<s.old>" in made.messages("sim_field_ignored")
    assert tried(blocks, edges, inside={"w": "l"}).params("L")["items"] == "<S.old>"


def test_containers_nest_and_read_the_turn_they_are_in(tried: Any) -> None:
    blocks = {
        **START,
        "p": ("parallel", "Outer", {}),
        "l": ("loop", "Inner", {}),
        "x": (
            "slack",
            "X",
            {"a": "<loop.currentItem.name>", "b": "<parallel.index>", "c": "<outer.currentItem>", "d": "<inner.results>"},
        ),
        "z": ("slack", "Z", {"a": "<outer.results>", "b": "<x.ts>", "c": "<loop.index>", "d": "<inner.results>"}),
    }
    made = tried(
        blocks,
        [("s", "p"), ("p", "l", "parallel-start-source"), ("l", "x", "loop-start-source"), ("p", "z", "parallel-end-source")],
        inside={"l": "p", "x": "l"},
        settings={
            "p": {"parallelType": "collection", "distribution": "<s.a>"},
            "l": {"loopType": "forEach", "forEachItems": "<parallel.currentItem.rows>"},
        },
    )
    assert made.params("Inner")["items"] == "<parallel.item.rows>"
    assert made.params("X")["args"] == {"a": "<loop.item.name>", "b": "<parallel.index>", "c": "<Outer.item>", "d": None}
    assert made.params("Z")["args"] == {"a": "<Outer>", "b": "<Outer[0][-1].ts>", "c": "{{ '<' }}loop.index>", "d": "<Outer[0]>"}
    assert {"sim_results_reshaped", "sim_reference_outside_container", "sim_output_without_equivalent"} <= set(made.codes)
    run = simulate(made.document, {"a": [{"rows": [{"name": "r"}]}]}, script={"X": {"ok": {"value": {"ts": 7}}}})
    assert run.status == "completed"
    assert run.nodes["Z"].status == "completed"


def test_the_test_of_a_loop_reads_an_inner_block_through_a_variable(tried: Any) -> None:
    blocks = {**START, "l": ("loop", "L", {}), "j": ("slack", "Judge", {}), "z": ("slack", "Z", {"a": "<judge.score>"})}
    made = tried(
        blocks,
        [("s", "l"), ("l", "j", "loop-start-source"), ("l", "z")],
        inside={"j": "l"},
        settings={"l": {"loopType": "doWhile", "doWhileCondition": "<judge.score> < 3"}},
    )
    assert made.params("L")["do_while"] == "<workflow.Judge_kept.score> < 3"
    assert "sim_turn_value_kept" in made.codes
    script = {"Judge@L[0]": {"ok": {"value": {"score": 1}}}, "Judge@L[1]": {"ok": {"value": {"score": 5}}}}
    run = simulate(made.document, script=script)
    assert (run.status, "Judge@L[1]" in run.nodes, "Judge@L[2]" in run.nodes) == ("completed", True, False)
    assert made.params("Z")["args"] == {"a": "<L[-1].Judge_kept.score>"}


def test_empty_containers_and_containers_without_a_start_are_told(tried: Any) -> None:
    made = tried(
        {**START, "l": ("loop", "L", {}), "p": ("parallel", "P", {}), "w": W, "t": ("webhook", "T", {})},
        [("s", "l"), ("s", "p"), ("w", "t")],
        inside={"w": "p", "t": "p"},
    )
    assert list(made.params("L")["body"]["nodes"]) == ["nothing"]
    assert list(made.params("P")["body"]["nodes"]) == ["W", "T"]
    assert made.node("T") == {"type": "join", "after": "W"}
    assert {"sim_empty_container", "sim_container_start", "sim_trigger_in_container"} <= set(made.codes)


def test_cyclic_and_unknown_parents_are_told_and_the_blocks_stand_alone(tried: Any) -> None:
    blocks = {**START, "a": ("loop", "A", {}), "b": ("loop", "B", {}), "w": W}
    made = tried(blocks, [("s", "a"), ("s", "w")], inside={"a": "b", "b": "a", "w": "s"})
    assert {"sim_cyclic_parents", "sim_unknown_parent"} <= set(made.codes)
    assert {"A", "W"} <= set(made.document["nodes"])


def test_deep_nesting_is_refused_with_the_block(tried: Any) -> None:
    blocks = {**START, **{f"l{n}": ("loop", f"L{n}", {}) for n in range(18)}}
    with pytest.raises(InvalidRequest, match="containers") as refused:
        tried(blocks, [], inside={f"l{n + 1}": f"l{n}" for n in range(17)})
    assert refused.value.code == "sim_export_too_large"
