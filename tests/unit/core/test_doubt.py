"""Deaths of the process: against which instances they count, and which go on
(docs/understand/durability.md#deaths-of-the-process)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepless.core.deciding.recovery import is_cut_off
from stepless.core.decision import Decision
from stepless.core.doubt import needs_exclusive
from stepless.core.events import Event, EventType
from stepless.core.facts import CancelRequested, Failed, Failure, HoldChanged, Recovered, Stopped, Tick
from stepless.core.stored.snapshot import decode_state, encode_state

Make = Callable[..., Any]
Node = Callable[..., dict[str, Any]]


def ids(decision: Decision) -> list[str]:
    return [dispatch.id for dispatch in decision.dispatches]


def death(run: Any, *, snapshot: bool = False, **bounds: Any) -> list[str]:
    """The process dies, and another takes the run up from its log or from a snapshot. Returns which attempts it begins."""
    run.state = decode_state(encode_state(run.state), run.graph, "run") if snapshot else run.folded()
    return ids(run.decide(*([Recovered()] if is_cut_off(run.state) else []), Tick(), **bounds))


def starts(run: Any) -> list[str]:
    return [f"{e.instance}{' alone' if e.data.get('exclusive') else ''}" for e in run.events if e.type.value == "node.started"]


def test_the_first_death_begins_all_attempts_again_and_the_second_one_at_a_time(play: Make, node: Node) -> None:
    run = play({"a": node(), "b": node(), "c": node()})
    run.begin()
    assert death(run) == ["a", "b", "c"]
    assert death(run) == ["a"]
    assert ids(run.complete("a")) == ["b"]
    assert ids(run.complete("b")) == ["c"]
    run.complete("c")
    assert run.state.status == "completed"
    assert starts(run) == ["a", "b", "c", "a alone", "b alone", "c alone"]


@pytest.mark.parametrize("snapshot", [False, True])
@pytest.mark.parametrize(("attempts", "most"), [(1, 3), (5, 5)])
def test_an_instance_fails_when_the_process_died_often_enough_while_it_ran_alone(
    play: Make, node: Node, attempts: int, most: int, snapshot: bool
) -> None:
    run = play({"a": node(**({"retry": {"attempts": attempts}} if attempts > 1 else {})), "h": node("a.error")})
    run.begin()
    for _ in range(2 + most - 1):
        assert death(run, snapshot=snapshot) == ["a"]
    assert death(run, snapshot=snapshot) == ["h"]
    assert run.trace.nodes["a"].code == "crashed"
    assert f"{most} times" in run.state.get("a").error["message"]
    assert run.trace.nodes["a"].attempts == 1, "interrupted attempts do not count against retry"


@pytest.mark.parametrize("place", [0, 7, 50])
def test_a_poisonous_instance_among_fifty_others_fails_alone(play: Make, node: Node, place: int) -> None:
    poison = f"n{place}"
    run = play({f"n{number}": node() for number in range(51)})
    begun = ids(run.begin())
    deaths = 0
    while not run.state.ended:
        if poison in begun:
            deaths += 1
            begun = death(run, snapshot=deaths % 2 == 0)
        else:
            begun = [later for one in begun for later in ids(run.complete(one))]
    assert deaths == 5
    assert {name for name, record in run.trace.nodes.items() if record.code == "crashed"} == {poison}
    assert sum(record.status == "completed" for record in run.trace.nodes.values()) == 50


@pytest.mark.parametrize("others", [1, 2, 5])
def test_deaths_by_other_causes_strike_the_instances_in_turn(play: Make, node: Node, others: int) -> None:
    """Five kills convict none of two instances that run longer than the time between the kills."""
    run = play({f"n{number}": node() for number in range(1 + others)})
    run.begin()
    for _ in range(5):
        begun = death(run)
    assert max(run.state.lone_deaths.values()) <= 2
    while begun:
        begun = ids(run.complete(begun[0]))
    assert run.state.status == "completed"


def test_an_instance_that_is_not_in_doubt_begins_before_or_after_an_exclusive_attempt_and_not_beside_it(
    play: Make, node: Node
) -> None:
    run = play({"a": node(), "b": node(), "c": node("b")})
    run.begin()
    death(run)
    assert death(run) == ["a"]
    assert ids(run.complete("a")) == ["b"]
    assert ids(run.complete("b")) == ["c"], "c is in no doubt"
    assert starts(run)[-1] == "c"


def test_an_exclusive_attempt_waits_for_the_attempts_in_progress_and_for_the_process(play: Make, node: Node) -> None:
    retry = {"attempts": 3, "backoff_ms": 10, "retry_on": ["provider_error"]}
    run = play({"a": node(retry=retry), "b": node(), "c": node("b"), "d": node("b")})
    run.begin()
    death(run)
    death(run, exclusive=False)
    assert not run.state.running and needs_exclusive(run.state, None)
    assert ids(run.decide(exclusive=True)) == ["a"]
    assert not needs_exclusive(run.state, None), "an attempt is in progress"
    assert ids(run.decide(Failed("a", 1, Failure("provider_error")), exclusive=False)) == []
    assert ids(run.decide(exclusive=True)) == ["b"]
    assert ids(run.complete("b")) == ["c", "d"]
    due = run.now_ms + 60_000
    assert ids(run.decide(Tick(), at=due)) == [], "a is in doubt until it settles, and c and d are in progress"
    assert ids(run.complete("c")) == []
    assert ids(run.complete("d", exclusive=False)) == []
    assert ids(run.decide(exclusive=True)) == ["a"]
    assert run.state.get("a").attempt == 2


def test_a_death_without_an_exclusive_attempt_counts_against_no_instance(play: Make, node: Node) -> None:
    run = play({"a": node(), "b": node(), "c": node("b"), "h": node("a.error")})
    run.begin()
    death(run)
    death(run)
    run.complete("a")
    run.complete("b")
    for _ in range(8):  # c and what follows were never in progress beside an exclusive attempt
        death(run, exclusive=False)
    assert run.state.lone_deaths == {}
    assert run.trace.nodes["a"].status == "completed"


def test_a_window_ends_when_its_instances_have_settled(play: Make, node: Node) -> None:
    run = play({"a": node(), "b": node("a"), "c": node("a")})
    run.begin()
    death(run)
    assert ids(run.complete("a")) == ["b", "c"]
    assert run.state.deaths == 0
    assert death(run) == ["b", "c"], "the first death of another window"


@pytest.mark.parametrize("stops", [1, 5, 12])
def test_a_process_that_stops_in_order_counts_nothing(play: Make, node: Node, stops: int) -> None:
    run = play({"a": node(), "b": node()})
    run.begin()
    for _ in range(stops):
        run.decide(Stopped(), capacity=0)
        assert not run.state.running
        run.state = run.folded()
        assert not is_cut_off(run.state)
        assert ids(run.decide(Tick())) == ["a", "b"]
    assert run.state.recoveries == {} and run.state.deaths == 0
    assert run.state.get("a").attempt == 1
    for _ in range(4):
        death(run)
    run.decide(Stopped(), capacity=0)
    assert run.state.deaths == 4, "a stop does not clear an instance either"
    assert len(death(run)) == 1


def test_a_process_that_stops_leaves_the_outcome_of_an_attempt_at_most_once_unknown(play: Make, node: Node) -> None:
    run = play({"a": node(delivery="at_most_once"), "h": node("a.error")})
    run.begin()
    assert ids(run.decide(Stopped())) == ["h"]
    assert run.trace.nodes["a"].code == "outcome_unknown"


def test_attempts_that_a_living_process_broke_off_count_nothing(play: Make, node: Node) -> None:
    run = play({"a": node(), "b": node()})
    run.begin()
    for _ in range(9):
        run.state = run.folded()
        assert ids(run.decide(Recovered(died=False), Tick())) == ["a", "b"]
    assert run.state.deaths == 0


def test_an_interrupted_attempt_of_a_halting_run_ends_as_it_would_have(play: Make, node: Node) -> None:
    end = {"type": "end", "after": "stop", "with": {"halt": True}}
    run = play({"a": node(), "b": node(), "c": node("b"), "stop": node(), "end": end})
    run.begin()
    death(run)
    death(run)
    run.complete("a")
    run.complete("b", exclusive=False)
    run.state = run.folded()
    assert ids(run.decide(exclusive=True)) == ["stop"]
    run.complete("stop")
    assert run.state.ended, run.types


def test_a_halting_run_finishes_what_a_death_interrupted(play: Make, node: Node) -> None:
    run = play({"a": node(), "b": node(), "c": node()}, on_failure="halt")
    run.begin()
    death(run)
    assert death(run) == ["a"]
    decision = run.decide(Failed("a", 1, Failure("x", "x", "x")))
    assert run.state.halting
    assert ids(decision) == ["b"]
    assert ids(run.complete("b")) == ["c"]
    run.complete("c")
    assert run.state.status == "failed"
    assert [run.status(name) for name in "abc"] == ["failed", "completed", "completed"]


def test_a_cancel_and_a_hold_apply_to_instances_in_doubt(play: Make, node: Node) -> None:
    run = play({"a": node(), "b": node()})
    run.begin()
    death(run)
    death(run)
    run.decide(HoldChanged(1, held=True))
    assert ids(run.complete("a")) == [] and not needs_exclusive(run.state, None)
    assert ids(run.decide(HoldChanged(2, held=False))) == ["b"]
    run.decide(CancelRequested())
    assert run.state.status == "cancelled"


def test_a_log_of_the_release_before_folds_as_before_and_its_deaths_convict_no_instance(play: Make, node: Node) -> None:
    """The former release wrote `run.recovered` for each death, and began all attempts again."""
    run = play({"a": node(), "b": node()})
    run.begin()
    first = run.events[:]
    recovered = [Event(len(first) + n, EventType.RUN_RECOVERED, 2_000, "", 0, {"instances": ["a", "b"]})
                 for n in (1, 2, 3)]  # fmt: skip
    run.events += recovered
    run.state = run.folded()
    assert run.state.recoveries == {"a": 3, "b": 3} and run.state.lone_deaths == {}
    assert [run.status(name) for name in "ab"] == ["running", "running"]
    assert death(run) == ["a"]
    run.complete("a")
    run.complete("b")
    assert run.state.status == "completed"
