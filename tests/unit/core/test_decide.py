"""The core's interface: what follows from facts, in which order, at what cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepless.core.deciding.recovery import is_cut_off
from stepless.core.facts import (
    Answered,
    CancelRequested,
    Completed,
    Continued,
    Expired,
    Failed,
    Failure,
    Logged,
    Recovered,
    Streamed,
    Suspended,
    Tick,
)
from stepless.core.fold import fold
from stepless.core.state import State
from stepless.core.stored.snapshot import decode_state, encode_state
from stepless.model.kind import Outcome, Pause

Make = Callable[..., Any]
Node = Callable[..., dict[str, Any]]


def ids(decision: Any) -> list[str]:
    return [dispatch.id for dispatch in decision.dispatches]


# -- slots and room ---------------------------------------------------------------------------------------------------


def test_queued_nodes_start_in_order_and_none_is_lost(play: Make, node: Node) -> None:
    run = play({f"n{i}": node() for i in range(10)})
    started = ids(run.begin(capacity=3))
    assert started == ["n0", "n1", "n2"]
    assert [run.status(f"n{i}") for i in range(2, 5)] == ["running", "queued", "queued"]
    for done in range(10):
        assert len(run.state.running) <= 3
        started += ids(run.complete(f"n{done}", capacity=3))
    assert started == [f"n{i}" for i in range(10)]
    assert run.state.status == "completed"
    assert [run.state.get(f"n{i}").index for i in range(10)] == list(range(1, 11))


def test_nothing_is_started_without_a_slot_and_everything_with_the_next_process(play: Make, node: Node) -> None:
    run = play({"a": node(), "b": node(), "t": {"type": "transform", "with": {"value": 1}}})
    assert ids(run.begin(capacity=0)) == []
    assert run.status("t") == "completed", "pure work takes no slot"
    assert run.state.status == "running"
    for state in (run.folded(), decode_state(encode_state(run.state), run.graph, "run")):
        run.state = state
        assert [i.node.id for i in state.ready] == ["a", "b"]
    assert ids(run.decide(Tick())) == ["a", "b"]


def test_an_attempt_whose_time_does_not_fit_waits_and_lets_nobody_pass(play: Make, node: Node) -> None:
    run = play({"slow": node(timeout_ms=60_000), "quick": node(timeout_ms=1_000)})
    assert ids(run.begin(spare_ms=5_000)) == ["quick"]
    assert run.status("slow") == "queued"
    assert ids(run.complete("quick", spare_ms=60_000)) == ["slow"]


def test_a_retry_needs_a_slot_and_room_like_a_first_attempt(play: Make, node: Node) -> None:
    run = play({"a": node(retry={"attempts": 3, "backoff_ms": 100, "max_backoff_ms": 100})})
    run.begin()
    run.decide(Failed("a", 1, Failure("timeout")), at=2_000)
    assert ids(run.decide(Tick(), at=2_100, spare_ms=10)) == []
    assert run.status("a") == "queued"
    assert run.folded().ready[0].node.id == "a"
    decision = run.decide(Tick(), at=2_200)
    assert [(d.id, d.attempt) for d in decision.dispatches] == [("a", 2)]
    assert run.complete("a", attempt=2).state.status == "completed"
    assert run.trace.nodes["a"].attempts == 2
    assert run.trace.nodes["a"].index == 1


def test_a_queued_default_is_still_a_default_when_it_starts(play: Make, node: Node) -> None:
    run = play({"a": node(), "b": node("a", on_parent_failure="substitute_default", default="none",
                                       retry={"attempts": 2, "backoff_ms": 0})})  # fmt: skip
    run.begin()
    run.decide(Failed("a", 1, Failure("config")), capacity=0)
    assert run.status("b") == "queued"
    assert run.decide(Tick()).dispatches[0].inputs == {"input": "none"}
    run.decide(Failed("b", 1, Failure("timeout")), at=3_000)
    run.decide(Tick(), at=3_000, capacity=0)
    assert run.status("b") == "queued"
    assert run.decide(Tick(), at=3_001).dispatches[0].inputs == {"input": "none"}


# -- what comes too late ----------------------------------------------------------------------------------------------

LATE = [
    Completed("a", 1, Outcome("late")), Failed("a", 1, Failure()), Suspended("a", 1, Pause("callback")), Logged("a", 1, "late"),
    Streamed("a", 1, "late"), Completed("a", 3, Outcome("from the future")), Completed("nobody", 1, Outcome()),
    Answered("a", "source"), Answered("nobody", "approved"), Expired("a"), Tick(),
]  # fmt: skip


@pytest.mark.parametrize("fact", LATE, ids=repr)
def test_what_belongs_to_no_open_attempt_changes_nothing(play: Make, node: Node, fact: Any) -> None:
    run = play({"a": node(retry={"attempts": 3, "backoff_ms": 10, "max_backoff_ms": 10})})
    run.begin()
    run.decide(Failed("a", 1, Failure("timeout")), at=2_000)
    run.decide(Tick(), at=2_010)
    assert run.decide(fact, at=2_011).events == []
    assert run.complete("a", attempt=2).state.status == "completed"


@pytest.mark.parametrize("fact", [*LATE, CancelRequested(), Recovered(), Completed("a", 1, Outcome())], ids=repr)
def test_a_finished_run_never_changes(play: Make, node: Node, fact: Any) -> None:
    run = play({"a": node()})
    run.begin()
    run.complete("a")
    before = encode_state(run.state)
    assert run.decide(fact).events == []
    assert encode_state(run.state) == before


# -- recovery ---------------------------------------------------------------------------------------------------------


def test_what_was_cut_off_runs_again_and_what_had_ended_does_not(play: Make, node: Node) -> None:
    run = play({"a": node(), "b": node(), "c": node("a")})
    run.begin()
    run.complete("a")
    run.state = run.folded()
    assert is_cut_off(run.state)
    again = run.decide(Recovered())
    assert sorted(ids(again)) == ["b", "c"]
    assert again.events[0].type == "run.recovered"
    assert "node.started b" not in [f"{e.type} {e.instance}" for e in again.events], "the start is in the log already"


def test_at_most_once_is_not_run_again_and_fails_openly(play: Make, node: Node) -> None:
    run = play({"a": node(delivery="at_most_once"), "h": node("a.error")})
    run.begin()
    run.state = run.folded()
    assert ids(run.decide(Recovered())) == ["h"]
    assert run.trace.nodes["a"].code == "outcome_unknown"


def test_at_most_once_is_tried_again_where_the_author_says_so(play: Make, node: Node) -> None:
    run = play({"a": node(delivery="at_most_once", retry={"attempts": 2, "backoff_ms": 0, "retry_on": ["outcome_unknown"]})})
    run.begin()
    run.state = run.folded()
    run.decide(Recovered(), at=9_000)
    assert ids(run.decide(Tick(), at=9_000)) == ["a"]


def test_hand_overs_that_get_nothing_done_are_bounded(play: Make, node: Node) -> None:
    run = play({"a": node(timeout_ms=70_000), "b": node("a")})
    run.begin(spare_ms=60_000)
    for hop in range(1, 9):
        assert ids(run.decide(Continued(hop), spare_ms=60_000)) == [] and not run.state.ended
    run.decide(Continued(9), spare_ms=60_000)
    assert run.state.status == "failed"
    error = run.events[-1].data["error"]
    assert error["code"] == "no_progress" and "a is next" in error["message"] and "70000" in error["message"]


def test_a_hand_over_after_anything_got_done_counts_from_the_beginning(play: Make, node: Node) -> None:
    run = play({"a": node(), "b": node(), "c": node(timeout_ms=70_000)})
    run.begin(spare_ms=60_000)
    for first, name in ((1, "a"), (9, "b")):
        for hop in range(first, first + 8):
            run.decide(Continued(hop), spare_ms=60_000)
        assert run.state.idle_hops == 8
        run.complete(name, spare_ms=60_000)
    assert run.state.status == "running" and run.state.idle_hops == 0


def test_a_hint_that_is_delivered_again_is_no_hand_over(play: Make, node: Node) -> None:
    run = play({"a": node(), "ask": {"type": "approval", "after": "a", "with": {"message": "Go on?"}}, "b": node("ask.approved")})
    run.begin()
    run.decide(Continued(1))
    run.complete("a")
    before = len(run.events)
    assert run.state.status == "paused"
    for hop in [1, 0, 1] * 9:
        run.decide(Continued(hop))
    assert (len(run.events), run.state.continued, run.state.idle_hops) == (before, 1, 0)
    run.decide(Answered("ask", "approved"))
    run.decide(Continued(2))
    assert (run.state.continued, run.state.idle_hops) == (2, 1)


def test_a_log_that_was_cut_between_any_two_events_goes_on_to_the_same_end(play: Make, node: Node) -> None:
    """Batches split where they are full, so a writer may die between the events of one decision."""
    nodes = {
        "t": {"type": "transform", "with": {"value": [1, 2]}},
        "l": {"type": "loop", "after": "t", "with": {"items": "<t>", "body": {"nodes": {
            "s": {"type": "set", "with": {"variables": {"x": "<loop.item>"}}},
            "c": {"type": "condition", "after": "s", "with": {"cases": {"one": "<loop.item> == 1", "two": "else"}}},
            "y": {"type": "transform", "after": "c.one", "with": {"value": "first"}},
        }}}},
        "w": {"type": "approval", "after": "l", "with": {"message": "Go on?"}},
        "z": {"type": "transform", "after": "w.approved", "with": {"value": "<l>"}},
    }  # fmt: skip
    whole = play(nodes, variables={"x": 0})
    whole.begin()
    whole.decide(Answered("w", "approved"))
    assert whole.state.status == "completed"
    for cut in range(1, len(whole.events)):
        run = play(nodes, variables={"x": 0})
        run.events = whole.events[:cut]
        run.state = run.folded()
        run.decide(*([Recovered()] if is_cut_off(run.state) else []), Tick())
        run.decide(Answered("w", "approved"))
        assert run.state.status == "completed", f"cut after event {cut}"
        assert run.state.root.at(3).value == ["first", None]
        assert run.folded().sequence == run.state.sequence


# -- cost -------------------------------------------------------------------------------------------------------------


def chain(node: Node, length: int, **more: Any) -> dict[str, Any]:
    return {"n0": node(), **{f"n{i}": node(f"n{i - 1}", **more) for i in range(1, length)}}


@pytest.mark.parametrize("more", [{}, {"on_parent_failure": "propagate"}], ids=["skipped", "failed"])
def test_a_failure_cascades_down_three_thousand_nodes(play: Make, node: Node, more: dict[str, Any]) -> None:
    run = play(chain(node, 3_000, **more))
    run.begin()
    run.decide(Failed("n0", 1, Failure("config", "boom")))
    assert run.state.status == "failed"
    assert run.status("n2999") == ("failed" if more else "skipped")
    assert run.trace.nodes["n2999"].index is None
    assert max(len(str(event.data)) for event in run.events) < 1_000, "causes do not pile up"


def test_a_pruned_chain_of_three_thousand_needs_one_event_each(play: Make, node: Node) -> None:
    nodes = {"c": {"type": "condition", "with": {"cases": {"never": "false"}}}, "n0": node("c.never"),
             **{f"n{i}": node(f"n{i - 1}") for i in range(1, 3_000)}}  # fmt: skip
    run = play(nodes)
    decision = run.begin()
    assert run.state.status == "completed"
    assert len(decision.events) == 3_000 + 4  # the condition's start and end, the run's


@pytest.mark.parametrize("width", [10, 100, 1_000])
def test_a_decision_costs_what_it_touches_and_not_the_graph(play: Make, node: Node, width: int) -> None:
    """Every node behind a wide fork is looked at a bounded number of times: once per branch that resolves."""
    nodes = {"s": node(), **{f"m{i}": node("s") for i in range(width)}, "j": node([f"m{i}" for i in range(width)])}
    run = play(nodes)
    run.begin()
    looks = 0
    agenda = run.state.agenda

    class Agenda(type(agenda)):  # type: ignore[misc]
        def popleft(self) -> Any:
            nonlocal looks
            looks += 1
            return super().popleft()

    run.state.agenda = Agenda(agenda)
    run.complete("s")
    for i in range(width):
        assert len(run.complete(f"m{i}").events) <= 2
    run.complete("j")
    assert run.state.status == "completed"
    assert looks == 2 * width, "each m once, j once for each of them"
    assert len(run.events) == 2 * (width + 2) + 2


def test_folding_a_log_is_one_step_per_event(play: Make, node: Node) -> None:
    run = play(chain(node, 500))
    run.begin()
    for i in range(500):
        run.complete(f"n{i}")
    state = State(run.graph, "run")
    for event in run.events:
        fold(state, event)
    assert state.sequence == len(run.events) == 2 * 500 + 2
