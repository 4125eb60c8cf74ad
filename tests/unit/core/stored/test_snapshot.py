"""A snapshot is a cache of the fold: a runner that continues from it decides as if it had read the whole log.

tests/conformance checks that for every case after every decision; the tests here cover the rest.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from stepless.core.deciding.pauses import next_due_ms
from stepless.core.facts import Answered, Begin, Completed, Failed, Failure, Suspended, Tick
from stepless.core.state import State
from stepless.core.stored.formats import FORMATS
from stepless.core.stored.snapshot import decode_state, encode_state
from stepless.errors import EngineBug
from stepless.model.kind import Outcome, Pause
from stepless.model.stored.packing import dump, pack, unpack

Make = Callable[..., Any]
Node = Callable[..., dict[str, Any]]


def reloaded(run: Any) -> State:
    state = decode_state(encode_state(run.state), run.graph, "run")
    assert state is not None
    return state


def test_it_comes_back_byte_for_byte(play: Make, node: Node) -> None:
    branch = {"nodes": {"x": node(), "w": {"type": "wait", "with": {"for": "1h"}}}}
    iteration = {"nodes": {"p": {"type": "parallel", "with": {"branches": 2, "body": branch}}}}
    run = play({
        "l": {"type": "loop", "with": {"items": [[1], [2]], "body": iteration}},
        "r": node(retry={"attempts": 3}), "j": node(["r", "k"], join={"timeout_ms": 500}), "k": node(),
    }, variables={"v": 1})  # fmt: skip
    run.begin({"n": 1})
    run.decide(Completed("x@p[0]@l[0]", 1, Outcome("done", variables={"v": 2})))
    run.decide(Failed("r", 1, Failure("timeout")))
    once = encode_state(run.state)
    assert encode_state(decode_state(once, run.graph, "run")) == once
    assert encode_state(run.folded()) == once
    assert {*reloaded(run).waiting, *reloaded(run).backing_off, *reloaded(run).running} == {
        "w@p[0]@l[0]", "w@p[1]@l[0]", "x@p[1]@l[0]", "r", "k"
    }  # fmt: skip


@pytest.mark.parametrize("fork", [True, False], ids=["since the fork", "since the start"])
def test_a_join_times_out_at_the_same_instant_after_it(play: Make, node: Node, fork: bool) -> None:
    after = "s" if fork else None
    run = play({"s": node(), "a": node(after), "b": node(after), "j": node(["a", "b"], join={"timeout_ms": 500})})
    run.begin()
    run.decide(Completed("s", 1, Outcome()), at=2_000)
    run.decide(Completed("a", 1, Outcome()), at=2_100)
    expected = 2_500 if fork else run.state.started_ms + 500
    run.state = reloaded(run)
    assert next_due_ms(run.state) == expected
    assert run.decide(Tick(), at=expected - 1).events == []
    run.decide(Tick(), at=expected)
    assert run.trace.nodes["j"].code == "join_timeout"


def test_a_join_in_an_iteration_keeps_its_clock_too(play: Make, node: Node) -> None:
    body = {"nodes": {"a": node(), "b": node(), "j": node(["a", "b"], join={"timeout_ms": 500})}}
    run = play({"s": node(), "l": {"type": "loop", "after": "s", "with": {"times": 1, "body": body}}})
    run.begin()
    run.decide(Completed("s", 1, Outcome()), at=7_000)
    run.state = reloaded(run)
    assert next_due_ms(run.state) == 7_500


def test_the_deadline_moves_with_pauses_before_and_after_it(play: Make, node: Node) -> None:
    run = play({"w": {"type": "approval", "with": {"message": "?"}}, "a": node("w.approved")}, timeout="10s")
    run.decide(Begin({}), at=1_000)
    run.state = reloaded(run)
    assert next_due_ms(run.state) is None, "paused time does not count"
    run.decide(Answered("w", "approved"), at=101_000)
    run.state = reloaded(run)
    assert next_due_ms(run.state) == 111_000
    run.decide(Tick(), at=111_000)
    assert run.state.status == "timed_out"


def test_items_stay_what_they_were_when_the_container_began(play: Make, node: Node) -> None:
    """They are read again from upstream, and a branch that came late has changed what is read there."""
    run = play({
        "quick": node(), "late": node(),
        "l": {"type": "loop", "after": ["quick", "late"], "join": {"mode": "any"},
              "with": {"items": "<quick> if <late> == null else <late>", "body": {"nodes": {"x": node()}}}},
    })  # fmt: skip
    run.begin()
    run.complete("quick", ["a", "b", "c"])
    run.complete("late", ["other"])
    run.state = reloaded(run)
    assert run.state.get("l").iterations.items == ["a", "b", "c"]
    for index in range(3):
        run.state = reloaded(run)
        run.complete(f"x@l[{index}]", index)
    assert run.state.get("l").value == [0, 1, 2]


def test_items_that_can_be_read_again_are_not_written_down(play: Make, node: Node) -> None:
    body = {"nodes": {"x": node()}}
    run = play({"s": node(), "p": {"type": "parallel", "after": "s", "with": {"items": "<s>", "body": body, "window": 1}}})
    run.begin()
    run.complete("s", [f"item {i}" for i in range(500)])
    assert json.dumps(unpack(encode_state(run.state))).count('"item 499"') == 1  # in the output of s


def test_settled_iterations_keep_their_results_and_nothing_else(play: Make, node: Node) -> None:
    body = {"nodes": {"x": node(), "y": node("x")}}
    run = play({"p": {"type": "parallel", "with": {"branches": 300, "window": 1, "body": body}}})
    run.begin()
    for index in range(200):
        run.complete(f"x@p[{index}]")
        run.complete(f"y@p[{index}]", index)
    assert len(json.dumps(unpack(encode_state(run.state)))) < 6_000
    assert reloaded(run).get("p").iterations.output() == list(range(200))


def test_an_instance_that_waits_for_a_callback_waits_on(play: Make, node: Node) -> None:
    run = play({"a": node(), "z": node("a")})
    run.begin()
    run.decide(Suspended("a", 1, Pause("callback", deadline_ms=9_000, exits=("source",), details={"x": [1]})))
    run.state = reloaded(run)
    assert run.decide(Tick(), at=9_000).expiries == ["a"]
    run.decide(Answered("a", "source", {"n": 1}), at=9_001)
    assert run.state.get("a").value == {"n": 1}


def test_one_of_another_version_is_refused(play: Make, node: Node) -> None:
    run, other = play({"a": node()}), play({"b": node()})
    run.begin()
    with pytest.raises(EngineBug, match="another version"):
        decode_state(encode_state(run.state), other.graph, "run")


def test_one_of_another_format_says_nothing(play: Make, node: Node) -> None:
    run = play({"a": node()})
    run.begin()
    document = unpack(encode_state(run.state))
    document["format"] = FORMATS.snapshot.reads + 1
    assert decode_state(pack(dump(document)), run.graph, "run") is None
