"""What containers and edges with conditions were decided by, read from the log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stepless.core.facts import Failed, Failure
from stepless.core.history.trace import NodeRecord, Trace
from stepless.limits import PREVIEW_CHARACTERS, SHOWN_PARAMS_CHARACTERS

Make = Callable[..., Any]
STEP = {"type": "function", "with": {"call": "test.echo", "args": {}}}


def record(run: Any, instance: str, shown: range = range(100)) -> NodeRecord:
    return Trace(run.graph, "run", shown).extend(run.events).nodes[instance]


def loop(**mode: Any) -> dict[str, Any]:
    return {"type": "loop", "with": {**mode, "body": {"nodes": {"x": STEP}}}}


def test_the_test_of_a_loop_is_told_as_it_was_before_the_last_turn_and_as_it_ended_it(play: Make) -> None:
    run = play({"l": loop(**{"while": "<loop.index> < 2"})})
    run.begin()
    assert record(run, "l").looped == ("while", True, None, 0)
    run.complete("x@l[0]")
    assert record(run, "l").looped == ("while", True, None, 1)
    run.complete("x@l[1]")
    assert record(run, "l").looped == ("while", False, None, 2)
    assert record(run, "l", range(0)).looped is None, "only where it is asked for"


def test_a_test_that_comes_after_its_turn_is_not_told_before_it(play: Make) -> None:
    run = play({"l": loop(do_while="<loop.index> < 1")})
    run.begin()
    assert record(run, "l").looped is None
    run.complete("x@l[0]")
    assert record(run, "l").looped == ("do_while", False, None, 1)


def test_what_ends_a_loop_before_its_test_is_no_test(play: Make) -> None:
    body = {"nodes": {"x": STEP, "stop": {"type": "end", "after": "x", "with": {"break": True}}}}
    run = play({"l": {"type": "loop", "with": {"while": "true", "body": body}}})
    run.begin()
    run.complete("x@l[0]")
    assert record(run, "l").status == "completed"
    assert record(run, "l").looped == ("while", True, None, 0)


def test_items_and_counts_are_told_as_they_were(play: Make) -> None:
    run = play({"a": STEP, "l": {**loop(items="<a.lines>"), "after": "a"}, "n": {**loop(times="<a.many>"), "after": "l"}})
    run.begin()
    run.complete("a", {"lines": ["p", "q"], "many": 1})
    assert record(run, "l").looped == ("items", ["p", "q"], None, None)
    for name in ("x@l[0]", "x@l[1]"):
        run.complete(name)
    assert record(run, "n").looped == ("times", 1, None, None)


def test_of_what_is_too_large_there_is_the_beginning(play: Make) -> None:
    run = play({"a": STEP, "l": {**loop(items="<a>"), "after": "a"}})
    run.begin()
    run.complete("a", ["p" * SHOWN_PARAMS_CHARACTERS])
    found = record(run, "l").looped
    assert found is not None and found.value is None
    assert found.preview == '["' + "p" * (PREVIEW_CHARACTERS - 2)


def test_no_secret_is_shown(play: Make) -> None:
    run = play({"l": loop(**{"while": "len(${KEY}) > <loop.index>"})}, env={"KEY": "k"})
    run.begin()
    run.complete("x@l[0]")
    assert record(run, "l").looped == ("while", "***", None, 1)


def edge(target: str, test: str, operand: Any = None, **more: Any) -> dict[str, Any]:
    return {"source": "a", "target": target, "condition": {test: operand if operand is not None else True}, **more}


def test_an_edge_tells_what_it_carried_and_whether_its_condition_held(play: Make) -> None:
    edges = [edge("one", "equals", "big", key="size"), edge("two", "equals", "small", key="size"),
             edge("two", "present", source="a", handle="error")]  # fmt: skip
    run = play({"a": STEP, "one": STEP, "two": STEP}, edges=edges)
    run.begin()
    assert record(run, "a").tested == ()
    run.complete("a", {"size": "big"})
    assert record(run, "a").tested == [
        ("source", "one", "equals", "big", "big", None, True), ("source", "two", "equals", "small", "big", None, False),
    ]  # fmt: skip
    run = play({"a": STEP, "one": STEP, "two": STEP}, edges=edges)
    run.begin()
    run.decide(Failed("a", 1, Failure("timeout")), at=5_000)
    (told,) = record(run, "a").tested
    assert (told.handle, told.target, told.held) == ("error", "two", True)
