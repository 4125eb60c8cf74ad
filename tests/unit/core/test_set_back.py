"""Timers after the clock was set back (docs/understand/durability.md#clocks)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepless.core.facts import ClockSetBack, Failed, Failure, Tick
from stepless.core.pauses import next_due_ms
from stepless.core.set_back import is_set_back
from stepless.core.stored.snapshot import decode_state, encode_state

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
