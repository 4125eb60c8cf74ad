"""When a call is tried again, on a clock that only the delays move."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from stepless.client.calls import Calls
from stepless.client.errors import ClientError, OutcomeUnknown, StillRunning, TooManyRequests, Unavailable, Unreachable
from stepless.client.exchange import Emit, Lost, Open, Opened, Pause, Progress, Read, Reply, Send
from stepless.client.retrying import Effect, Terms, Tries, retry_after_s
from stepless.limits import CLIENT_BACKOFF_FIRST_MS, CLIENT_BACKOFF_LAST_MS

REFUSED = Reply(429, {}, b"")
BROKEN = Lost("reset by peer", True)
NEVER = Lost("refused", False)
JSON = {"content-type": "application/json"}


class Clock:
    def __init__(self, chance: float = 0) -> None:
        self.now = 0.0
        self.chance = chance
        self.terms = Terms(60, lambda: self.now, lambda: self.chance)


def delays(tries: Tries, clock: Clock, outcomes: Iterable[Reply | Lost]) -> list[float]:
    """The delays until the tries are over."""
    found: list[float] = []
    try:
        for outcome in outcomes:
            found.append(tries.delay_after(outcome))
            clock.now += found[-1]
    except ClientError:
        return found
    raise AssertionError("the tries go on")


def endless(outcome: Reply | Lost) -> Iterable[Reply | Lost]:
    return (outcome for _ in range(1000))


def test_delays_double_up_to_a_bound_and_end_in_time() -> None:
    clock = Clock()
    found = delays(Tries(clock.terms), clock, endless(BROKEN))
    assert found[:3] == [CLIENT_BACKOFF_FIRST_MS / 1000 * factor for factor in (1, 2, 4)]
    assert max(found) == CLIENT_BACKOFF_LAST_MS / 1000
    assert 60 - CLIENT_BACKOFF_LAST_MS / 1000 < sum(found) <= 60


def test_chance_takes_up_to_half_of_a_delay() -> None:
    whole, half = (Tries(Clock(chance).terms).delay_after(NEVER) for chance in (0, 1))
    assert half == whole / 2


def test_what_the_server_asks_for_comes_before_the_back_off() -> None:
    clock = Clock(chance=1)
    assert Tries(clock.terms).delay_after(Reply(503, {"retry-after": "7"}, b"")) == 7 + CLIENT_BACKOFF_FIRST_MS / 2000


def test_a_delay_beyond_the_time_ends_the_tries_at_once() -> None:
    clock = Clock()
    assert delays(Tries(clock.terms), clock, endless(Reply(503, {"retry-after": "61"}, b""))) == []


@pytest.mark.parametrize(
    ("effect", "outcome", "again"),
    [
        (Effect.NONE, BROKEN, True), (Effect.ONE, BROKEN, True), (Effect.EACH, BROKEN, False),
        (Effect.EACH, NEVER, True), (Effect.EACH, REFUSED, True), (Effect.EACH, Reply(503, {}, b""), False),
        (Effect.ONE, Reply(503, {}, b""), True), (Effect.ONE, Reply(500, {}, b""), True),
        (Effect.ONE, Reply(500, {"content-type": "application/problem+json"}, b"{}"), False),
        (Effect.NONE, Reply(404, {}, b""), False), (Effect.NONE, Reply(302, {}, b""), False),
    ],
)  # fmt: skip
def test_a_call_is_repeated_only_if_that_is_safe(effect: Effect, outcome: Reply | Lost, again: bool) -> None:
    clock = Clock()
    assert bool(delays(Tries(clock.terms, effect), clock, endless(outcome))) == again


@pytest.mark.parametrize(
    ("effect", "outcomes", "kind"),
    [
        (Effect.ONE, [NEVER], Unreachable), (Effect.ONE, [BROKEN, NEVER], OutcomeUnknown), (Effect.NONE, [BROKEN], Unreachable),
        (Effect.EACH, [BROKEN], OutcomeUnknown),
        (Effect.ONE, [REFUSED], TooManyRequests), (Effect.ONE, [Reply(503, {}, b"")], Unavailable),
    ],
)  # fmt: skip
def test_the_error_says_whether_there_may_be_an_effect(effect: Effect, outcomes: list[Any], kind: type) -> None:
    clock = Clock()
    tries = Tries(clock.terms, effect, key="k-1")
    for outcome in outcomes[:-1]:
        tries.delay_after(outcome)
    clock.now = 61
    with pytest.raises(kind):
        tries.delay_after(outcomes[-1])


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0), ({"retry-after": "3"}, 3), ({"retry-after": "soon"}, 0), ({"retry-after": "-1"}, 0),
        ({"retry-after": "Fri, 27 Nov 2026 10:00:05 GMT", "date": "Fri, 27 Nov 2026 10:00:00 GMT"}, 5),
        ({"retry-after": "Fri, 27 Nov 2026 09:00:00 GMT", "date": "Fri, 27 Nov 2026 10:00:00 GMT"}, 0),
        ({"retry-after": "Fri, 27 Nov 2026 10:00:05 GMT"}, 0),
    ],
)  # fmt: skip
def test_a_retry_after_is_read(headers: dict[str, str], seconds: float) -> None:
    assert retry_after_s(headers) == seconds


# -- whole calls ------------------------------------------------------------------------------------------------------


def performed(steps: Any, clock: Clock, server: Callable[[Any], Any]) -> Any:
    """The result of a call whose requests `server` answers."""
    call, outcome = Progress[Any](steps), None
    while call.advance(outcome):
        if isinstance(call.step, Pause):
            clock.now += call.step.seconds
        outcome = server(call.step)
    return call.result


@pytest.mark.parametrize(("limit", "sizes"), [(None, [100, 100, 100]), (5, [5, 3, 1])])
def test_pages_are_read_until_there_is_no_more(limit: int | None, sizes: list[int]) -> None:
    """A search returns fewer runs than it was asked for, and still has a cursor."""
    clock, asked, items = Clock(), list[Any](), list[str]()
    pages = [(["a", "b"], "1"), (["c", "d"], "2"), (["e"], None)]

    def server(step: Any) -> Any:
        if isinstance(step, Emit):
            return items.append(step.item)
        asked.append(step.request.query)
        runs, cursor = pages[len(asked) - 1]
        return Reply(200, JSON, json.dumps({"runs": runs, "cursor": cursor}).encode())

    performed(Calls(clock.terms).runs(limit=limit, workflow="w", search=None), clock, server)
    assert items == ["a", "b", "c", "d", "e"]
    assert [query.get("cursor") for query in asked] == [None, "1", "2"]
    assert [query["limit"] for query in asked] == sizes
    assert all(query["workflow"] == "w" and "search" not in query for query in asked)


def test_a_busy_run_is_asked_about_less_and_less_often() -> None:
    clock, asked = Clock(), list[float]()
    run = {"id": "run_1", "status": "running", "sequence": 1, "ended_at": None, "waiting": [], "held": None}

    def server(step: Any) -> Any:
        if not isinstance(step, Send):
            return None
        if step.request.path[-1] != "events":
            return Reply(200, JSON, json.dumps(run).encode())
        asked.append(clock.now)
        return Reply(200, JSON, b'{"events": [{"type": "node.started"}], "cursor": 2, "ended": false}')

    with pytest.raises(StillRunning):
        performed(Calls(clock.terms).wait("run_1", timeout_s=10), clock, server)
    assert 20 < len(asked) < 30 and clock.now == pytest.approx(10)


def test_progress_of_a_stream_gives_it_the_whole_time_again() -> None:
    """A connection that breaks for days, but brings an event each time, is followed all the while."""
    clock, last = Clock(), 0

    def server(step: Any) -> Any:
        nonlocal last
        if isinstance(step, Open):
            return Opened()
        if not isinstance(step, Read):
            return None
        last += 1
        if last % 2 == 0:
            return BROKEN
        kind = "run.completed" if last > 4001 else "node.started"
        return b'id: %d\nevent: x\ndata: {"eventId": %d, "type": "%s"}\n\n' % (last, last, kind.encode())

    performed(Calls(clock.terms).events("run_1"), clock, server)
    assert clock.now > 3 * 60


def test_a_stream_that_was_silent_for_hours_may_break() -> None:
    """Nothing happens in the run, and only heartbeats come: the time for retries begins when the connection breaks."""
    clock, read = Clock(), 0

    def server(step: Any) -> Any:
        nonlocal read
        if not isinstance(step, Read):
            return Opened() if isinstance(step, Open) else None
        read += 1
        clock.now += 15
        if read % 500 == 0:
            return BROKEN
        return b"event: heartbeat\ndata: {}\n\n" if read < 1900 else b'id: 1\ndata: {"eventId": 1, "type": "run.failed"}\n\n'

    performed(Calls(clock.terms).events("run_1"), clock, server)
    assert read == 1900


@pytest.mark.parametrize("chunks", [[BROKEN], [b"retry: 1000\n\n", BROKEN], [None], [b"retry: 10\n\n", None]])
def test_a_stream_that_brings_nothing_is_given_up(chunks: list[Any]) -> None:
    clock, left = Clock(), list[Any]()

    def server(step: Any) -> Any:
        if isinstance(step, Open):
            left[:] = chunks
            return Opened()
        return left.pop(0) if isinstance(step, Read) else None

    with pytest.raises(Unreachable):
        performed(Calls(clock.terms).events("run_1"), clock, server)
    assert 50 < clock.now <= 60
