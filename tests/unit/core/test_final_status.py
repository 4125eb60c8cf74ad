"""The status of a run: which of several reasons decides its end, and when it is paused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepless.core.deciding.ending import final_status
from stepless.core.facts import Answered, CancelRequested, Completed, Failed, Failure, Tick
from stepless.model.kind import Outcome

Make = Callable[..., Any]  # the fixture `play` of conftest.py
ASK = {"type": "approval", "with": {"message": "Go on?"}}


@pytest.mark.parametrize(
    ("ending", "bad", "status"),
    [
        ("", 0, "completed"), ("", 1, "failed"), ("run_cancelled", 0, "cancelled"), ("run_cancelled", 1, "failed"),
        ("run_failed", 0, "failed"), ("run_timed_out", 0, "timed_out"), ("run_timed_out", 2, "timed_out"),
    ],
)  # fmt: skip
def test_of_several_ends_the_gravest_names_the_run(
    play: Make, node: Callable[..., Any], ending: str, bad: int, status: str
) -> None:
    state = play({"a": node()}).state
    state.ending, state.root.bad = ending, bad
    assert final_status(state) == status


def test_a_run_is_paused_only_while_all_that_lives_waits(play: Make, node: Callable[..., Any]) -> None:
    run = play({"w": ASK, "a": node(retry={"attempts": 2, "backoff_ms": 9_000, "retry_on": ["execution"]})})
    run.begin()
    assert run.state.status == "running", "a is at work"
    run.decide(Failed("a", 1, Failure("execution", "no", "no")))
    assert run.state.status == "running", "a is tried again"
    run.decide(Tick(), at=60_000)
    run.complete("a", attempt=2)
    assert (run.state.status, run.types[-1]) == ("paused", "run.status.changed")
    run.decide(Answered("w", "approved"))
    assert run.state.status == "completed"


def test_a_cancelled_run_ends_what_lives_and_a_second_request_changes_nothing(play: Make, node: Callable[..., Any]) -> None:
    run = play({"a": node(), "w": ASK, "z": node(["a", "w.approved"])})
    run.begin()
    decision = run.decide(CancelRequested(by="ada", reason="enough"), CancelRequested(by="bob", reason="too late"))
    asked = [event.data for event in run.events if event.type == "run.status.changed" and event.data["status"] == "ending"]
    assert asked == [{"status": "ending", "reason": "run_cancelled", "by": "ada", "why": "enough"}]
    assert decision.aborts == ["a"]
    assert {name: run.status(name) for name in ("a", "w", "z")} == dict.fromkeys(("a", "w", "z"), "cancelled")
    assert (run.state.status, run.types[-1]) == ("cancelled", "run.cancelled")
    before = len(run.events)
    run.decide(CancelRequested())
    run.decide(Completed("a", 1, Outcome("late")))
    assert len(run.events) == before


def test_a_failed_run_says_why_and_how_many_failed(play: Make, node: Callable[..., Any]) -> None:
    run = play({"a": node(), "b": node(), "c": {"type": "transform", "after": "b.error", "with": {"value": 1}}})
    run.begin()
    run.decide(Failed("b", 1, Failure("config", "second", "b failed")))
    run.decide(Failed("a", 1, Failure("config", "first", "a failed")))
    end = run.events[-1]
    assert (end.type, end.data["failures"]) == ("run.failed", 2)
    assert end.data["error"]["code"] == "first"


def test_a_run_without_a_failure_does_not_count_any(play: Make, node: Callable[..., Any]) -> None:
    run = play({"a": node()})
    run.begin()
    run.complete("a")
    assert run.events[-1].data == {}
