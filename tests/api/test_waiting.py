"""Requests that wait for a run: notified by the process that runs it, and polling if there is none."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from stepless.api import waiting
from stepless.core.events import Event, EventType
from stepless.errors import StoreUnavailable

PATIENCE_S = 10  # half of what these requests wait

pytestmark = pytest.mark.anyio

FEW = 8  # header reads: two a look, at first, when the run pauses, goes on and ends; looking again takes 14 and more

# Each of these rests for a second, in which whoever looks again by himself does so six times.
SLOW = {"id": "slow", "nodes": {"a": {"type": "wait", "with": {"for": "1s"}}}}
HOOKED = {
    "id": "hooked",
    "nodes": {
        "called": {"type": "webhook", "with": {"path": "/answers", "auth": "none", "response": "wait"}},
        "calm": {"type": "wait", "after": "called", "with": {"for": "1s"}},
        "answer": {"type": "respond", "after": "calm", "with": {"body": "here"}},
        "rest": {"type": "wait", "after": "calm", "with": {"for": "1h"}},
    },
}

QUICK: dict[str, Any] = {
    "id": "quick",
    "nodes": {
        "called": {"type": "webhook", "with": {"path": "/quick", "auth": "none", "response": "wait"}},
        "answer": {"type": "respond", "after": "called", "with": {"body": {"got": "<called.body.pieces>"}}},
    },
}


def looks(door: Any) -> int:
    """How often the API has read a run's header since it was last asked."""
    count = int(door.store.asked["get_run"])
    door.store.asked.clear()
    return count


async def test_a_start_that_waits_looks_when_its_run_pauses_and_ends(door: Any) -> None:
    assert (await door.finish(SLOW))["outcome"]["status"] == "completed"
    assert looks(door) <= FEW


async def test_a_hook_that_waits_looks_when_its_run_answers(door: Any) -> None:
    await door.publish(HOOKED)
    answer = await door.stranger.post("/hooks/answers", json={})
    assert (answer.status_code, answer.text) == (200, "here")
    assert looks(door) <= FEW


async def test_a_page_of_a_run_that_rests_is_not_looked_for(door: Any) -> None:
    run_id, _ = await door.question()
    head = (await door.run(run_id))["sequence"]
    looks(door)
    page = await door.ask.get(f"/runs/{run_id}/events?afterEventId={head}", headers={"prefer": "wait=1"})
    assert page.json()["events"] == []
    assert looks(door) <= FEW


async def test_a_page_and_a_stream_are_told_of_the_next_event(door: Any) -> None:
    run_id, link = await door.question()
    head = (await door.run(run_id))["sequence"]
    page = asyncio.create_task(door.ask.get(f"/runs/{run_id}/events?afterEventId={head}"))
    async with asyncio.timeout(PATIENCE_S), door.stream(f"/runs/{run_id}/events?afterEventId={head}") as stream:
        await door.stranger.post(link, json={"decision": "approved"})
        assert (await page).json()["events"]
        seen = []
        while (event := await stream.event()) is not None:
            seen.append(event["type"])
    assert seen[-1] == "run.completed"


async def test_a_waiter_whose_look_met_a_store_out_of_reach_looks_again_by_itself(door: Any) -> None:
    """News that came meanwhile were not seen, and none may follow."""
    answers = iter([StoreUnavailable("gone for a moment"), "found"])

    def look() -> str:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert await waiting.wait_for(door.local.service, "run", look, 20) == "found"


async def test_where_no_process_runs_the_runs_a_waiter_looks_again_by_itself(door: Any) -> None:
    service = door.local.service
    elsewhere = type(service)(replace(service.world, news=None), service.signer)
    looks = iter([None, None, "found"])
    assert await waiting.wait_for(elsewhere, "run", lambda: next(looks), 20) == "found"


async def test_a_hook_that_is_run_here_is_answered_without_reading_its_log(door: Any) -> None:
    await door.publish(QUICK)
    await door.stranger.post("/hooks/quick", json={})  # compiles the workflow
    door.store.asked.clear()
    answer = await door.stranger.post("/hooks/quick", json={"pieces": 2})
    assert (answer.status_code, answer.json()) == (200, {"got": 2})
    assert door.store.asked["read_log"] == 0 and door.store.asked["get_run"] <= 1  # the runner's


async def test_a_repeated_hook_gets_the_response_from_the_log(door: Any) -> None:
    await door.publish(QUICK)
    first, again = [
        await door.stranger.post("/hooks/quick", json={"pieces": 3}, headers={"idempotency-key": "k"}) for _ in range(2)
    ]
    assert first.json() == again.json() == {"got": 3}
    assert len((await door.ask.get("/runs")).json()["runs"]) == 1


async def test_a_large_response_is_the_same_here_and_from_the_log(door: Any) -> None:
    large = {**QUICK, "nodes": {**QUICK["nodes"], "answer": {**QUICK["nodes"]["answer"], "with": {"body": "<called.body>"}}}}
    await door.publish(large)
    sent = {"text": "x" * 200_000}
    first, again = [
        await door.stranger.post("/hooks/quick", json=sent, headers={"idempotency-key": "k"}) for _ in range(2)
    ]
    assert first.json() == again.json() == sent


def event(sequence: int, type: EventType = EventType.NODE_STARTED, **data: Any) -> Event:
    return Event(sequence, type, 0, "", 0, data)


async def test_a_watch_that_missed_an_event_reads_the_log(door: Any) -> None:
    """A commit whose answer was lost is not published, though its events are stored."""
    run_id, _ = await door.question()
    responded = waiting.Responded()
    with waiting.Watch(door.local.service, run_id, responded) as watch:
        door.local.world.news.publish(run_id, [event(1)])
        door.local.world.news.publish(run_id, [event(4)])
        await door.ask.post(f"/runs/{run_id}/cancel", json={})
        assert await watch.is_over(run_id, PATIENCE_S)
    assert (responded.response, responded.status) == (None, "cancelled")


async def test_a_watch_that_missed_the_response_finds_it_in_the_log_at_once(door: Any) -> None:
    """The event that ends the run does not hide the one before it, and the reader does not wait for its time to be over."""
    await door.publish(QUICK)
    await door.stranger.post("/hooks/quick", json={"pieces": 2})
    run_id = (await door.ask.get("/runs")).json()["runs"][0]["id"]
    last = (await door.run(run_id))["sequence"]
    responded = waiting.Responded()
    with waiting.Watch(door.local.service, run_id, responded) as watch:
        door.local.world.news.publish(run_id, [event(1)])
        door.local.world.news.publish(run_id, [event(last, EventType.RUN_COMPLETED)])
        async with asyncio.timeout(PATIENCE_S):
            assert await watch.is_over(run_id, 6 * PATIENCE_S)
    assert responded.response is not None and responded.response["body"] == {"got": 2}
    assert responded.status == "completed"


async def test_a_run_at_rest_waits_for_longer_than_its_caller() -> None:
    rest = waiting.Rest(until_ms=1_000)
    assert not rest([status("running"), waits("a", 999), status("paused")])
    assert rest([waits("b", 1_000)])


async def test_a_run_that_an_operator_holds_is_not_at_rest_until_it_is_released() -> None:
    rest = waiting.Rest(until_ms=1_000)
    assert not rest([status("running"), waits("question"), status("paused", held={"by": "ann"})])
    assert not rest([status("paused")])  # another reason to pause says nothing of the hold
    assert rest([status("paused", held=None)])


async def test_a_run_that_is_held_and_ends_is_over() -> None:
    rest = waiting.Rest(until_ms=1_000)
    assert not rest([status("paused", held={"by": "ann"})])
    assert rest([waiting.Seen(EventType.RUN_CANCELLED, "", {})])


def status(name: str, **data: Any) -> waiting.Seen:
    return waiting.Seen(EventType.RUN_STATUS_CHANGED, "", {"status": name, **data})


def waits(instance: str, until_ms: int | None = None) -> waiting.Seen:
    return waiting.Seen(EventType.NODE_WAITING, instance, {} if until_ms is None else {"resume_at": until_ms})


async def test_a_watch_whose_time_is_over_reads_the_log_once(door: Any) -> None:
    run_id, _ = await door.question()
    await door.ask.post(f"/runs/{run_id}/cancel", json={})
    await door.end(run_id)
    responded = waiting.Responded()
    with waiting.Watch(door.local.service, run_id, responded) as watch:
        assert await watch.is_over(run_id, 0)
    assert responded.status == "cancelled"


async def test_a_watch_takes_only_the_first_response(door: Any) -> None:
    responded = waiting.Responded()
    with waiting.Watch(door.local.service, "run", responded) as watch:
        door.local.world.news.publish("run", [event(1), event(2, response={"body": 1}), event(3, response={"body": 2})])
        door.local.world.news.publish("run", [event(4, EventType.RUN_COMPLETED, response={"body": 3})])
        assert await watch.is_over("run", PATIENCE_S)
    assert responded.response == {"body": 1} and door.local.world.news.followers == {}


async def test_nobody_is_remembered_who_has_stopped_waiting(door: Any) -> None:
    await door.finish(SLOW)
    assert await waiting.wait_for(door.local.service, "none", lambda: None, 0) is None
    assert door.local.world.news.followers == {}
