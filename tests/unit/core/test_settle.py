"""How long a back-off lasts (docs/understand/semantics.md#attempts)."""

from __future__ import annotations

import pytest

from stepless.core.deciding.settle import backoff_ms
from stepless.core.facts import Failed, Failure, Tick
from stepless.model.declaration.policies import Retry

DAY_MS = 24 * 3_600_000


def retry(backoff: int = 500, most: int = 8_000, attempts: int = 9) -> Retry:
    return Retry(attempts=attempts, backoff_ms=backoff, max_backoff_ms=most, retry_on=("timeout",))


@pytest.mark.parametrize(("attempt", "chance", "delay_ms"), [
    (1, 1.0, 500), (2, 1.0, 1_000), (3, 1.0, 2_000), (5, 1.0, 8_000), (6, 1.0, 8_000), (100, 1.0, 8_000),
    (1, 0.0, 250), (2, 0.0, 500), (6, 0.0, 4_000), (2, 0.5, 750),
])  # fmt: skip
def test_it_doubles_up_to_its_bound_and_half_of_it_is_chance(attempt: int, chance: float, delay_ms: int) -> None:
    assert backoff_ms(retry(), attempt, chance) == delay_ms


def test_a_bound_below_the_first_delay_holds_from_the_start() -> None:
    assert backoff_ms(retry(backoff=500, most=100), 1, 1.0) == 100


def test_no_backoff_means_at_once(play, node) -> None:  # type: ignore[no-untyped-def]
    run = play({"a": node(retry={"attempts": 2, "backoff_ms": 0})})
    run.begin()
    run.decide(Failed("a", 1, Failure("timeout")), at=5_000)
    assert run.status("a") == "waiting"
    assert [d.attempt for d in run.decide(Tick(), at=5_000).dispatches] == [2]


@pytest.mark.parametrize(("cause", "asked_ms", "delay_ms"), [
    ("rate_limit", 9_000, 9_000), ("rate_limit", 10, 500), ("timeout", 9_000, 9_000), ("rate_limit", DAY_MS, DAY_MS),
])  # fmt: skip
def test_a_failure_may_ask_for_a_longer_delay(play, node, cause: str, asked_ms: int, delay_ms: int) -> None:  # type: ignore[no-untyped-def]
    run = play({"a": node(retry={"attempts": 2, "backoff_ms": 500})})
    run.begin()
    decision = run.decide(Failed("a", 1, Failure(cause, retry_after_ms=asked_ms)), at=5_000)
    assert decision.events[-1].data["delay_ms"] == delay_ms
    assert decision.events[-1].data["resume_at"] == 5_000 + delay_ms


@pytest.mark.parametrize(("max_backoff_ms", "asked_ms", "status"), [
    (8_000, DAY_MS + 1, "failed"), (2 * DAY_MS, 2 * DAY_MS, "waiting"), (2 * DAY_MS, 2 * DAY_MS + 1, "failed"),
])  # fmt: skip
def test_a_delay_of_more_than_a_day_or_the_longest_back_off_fails_the_node(  # type: ignore[no-untyped-def]
    play, node, max_backoff_ms: int, asked_ms: int, status: str
) -> None:
    run = play({"a": node(retry={"attempts": 2, "max_backoff_ms": max_backoff_ms})})
    run.begin()
    run.decide(Failed("a", 1, Failure("rate_limit", "http_429", "too many", retry_after_ms=asked_ms)))
    assert run.status("a") == status
    if status == "failed":
        error = run.state.get("a").error
        assert error["code"] == "rate_limit" and error["message"].endswith(": too many")


def test_the_drawn_chance_is_recorded_by_its_delay(play, node) -> None:  # type: ignore[no-untyped-def]
    run = play({"a": node(retry={"attempts": 2, "backoff_ms": 500})})
    run.begin()
    decision = run.decide(Failed("a", 1, Failure("timeout"), chance=0.25))
    assert decision.events[-1].data["delay_ms"] == 312
    assert run.folded().get("a").wait == run.state.get("a").wait
