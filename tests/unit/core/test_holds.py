"""A run that an operator holds as a whole: nodes in progress end, and those that follow wait
(docs/understand/semantics.md#pauses)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepless.core.events import Event, EventType
from stepless.core.facts import (
    Answered,
    Begin,
    CancelRequested,
    ChildChanged,
    Completed,
    Expired,
    Fact,
    Failed,
    Failure,
    HoldChanged,
    Recovered,
    Suspended,
    Tick,
)
from stepless.core.stored.snapshot import decode_state, encode_state
from stepless.model.kind import Outcome, Pause
from stepless.model.stored.packing import dump, pack, unpack

Make = Callable[..., Any]
Node = Callable[..., dict[str, Any]]

HOLD, RELEASE = HoldChanged(1, True, "ann", "an incident"), HoldChanged(2, False, "bob")
APPROVAL = {"type": "approval", "with": {"message": "Go on?"}}
VALUE = {"type": "transform", "with": {"value": 1}}


def started(events: list[Event]) -> set[str]:
    return {event.instance for event in events if event.type == "node.started"}


def changes(run: Any) -> list[str]:
    changed = [event.data for event in run.events if event.type == "run.status.changed"]
    return [data["status"] if "held" not in data else "held" if data["held"] else "released" for data in changed]


def held(play: Make, nodes: dict[str, Any], **top: Any) -> Any:
    """A run that is held while its entries are under way."""
    run = play(nodes, **top)
    run.begin()
    run.decide(HOLD)
    return run


def test_what_is_under_way_ends_and_what_follows_waits(play: Make, node: Node) -> None:
    run = held(play, {"a": node(), "t": {**VALUE, "after": "a"}, "b": node("t")})
    assert run.state.status == "running", "something is under way"
    assert not run.complete("a").dispatches
    assert (run.state.status, run.status("a"), run.status("t"), run.status("b")) == ("paused", "completed", "queued", "pending")
    dispatches = run.decide(RELEASE).dispatches
    assert ([one.id for one in dispatches], run.state.status) == (["b"], "running")
    run.complete("b")
    assert (run.state.status, changes(run)) == ("completed", ["held", "paused", "released", "running"])


def test_it_is_told_who_holds_a_run_and_why_until_it_is_released(play: Make, node: Node) -> None:
    run = held(play, {"a": node()})
    assert run.state.held == {"by": "ann", "reason": "an incident", "at": run.now_ms}
    assert run.events[-1].data == {"status": "running", "held": True, "by": "ann", "why": "an incident"}
    run.decide(RELEASE)
    assert (run.state.held, run.events[-1].data) == (None, {"status": "running", "held": False, "by": "bob"})


def test_a_run_that_is_held_before_it_begins_begins_held(play: Make, node: Node) -> None:
    run = play({"a": node(), "w": APPROVAL, "l": {"type": "loop", "with": {"times": 1, "body": {"nodes": {"x": node()}}}}})
    decision = run.decide(Begin(holds=(HOLD,)))
    assert (started(decision.events), decision.dispatches, run.state.status) == (set(), [], "paused")
    assert [one.id for one in run.decide(RELEASE).dispatches] == ["a", "x@l[0]"]


def test_changes_count_once_and_in_their_order(play: Make, node: Node) -> None:
    run = held(play, {"a": node()})
    length = len(run.events)
    run.decide(HOLD)
    run.decide(HoldChanged(3, True))
    assert (len(run.events), run.state.holds) == (length, 1)
    run.decide(RELEASE, HoldChanged(3, True), HoldChanged(4, False), RELEASE)
    assert (run.state.holds, run.state.held) == (4, None)


def test_an_answer_is_taken_while_a_run_is_held_and_takes_effect_afterwards(play: Make, node: Node) -> None:
    run = held(play, {"w": APPROVAL, "b": node("w.approved")})
    run.decide(Answered("w", "approved", {"ok": True}, "cem"))
    assert (run.status("w"), run.status("b"), run.state.status) == ("completed", "queued", "paused")
    assert [one.id for one in run.decide(RELEASE).dispatches] == ["b"]


def test_a_deadline_expires_in_a_held_run(play: Make, node: Node) -> None:
    asked = {"type": "approval", "with": {"message": "Go on?", "timeout": "1m"}}
    run = held(play, {"w": asked, "b": node("w.timeout")})
    assert run.decide(Tick(), at=100_000).expiries == ["w"]
    run.decide(Expired("w"))
    assert (run.status("w"), run.status("b")) == ("completed", "queued")


def test_a_wait_ends_in_time_and_its_successor_waits(play: Make, node: Node) -> None:
    run = held(play, {"w": {"type": "wait", "with": {"for": "1m"}}, "b": node("w")})
    run.decide(Tick(), at=100_000)
    assert (run.status("w"), run.status("b"), run.state.status) == ("completed", "queued", "paused")


def test_a_retry_that_falls_due_begins_after_the_release(play: Make, node: Node) -> None:
    run = held(play, {"a": node(retry={"attempts": 2})})
    run.decide(Failed("a", 1, Failure("timeout", "timeout")))
    assert run.state.status == "paused", "a back-off is no work"
    assert not run.decide(Tick(), at=1_000_000).dispatches
    assert run.status("a") == "queued"
    (dispatch,) = run.decide(RELEASE).dispatches
    assert (dispatch.id, dispatch.attempt) == ("a", 2)


def test_a_child_run_ends_and_its_callers_successor_waits(play: Make, node: Node) -> None:
    run = held(play, {"c": {"type": "workflow", "with": {"workflow": "other"}}, "b": node("c")})
    run.decide(Suspended("c", 1, Pause("subrun", exits=(), details={"run": "r"})))
    assert run.state.status == "paused"
    run.decide(ChildChanged("c", "completed", 7))
    assert (run.state.get("c").value, run.status("b")) == (7, "queued")


@pytest.mark.parametrize("container", ["loop", "parallel"])
def test_no_iteration_begins_in_a_held_run(play: Make, node: Node, container: str) -> None:
    iterations = {"times": 3} if container == "loop" else {"branches": 3, "window": 1}
    run = held(play, {"l": {"type": container, "with": {**iterations, "body": {"nodes": {"x": node()}}}}, "z": node("l")})
    run.complete("x@l[0]", "first")
    assert run.state.get("l").iterations.started == 1
    assert [one.id for one in run.decide(RELEASE).dispatches] == ["x@l[1]"]
    run.complete("x@l[1]")
    run.decide(HoldChanged(3, True))
    run.complete("x@l[2]")
    assert (run.status("l"), run.state.status) == ("running", "paused"), "its end starts what follows"
    assert [one.id for one in run.decide(HoldChanged(4, False)).dispatches] == ["z"]
    assert run.state.get("l").value[0] == "first"


def test_time_spent_held_does_not_count_for_the_runs_deadline(play: Make, node: Node) -> None:
    run = held(play, {"a": node(), "b": node("a")}, timeout="1m")
    run.decide(Completed("a", 1, Outcome()), at=31_000)
    assert run.state.deadline_ms is None
    run.decide(Tick(), at=10_000_000)
    assert run.state.status == "paused"
    run.decide(RELEASE, at=10_000_001)
    run.decide(Tick(), at=10_029_999)
    assert run.state.status == "running"
    run.decide(Tick(), at=10_031_000)
    assert run.state.status == "timed_out"


def test_a_held_run_is_cancelled_as_any_other(play: Make, node: Node) -> None:
    run = held(play, {"a": node(), "b": node("a"), "w": APPROVAL})
    run.complete("a")
    run.decide(CancelRequested())
    assert (run.state.status, run.status("b"), run.status("w"), run.state.held) == ("cancelled", "cancelled", "cancelled", None)
    length = len(run.events)
    run.decide(RELEASE)
    assert len(run.events) == length


def test_a_run_whose_last_node_ends_while_it_is_held_has_ended(play: Make, node: Node) -> None:
    run = held(play, {"a": node()})
    run.complete("a")
    assert (run.state.status, run.state.held, changes(run)) == ("completed", None, ["held"])


def test_what_was_cut_off_in_a_held_run_is_brought_to_its_end(play: Make, node: Node) -> None:
    run = held(play, {"a": node(), "b": node("a")})
    assert [one.id for one in run.decide(Recovered()).dispatches] == ["a"]
    run.complete("a")
    assert run.status("b") == "queued"


def test_what_a_release_begins_was_not_cut_off(play: Make, node: Node) -> None:
    """The process that held the run has died, and the next one finds the release."""
    run = held(play, {"a": node(), "b": node(), "c": node("b")})
    run.complete("b")
    again = run.decide(RELEASE, Recovered())
    assert sorted(one.id for one in again.dispatches) == ["a", "c"]
    [recovery] = [event for event in run.events if event.type is EventType.RUN_RECOVERED]
    assert recovery.data["instances"] == ["a"]


def test_a_halt_ends_a_held_run(play: Make, node: Node) -> None:
    run = held(play, {"a": node(), "b": node(), "c": node("b")}, on_failure="halt")
    run.complete("b")
    run.decide(Failed("a", 1, Failure("config")))
    assert (run.state.status, run.status("c")) == ("failed", "cancelled")


FACTS: dict[str, list[Fact]] = {
    "under way": [],
    "at rest": [Completed("a", 1, Outcome(1)), Completed("x@l[0]", 1, Outcome(2))],
    "answered": [Completed("a", 1, Outcome(1)), Answered("w", "approved")],
}


@pytest.mark.parametrize("facts", FACTS.values(), ids=FACTS)
def test_a_held_run_goes_on_the_same_from_its_log_and_from_a_snapshot(play: Make, node: Node, facts: list[Fact]) -> None:
    loop = {"type": "loop", "with": {"times": 3, "body": {"nodes": {"x": node()}}}}
    nodes = {"a": node(), "t": {**VALUE, "after": "a"}, "b": node("t"), "w": APPROVAL, "c": node("w.approved"), "l": loop}
    run = held(play, nodes)
    run.decide(*facts)
    read = decode_state(encode_state(run.state), run.graph, "run")
    assert encode_state(read) == encode_state(run.state) == encode_state(run.folded())
    wanted = {one.id for one in run.decide(RELEASE).dispatches}
    for state in (read, decode_state(encode_state(read), run.graph, "run")):
        run.state = state
        assert {one.id for one in run.decide(RELEASE).dispatches} == wanted


def test_a_snapshot_that_was_written_before_runs_could_be_held_is_read(play: Make, node: Node) -> None:
    run = play({"a": node()})
    run.begin()
    document = unpack(encode_state(run.state))
    del document["run"]["held"], document["run"]["holds"]
    state = decode_state(pack(dump(document)), run.graph, "run")
    assert (state.held, state.holds, state.sequence) == (None, 0, run.state.sequence)
