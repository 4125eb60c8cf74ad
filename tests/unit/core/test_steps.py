"""The evaluation steps of a node are counted in total; a decision with many steps is cut, which does not change its result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepless.compile.compiler import compile_document
from stepless.core.decide import decide
from stepless.core.facts import Begin
from stepless.core.fold import fold
from stepless.core.state import State
from stepless.core.stored.snapshot import decode_state, encode_state
from stepless.limits import MAX_EVALUATION_STEPS
from stepless.nodes import KINDS
from stepless.testing.simulation import simulate

Build = Callable[[], dict[str, Any]]

SORTED = "query(<begin.n>, 'map(&[@], @)|sort_by(@, &[0])|[0]')"
NAMES = [f"v{i}" for i in range(6)]
NUMBERS = {"n": list(range(5_000))}


def workflow(nodes: dict[str, Any], **top: Any) -> dict[str, Any]:
    return {"id": "heavy", "nodes": {"begin": {"type": "manual"}, **nodes}, **top}


def transform(value: Any, after: Any = "begin", **more: Any) -> dict[str, Any]:
    return {"type": "transform", "after": after, "with": {"value": value}, **more}


@pytest.mark.parametrize(
    "node",
    [
        transform([f"{{{{ {SORTED} }}}}"] * 6),
        transform({"a": {"b": [f"{{{{ {SORTED} }}}}"] * 3}, "c": f"say {{{{ {SORTED} }}}}" * 3}),
        {"type": "condition", "after": "begin", "with": {"cases": {f"c{i}": f"{SORTED} == 'never'" for i in range(6)}}},
        {"type": "set", "after": "begin", "with": {"variables": {f"v{i}": f"{{{{ {SORTED} }}}}" for i in range(6)}}},
        {"type": "loop", "after": "begin", "with": {
            "items": "[" + ",".join([SORTED] * 6) + "]", "body": {"nodes": {"x": {"type": "transform", "with": {"value": 1}}}},
        }},
        {"type": "approval", "after": "begin", "with": {"message": "{{ str([" + ",".join([SORTED] * 6) + "]) }}"}},
    ],
    ids=["transform", "nested", "condition", "set", "items", "approval"],
)  # fmt: skip
@pytest.mark.parametrize("reload", [None, "log", "snapshot"])
def test_six_that_fit_alone_are_too_large_together(node: dict[str, Any], reload: Any) -> None:
    run = simulate(workflow({"heavy": node}, variables=dict.fromkeys(NAMES)), NUMBERS, reload=reload)
    error = run.nodes["heavy"].error
    assert error is not None and (error["code"], error["class"]) == ("too_large", "processing"), error
    assert f"{MAX_EVALUATION_STEPS:,} steps" in error["message"]


def test_one_of_them_fits_and_six_nodes_have_a_bound_each() -> None:
    run = simulate(workflow({f"n{i}": transform(f"{{{{ {SORTED} }}}}") for i in range(6)}), NUMBERS)
    assert run.status == "completed" and run.failures == 0


def test_custom_merges_of_one_join_share_its_steps() -> None:
    merge = "query(<input>, '[0][0]|map(&[@], @)|sort_by(@, &[0])|[0]')"
    branches = {
        side: {"type": "set", "after": "begin", "with": {"variables": {name: [f"<begin.{side}>"] for name in NAMES}}}
        for side in ("n", "m")
    }
    nodes = {**branches, "met": {"type": "join", "after": ["n", "m"], "join": {"vars": {"custom": merge}}}}
    run = simulate(workflow(nodes, variables=dict.fromkeys(NAMES)), {"n": list(range(5_000)), "m": list(range(5_001))})
    error = run.nodes["met"].error
    assert error is not None and error["code"] == "too_large"


BODY = {"nodes": {"x": {"type": "transform", "with": {"value": "{{ <run.id> + '!' }}"}},
                  "y": {"type": "transform", "after": "x", "with": {"value": "<x>"}}}}  # fmt: skip
DOCUMENTS: dict[str, dict[str, Any]] = {
    "chain": {"n0": transform("<begin>"), **{f"n{i}": transform(f"<n{i - 1}>", f"n{i - 1}") for i in range(1, 5)}},
    "fork": {**{f"n{i}": transform("<begin>") for i in range(4)}, "j": transform("<n0>", [f"n{i}" for i in range(4)])},
    "loop": {"l": {"type": "loop", "after": "begin", "with": {"while": "<loop.index> < 4", "body": BODY}}},
    "parallel": {"p": {"type": "parallel", "after": "begin", "with": {"items": "[1, 2, 3]", "body": BODY}}},
    "failing": {"bad": transform("{{ <begin> + 1 }}"), "next": transform("<bad>", "bad"), "other": transform("<begin>")},
}


@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("way", ["kept", "log", "snapshot"])
def test_a_decision_that_is_cut_comes_to_the_same(name: str, way: str) -> None:
    graph = compile_document(workflow(DOCUMENTS[name]), KINDS)
    whole = State(graph, "run")
    events = decide(whole, [Begin({})], 0).events
    state, decision, cut, log = State(graph, "run"), None, 0, []
    while decision is None or not decision.over:
        decision = decide(state, [Begin({})] if decision is None else [], 0, steps=0)
        log += decision.events
        cut += not decision.over
        if way == "snapshot" and not state.ended:
            found = decode_state(encode_state(state), graph, "run")
            assert found is not None
            state = found
        elif way == "log" and not state.ended:
            state = State(graph, "run")
            for event in log:
                fold(state, event)
            state.notes.clear()
        if way != "kept" and cut and decision.over and not state.ended:  # whoever loads looks at everything again
            log += decide(state, [], 0).events
    assert cut and state.ended
    assert sorted((event.type, event.instance) for event in log) == sorted((event.type, event.instance) for event in events)
    assert way != "kept" or [event.data for event in log] == [event.data for event in events]


def test_a_log_of_larger_bounds_is_read_all_the_same() -> None:
    """What a release with other bounds has decided stays decided."""
    light, heavy = (
        workflow({"l": {"type": "loop", "after": "begin", "with": {"items": items, "body": BODY}}})
        for items in ("[1, 2, 3, 4, 5, 6]", f"[{', '.join([SORTED] * 6)}]")
    )
    assert simulate(heavy, NUMBERS).status == "failed"
    state = State(compile_document(heavy, KINDS), "simulated")
    for event in simulate(light, NUMBERS).log:
        fold(state, event)
    assert state.status == "completed"
