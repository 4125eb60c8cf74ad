"""`retry` and `timeout_ms` of loops, parallels and callers of child runs (docs/understand/semantics.md#containers)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepless.core.decide import decide
from stepless.core.deciding.pauses import next_due_ms
from stepless.core.events import EventType
from stepless.core.facts import (
    Answered,
    CancelRequested,
    ChildChanged,
    Completed,
    Failed,
    Failure,
    HoldChanged,
    Suspended,
    Tick,
)
from stepless.core.stored.snapshot import decode_state, encode_state
from stepless.model.kind import Outcome, Pause

Make = Callable[..., Any]
Node = Callable[..., dict[str, Any]]
DOWN = Failure("provider_error", "down", "it is down")
RETRY = {"attempts": 3, "backoff_ms": 100}


def loop(node: Node, *, retry: Any = RETRY, more: Any = None, **with_: Any) -> dict[str, Any]:
    given = {"times": 2, **with_} if "items" not in with_ else with_
    inner = {"w": node(), "i": {"type": "transform", "after": "w", "with": {"value": "<loop.index>"}}}
    return {"type": "loop", "with": {**given, "body": {"nodes": inner}}, **({"retry": retry} if retry else {}), **(more or {})}


def later(run: Any, by_ms: int) -> Any:
    return run.decide(Tick(), at=run.now_ms + by_ms)


def checked(run: Any) -> Any:
    """The run, after comparing its state with the one from its log, and the one from a snapshot."""
    kept = decode_state(encode_state(run.state), run.graph, "run")
    assert kept is not None
    for other in (run.folded(), kept):
        assert encode_state(other) == encode_state(run.state)
    folded, far_ms = run.folded(), run.now_ms + 10_000
    assert told(decide(kept, [Tick()], far_ms).events) == told(decide(folded, [Tick()], far_ms).events), "their timers"
    return run


def told(events: Any) -> Any:
    return [(event.type, event.instance, event.data) for event in events]


def test_a_failed_loop_begins_again_with_turns_of_its_own(play: Make, node: Node) -> None:
    run = play({"l": loop(node), "after": node("l")})
    run.begin()
    run.complete("w@l[0]")
    run.decide(Failed("w@l[1]", 1, DOWN))
    retried = next(event for event in run.events if event.type is EventType.NODE_RETRIED)
    assert (retried.instance, retried.data["attempt"], retried.data["cause"]) == ("l", 1, "iteration_failed")
    assert 50 <= retried.data["delay_ms"] <= 100, "the back-off of its policy"
    assert run.status("l") == "waiting"
    checked(run)
    assert [one.id for one in later(run, 100).dispatches] == ["w@l[2]"], "no id of the first attempt again"
    checked(run)
    run.complete("w@l[2]")
    run.complete("w@l[3]")
    assert run.state.get("l").value == [0, 1], "the turns count from 0 in each attempt"
    assert run.status("after") == "running"
    assert checked(run).trace.nodes["l"].attempts == 2


def test_the_items_are_the_same_in_each_attempt(play: Make, node: Node) -> None:
    item = {"w": node(), "i": {"type": "transform", "after": "w", "with": {"value": ["<loop.item>", "<loop.index>"]}}}
    run = play({"l": {"type": "loop", "retry": RETRY, "with": {"items": ["a", "b"], "body": {"nodes": item}}}})
    run.begin()
    run.decide(Failed("w@l[0]", 1, DOWN))
    later(run, 100)
    run.complete("w@l[1]")
    checked(run)
    run.complete("w@l[2]")
    assert run.state.get("l").value == [["a", 0], ["b", 1]]


def test_the_attempts_end(play: Make, node: Node) -> None:
    run = play({"l": loop(node)})
    run.begin()
    for turn in range(3):
        run.decide(Failed(f"w@l[{turn}]", 1, DOWN))
        later(run, 1_000)
    assert run.state.get("l").error["attempt"] == 3
    assert (run.status("l"), run.state.status) == ("failed", "failed")
    assert [event.type for event in run.events].count(EventType.NODE_RETRIED) == 2
    checked(run)


@pytest.mark.parametrize(("cause", "listed", "again"), [
    ("provider_error", ["provider_error"], True),
    ("execution", ["provider_error"], False),
    ("execution", ["execution"], True),
    ("provider_error, not retryable", ["provider_error"], False),
])  # fmt: skip
def test_what_failed_inside_is_the_cause(play: Make, node: Node, cause: str, listed: list[str], again: bool) -> None:
    run = play({"l": loop(node, retry={**RETRY, "retry_on": listed})})
    run.begin()
    run.decide(Failed("w@l[0]", 1, Failure(cause, "odd", "m")))
    assert run.status("l") == ("waiting" if again else "failed")


def test_a_fault_of_the_container_itself_is_not_repeated(play: Make, node: Node) -> None:
    run = play({"l": loop(node, times="<input.n>")})
    run.begin({"n": -1})
    assert run.status("l") == "failed"


def test_a_parallel_begins_again(play: Make, node: Node) -> None:
    body = {"w": node()}
    run = play({"p": {"type": "parallel", "retry": RETRY, "with": {"branches": 3, "body": {"nodes": body}}}})
    run.begin()
    run.complete("w@p[0]", "first")
    run.decide(Failed("w@p[1]", 1, DOWN))
    assert run.status("p") == "running", "branches that have started drain"
    run.complete("w@p[2]", "late")
    checked(run)
    assert [one.id for one in later(run, 100).dispatches] == ["w@p[3]", "w@p[4]", "w@p[5]"]
    for number in (5, 3, 4):
        run.complete(f"w@p[{number}]", number)
    assert run.state.get("p").value == [3, 4, 5]


def test_a_container_inside_begins_again_alone(play: Make, node: Node) -> None:
    inner = loop(node, times=1)
    run = play({"o": {"type": "loop", "with": {"times": 2, "body": {"nodes": {"l": inner}}}}})
    run.begin()
    run.decide(Failed("w@l[0]@o[0]", 1, DOWN))
    assert [one.id for one in later(run, 100).dispatches] == ["w@l[1]@o[0]"]
    checked(run)
    run.complete("w@l[1]@o[0]")
    run.complete("w@l[0]@o[1]")
    assert run.state.get("o").value == [[0], [0]]


def test_an_attempt_starts_with_the_variables_of_the_first(play: Make, node: Node) -> None:
    body = {"s": {"type": "set", "with": {"variables": {"n": "{{ <workflow.n> + 1 }}"}}}, "w": node("s")}
    for keep, wanted in ((False, 2), (True, 3)):
        run = play({
            "l": {"type": "loop", "retry": RETRY, "with": {"times": 2, "keep_writes": keep, "body": {"nodes": body}}},
            "v": {"type": "transform", "after": "l", "with": {"value": "<workflow.n>"}},
        }, variables={"n": 0})
        run.begin()
        run.decide(Failed("w@l[0]", 1, DOWN))
        later(run, 100)
        run.complete("w@l[1]")
        checked(run)
        run.complete("w@l[2]")
        assert run.state.get("v").value == wanted


def test_what_a_late_attempt_of_an_ended_turn_reports_is_refused(play: Make, node: Node) -> None:
    run = play({"l": loop(node, more={"timeout_ms": 500})})
    run.begin()
    assert later(run, 500).aborts == ["w@l[0]"]
    count = len(run.events)
    run.decide(Completed("w@l[0]", 1, Outcome("late")))
    assert len(run.events) == count
    assert run.status("l") == "waiting"


def test_the_time_of_a_container_cancels_what_is_inside(play: Make, node: Node) -> None:
    body = {"w": node(), "n": node("w"), "ask": {"type": "approval", "with": {"message": "m"}}}
    container = {"type": "parallel", "timeout_ms": 500, "with": {"branches": 2, "body": {"nodes": body}}}
    run = play({"p": container, "e": {"type": "transform", "after": "p.error", "with": {"value": "<p.error.code>"}}})
    run.begin()
    assert next_due_ms(run.state) == run.now_ms + 500
    assert not later(checked(run), 499).events
    decision = later(run, 1)
    assert sorted(decision.aborts) == ["w@p[0]", "w@p[1]"]
    ended = {event.instance: event.data["reason"] for event in decision.events if event.type is EventType.NODE_CANCELLED}
    assert ended == {f"{name}@p[{turn}]": "container_timed_out" for name in ("w", "n", "ask") for turn in (0, 1)}
    assert run.types.count("node.timed_out p") == 1
    assert (run.state.get("e").value, run.state.status) == ("timeout", "completed")
    checked(run)


def test_each_attempt_has_the_whole_time(play: Make, node: Node) -> None:
    run = play({"l": loop(node, retry={"attempts": 2, "backoff_ms": 100}, more={"timeout_ms": 500})})
    run.begin()
    later(run, 500)
    assert run.status("l") == "waiting"
    assert [one.id for one in later(run, 100).dispatches] == ["w@l[1]"]
    assert not later(checked(run), 499).events
    later(run, 1)
    assert (run.status("l"), run.state.get("l").error["code"]) == ("failed", "timeout")


def test_without_timeout_ms_there_is_no_limit(play: Make, node: Node) -> None:
    run = play({"l": loop(node, retry=None)})
    run.begin()
    assert next_due_ms(run.state) is None


def test_a_cancel_ends_a_container_between_two_attempts(play: Make, node: Node) -> None:
    run = play({"l": loop(node)})
    run.begin()
    run.decide(Failed("w@l[0]", 1, DOWN))
    run.decide(CancelRequested())
    assert (run.status("l"), run.state.status) == ("cancelled", "cancelled")


def test_a_held_run_begins_the_next_attempt_after_its_release(play: Make, node: Node) -> None:
    run = play({"l": loop(node)})
    run.begin()
    run.decide(Failed("w@l[0]", 1, DOWN))
    run.decide(HoldChanged(1, True))
    later(run, 1_000)
    assert run.status("l") == "queued"
    checked(run)
    assert [one.id for one in run.decide(HoldChanged(2, False)).dispatches] == ["w@l[1]"]


def test_a_pause_of_a_new_attempt_is_another_pause(play: Make, node: Node) -> None:
    body = {"ask": {"type": "approval", "with": {"message": "m"}}, "w": node("ask.approved")}
    run = play({"l": {"type": "loop", "retry": RETRY, "with": {"times": 1, "body": {"nodes": body}}}})
    run.begin()
    assert not run.state.is_over("ask@l[1]"), "its turn may come: an early answer is kept"
    run.decide(Answered("ask@l[0]", "approved"))
    run.decide(Failed("w@l[0]", 1, DOWN))
    assert run.state.is_over("ask@l[0]")
    later(run, 100)
    assert run.state.is_over("ask@l[0]")
    assert list(run.state.waiting) == ["ask@l[1]"]


def test_a_run_that_ends_at_the_first_failure_retries_no_container(play: Make, node: Node) -> None:
    run = play({"l": loop(node), "bad": node()}, on_failure="halt")
    run.begin()
    run.decide(Failed("bad", 1, Failure("execution", "x", "m")))
    run.decide(Failed("w@l[0]", 1, DOWN))
    assert (run.status("l"), run.state.status) == ("failed", "failed")


# -- child runs -------------------------------------------------------------------------------------------------------------


def calling(retry: Any = RETRY, **more: Any) -> dict[str, Any]:
    return {"type": "workflow", "with": {"workflow": "child"}, "retry": retry, **more}


def wait(run: Any, child: str, attempt: int = 1) -> None:
    run.decide(Suspended("c", attempt, Pause("subrun", exits=(), details={"workflow": "child", "run": child})))


def test_a_failed_child_run_is_followed_by_another(play: Make, node: Node) -> None:
    run = play({"c": calling(), "after": node("c")})
    run.begin()
    wait(run, "run_1")
    error = {"code": "down", "class": "execution", "message": "m", "node": "x"}
    run.decide(ChildChanged("c", "failed", error=error, run="run_1", cause="provider_error"))
    assert (run.events[-1].data["run"], run.status("c")) == ("run_1", "waiting")
    assert run.state.get("c").used == 1
    checked(run)
    assert [(one.id, one.attempt) for one in later(run, 100).dispatches] == [("c", 2)]
    wait(run, "run_2", 2)
    checked(run)
    run.decide(ChildChanged("c", "cancelled", run="run_1"))
    assert run.status("c") == "waiting", "a signal of the first child run says nothing about the second"
    run.decide(ChildChanged("c", "completed", "done", run="run_2"))
    assert run.state.get("c").value == "done"


def test_the_time_of_a_caller_covers_its_child_run(play: Make, node: Node) -> None:
    run = play({"c": calling(retry={"attempts": 2, "backoff_ms": 0}, timeout_ms=1_000)})
    run.begin()
    began = run.now_ms
    run.decide(Suspended("c", 1, Pause("subrun", exits=(), details={"workflow": "child", "run": "run_1"})), at=began + 300)
    run.decide(ChildChanged("c", "paused", run="run_1"), at=began + 400)
    assert run.state.status == "paused"
    checked(run)
    assert not run.decide(Tick(), at=began + 999).events
    run.decide(Tick(), at=began + 1_000)
    assert [event.data.get("run") for event in run.events if event.type is EventType.NODE_RETRIED] == ["run_1"]
    assert run.state.get("c").attempt == 2, "without a back-off it begins at once"
    wait(run, "run_2", 2)
    run.decide(Tick(), at=began + 2_100)
    assert run.types.count("node.timed_out c") == 1


def test_after_a_child_run_whose_output_is_refused_another_one_starts(play: Make, node: Node) -> None:
    retry = {"attempts": 2, "backoff_ms": 0, "retry_on": ["contract_violated"]}
    run = play({"c": calling(retry, output_contract={"const": "good"})})
    run.begin()
    wait(run, "run_1")
    run.decide(ChildChanged("c", "completed", "bad", run="run_1"))
    assert (run.status("c"), run.state.get("c").used) == ("waiting", 1)
    later(run, 1)
    assert run.status("c") == "running"
    checked(run)
    wait(run, "run_2", 2)
    run.decide(ChildChanged("c", "completed", "good", run="run_2"))
    assert run.state.get("c").value == "good"


def test_a_container_whose_output_is_refused_begins_again(play: Make, node: Node) -> None:
    retry = {"attempts": 2, "backoff_ms": 0, "retry_on": ["contract_violated"]}
    run = play({"l": loop(node, retry=retry, times=1, more={"output_contract": {"minItems": 2}})})
    run.begin()
    run.complete("w@l[0]")
    assert [one.id for one in later(run, 1).dispatches] == ["w@l[1]"]
    run.complete("w@l[1]")
    assert (run.status("l"), run.state.get("l").error["code"]) == ("failed", "output_contract_violation")
    checked(run)


def test_an_attempt_that_starts_no_child_run_keeps_its_token(play: Make, node: Node) -> None:
    run = play({"c": calling(retry={"attempts": 2, "backoff_ms": 0})})
    run.begin()
    run.decide(Failed("c", 1, DOWN))
    later(run, 1)
    assert (run.state.get("c").attempt, run.state.get("c").used) == (2, 0)


def test_time_passes_alike_for_a_copy_of_the_state(play: Make, node: Node) -> None:
    run = play({"l": loop(node, more={"timeout_ms": 500})})
    run.begin()
    copy = decode_state(encode_state(run.state), run.graph, "run")
    assert copy is not None
    at_ms = run.now_ms + 500
    assert told(decide(copy, [Tick()], at_ms).events) == told(run.decide(Tick(), at=at_ms).events)
