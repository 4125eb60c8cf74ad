"""Requests that wait for a run: notified by the process that runs it, and polling if there is none."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from stepless.api import waiting
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


async def test_nobody_is_remembered_who_has_stopped_waiting(door: Any) -> None:
    await door.finish(SLOW)
    assert await waiting.wait_for(door.local.service, "none", lambda: None, 0) is None
    assert door.local.world.news._followers == {}
