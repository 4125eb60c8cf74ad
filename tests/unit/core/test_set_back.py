"""Timers after the clock was set back (docs/understand/durability.md#clocks)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

from stepless.core.deciding.pauses import next_due_ms
from stepless.core.deciding.set_back import is_set_back
from stepless.core.facts import Answered, ClockSetBack, Failed, Failure, Noticed, Suspended, Tick
from stepless.core.limits.permits import Permits
from stepless.core.stored.snapshot import decode_state, encode_state
from stepless.model.kind import Pause

Make = Callable[..., Any]
Node = Callable[..., dict[str, Any]]
DAYS_MS = 3 * 86_400_000
NOW_MS = 1_000_000_000


@pytest.mark.parametrize("snapshot", [False, True])
def test_a_wait_and_a_back_off_that_began_in_the_future_keep_their_length(play: Make, node: Node, snapshot: bool) -> None:
    retry = {"attempts": 2, "backoff_ms": 4_000, "retry_on": ["timeout"]}
    run = play({"w": {"type": "wait", "with": {"for": "2s"}}, "a": node(retry=retry), "z": node("w")})
    run.now_ms = NOW_MS + DAYS_MS
    run.begin()
    run.decide(Failed("a", 1, Failure("timeout"), chance=1.0))
    run.state = decode_state(encode_state(run.state), run.graph, "run") if snapshot else run.folded()
    assert not is_set_back(run.state, NOW_MS + DAYS_MS)
    assert is_set_back(run.state, NOW_MS)
    run.decide(ClockSetBack(), Tick(), at=NOW_MS)
    assert not is_set_back(run.state, NOW_MS)
    assert next_due_ms(run.state) == NOW_MS + 2_000
    assert run.decide(Tick(), at=NOW_MS + 1_999).events == []
    assert [one.id for one in run.decide(Tick(), at=NOW_MS + 2_000).dispatches] == ["z"]
    assert [one.id for one in run.decide(Tick(), at=NOW_MS + 4_000).dispatches] == ["a"]
    assert run.folded().get("a").attempt == 2


@pytest.mark.parametrize("back_ms", [0, 20_000])
def test_small_differences_of_clocks_change_nothing(play: Make, node: Node, back_ms: int) -> None:
    run = play({"w": {"type": "wait", "with": {"for": "2s"}}, "z": node("w")})
    run.now_ms = NOW_MS
    run.begin()
    assert not is_set_back(run.state, NOW_MS - back_ms)
    assert run.decide(ClockSetBack(), at=NOW_MS - back_ms).events == []


def test_an_instant_that_the_author_names_stays(play: Make, node: Node) -> None:
    run = play({"w": {"type": "wait", "with": {"until": NOW_MS + DAYS_MS + 5_000}}, "z": node("w")})
    run.now_ms = NOW_MS + DAYS_MS
    run.begin()
    assert not is_set_back(run.state, NOW_MS)
    assert next_due_ms(run.state) == NOW_MS + DAYS_MS + 5_000


def checked(run: Any) -> Any:
    """The run, after comparing its state with the one from its log, and the one from a snapshot."""
    kept = decode_state(encode_state(run.state), run.graph, "run")
    assert kept is not None
    for other in (run.folded(), kept):
        assert encode_state(other) == encode_state(run.state)
        assert not is_set_back(other, run.now_ms)
    assert next_due_ms(kept) == next_due_ms(run.state), "their timers"
    return run


def after_a_step(run: Any) -> Any:
    """The clock is set back to NOW_MS, and the run finds out."""
    assert is_set_back(run.state, NOW_MS)
    run.decide(ClockSetBack(), Tick(), at=NOW_MS)
    return checked(run)


@pytest.mark.parametrize(("kind", "more"), [("approval", {"message": "Go on?"}), ("callback", {})])
def test_the_deadline_of_a_pause_keeps_its_length(play: Make, node: Node, kind: str, more: dict[str, Any]) -> None:
    run = play({"p": {"type": kind, "with": {"timeout": "10m", **more}}, "z": node("p.timeout")})
    run.now_ms = NOW_MS + DAYS_MS
    run.begin()
    after_a_step(run)
    assert next_due_ms(run.state) == NOW_MS + 600_000
    assert run.state.get("p").wait.deadline_ms == NOW_MS + 600_000
    assert run.decide(Tick(), at=NOW_MS + 599_999).expiries == []
    assert run.decide(Tick(), at=NOW_MS + 600_000).expiries == ["p"]


def test_the_notices_of_a_pause_are_neither_late_nor_repeated(play: Make) -> None:
    with_ = {"message": "Go on?", "notify": "https://example.com/hook", "reminders": ["1h", "2h"]}
    run = play({"p": {"type": "approval", "with": with_}})
    run.now_ms = NOW_MS + DAYS_MS
    run.begin()
    run.decide(Noticed("p", 0, None))
    after_a_step(run)
    assert run.decide(Tick(), at=NOW_MS + 3_590_000).notices == []
    assert run.decide(Tick(), at=NOW_MS + 3_600_000).notices == ["p"]
    assert run.state.get("p").wait.sent == 1


def test_a_failed_notice_is_tried_again_soon(play: Make) -> None:
    """The pause began before the clock was set ahead; a try of its notice failed after that."""
    run = play({"p": {"type": "approval", "with": {"message": "Go on?", "notify": "https://example.com/hook"}}})
    run.now_ms = NOW_MS - 1_000
    run.begin()
    run.decide(Noticed("p", 0, "the mail server is down"), at=NOW_MS + DAYS_MS)
    after_a_step(run)
    assert run.decide(Tick(), at=NOW_MS + 3_600_000).notices == ["p"]


def test_the_time_of_a_join_keeps_its_length(play: Make, node: Node) -> None:
    nodes = {"s": node(), "a": node("s"), "b": node("s"), "j": node(["a", "b"], join={"timeout_ms": 50_000}), "r": node()}
    run = play({**nodes, "k": node(["a", "r"], join={"timeout_ms": 70_000})})
    run.now_ms = NOW_MS + DAYS_MS
    run.begin()
    run.complete("s")
    after_a_step(run)
    run.decide(Tick(), at=NOW_MS + 49_999)
    assert run.status("j") == "pending"
    run.decide(Tick(), at=NOW_MS + 50_000)
    assert (run.status("j"), run.status("k")) == ("failed", "pending")
    run.decide(Tick(), at=NOW_MS + 70_000)
    assert run.status("k") == "failed"


@pytest.mark.parametrize("inside", ["turns", "child run"])
def test_the_time_limit_of_what_encloses_other_work_keeps_its_length(play: Make, node: Node, inside: str) -> None:
    body = {"nodes": {"x": node(), "y": {"type": "approval", "after": "x", "with": {"message": "Go on?"}}}}
    loop = {"type": "loop", "timeout_ms": 50_000, "with": {"times": 1, "body": body}}
    calling = {"type": "workflow", "timeout_ms": 50_000, "with": {"workflow": "other"}}
    run = play({"c": loop if inside == "turns" else calling})
    run.now_ms = NOW_MS + DAYS_MS
    run.begin()
    if inside == "turns":
        run.complete("x@c[0]")
    else:
        run.decide(Suspended("c", 1, Pause("subrun", details={"run": "child"})))
    after_a_step(run)
    run.decide(Tick(), at=NOW_MS + 49_999)
    assert not run.state.ended
    run.decide(Tick(), at=NOW_MS + 50_000)
    assert run.state.get("c").error["code"] == "timeout"


def test_a_run_times_out_after_its_time_limit(play: Make, node: Node) -> None:
    run = play({"a": node()}, timeout="1h")
    run.now_ms = NOW_MS + DAYS_MS
    run.begin()
    after_a_step(run)
    run.decide(Tick(), at=NOW_MS + 3_599_999)
    assert not run.state.ending
    run.decide(Tick(), at=NOW_MS + 3_600_000)
    assert run.state.status == "timed_out"


@pytest.mark.parametrize("answered_ahead", [False, True])
def test_a_pause_across_the_step_neither_shortens_nor_extends_the_time_of_a_run(
    play: Make, node: Node, answered_ahead: bool
) -> None:
    """The clock is set ahead before or during the pause, and back during or after it."""
    pause = {"type": "approval", "with": {"message": "Go on?"}}
    run = play({"p": pause, "a": node("p.approved")}, timeout="1h")
    run.now_ms = NOW_MS - 60_000 if answered_ahead else NOW_MS + DAYS_MS
    run.begin()
    assert run.state.status == "paused"
    if answered_ahead:
        run.decide(Answered("p", "approved"), at=NOW_MS + DAYS_MS)
        after_a_step(run)
    else:
        after_a_step(run)
        run.decide(Answered("p", "approved"), at=NOW_MS)
    due_ms = next_due_ms(run.state)
    assert due_ms is not None and NOW_MS + 3_500_000 <= due_ms <= NOW_MS + 3_600_000
    run.decide(Tick(), at=NOW_MS + 3_499_999)
    assert not run.state.ending
    run.decide(Tick(), at=NOW_MS + 3_600_000)
    assert run.state.status == "timed_out"


def test_an_answer_that_comes_before_the_step_back_is_found_ends_no_run_early(play: Make, node: Node) -> None:
    pause = {"type": "approval", "with": {"message": "Go on?"}}
    run = play({"p": pause, "a": node("p.approved")}, timeout="1h")
    run.now_ms = NOW_MS + DAYS_MS
    run.begin()
    run.decide(Answered("p", "approved"), Tick(), at=NOW_MS)
    assert not run.state.ending
    after_a_step(run)
    assert next_due_ms(run.state) == NOW_MS + 3_600_000


def test_an_instant_reserved_under_a_rate_is_given_up(play: Make, node: Node) -> None:
    """It lies days ahead. The attempt reserves another one."""
    run = play({"a": node(rate={"max": 1, "per": "1m"})})
    run.now_ms = NOW_MS + DAYS_MS
    permits = Permits()
    run.begin(permits=permits)
    (cell_id,) = run.state.limited
    permits.times[cell_id] = deque([NOW_MS + DAYS_MS + 30_000])
    run.decide(permits=permits)
    assert list(run.state.paced) == ["a"]
    permits = Permits()
    assert is_set_back(run.state, NOW_MS)
    run.decide(ClockSetBack(), Tick(), at=NOW_MS, permits=permits)
    assert list(run.state.limited) == [cell_id] == list(permits.wanted)
    permits.times[cell_id] = deque([NOW_MS + 1])
    assert [one.id for one in run.decide(at=NOW_MS + 1, permits=permits).dispatches] == ["a"]
    checked(run)


def test_a_run_whose_deadlines_are_as_they_were_logs_nothing(play: Make, node: Node) -> None:
    """The clock was set ahead and back between two decisions, or the run has times of any length that began in time."""
    pause = {"type": "approval", "with": {"message": "Go on?", "timeout": "30d", "notify": "https://example.com/hook"}}
    run = play({"p": pause, "a": node(), "j": node(["a", "p.approved"], join={"timeout_ms": 864_000_000})}, timeout="10d")
    run.now_ms = NOW_MS
    run.begin()
    assert not is_set_back(run.state, NOW_MS - 1_000)
    assert run.decide(ClockSetBack(), at=NOW_MS).events == []
