"""Lists of runs: what a header notes, every filter, counts, and bulk changes by filter with a dry run."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from stepless.limits import MAX_NOTED_CHARACTERS, MAX_NOTED_PAUSES, MAX_SEARCHED_RUNS

pytestmark = pytest.mark.anyio

REFUSED = {
    "id": "refused",
    "nodes": {
        "begin": {"type": "manual"},
        "check": {"type": "fail", "after": "begin", "with": {"message": "No stock for <begin.item>", "code": "no_stock"}},
    },
}


def asking(count: int, message: str = "Pay?") -> dict[str, Any]:
    questions = {f"q{n}": {"type": "approval", "after": "begin", "with": {"message": message}} for n in range(count)}
    return {"id": "asking", "nodes": {"begin": {"type": "manual"}, **questions}}


async def heads(door: Any, query: str = "") -> list[Any]:
    answer = await door.ask.get(f"/runs?{query}")
    assert answer.status_code == 200, answer.text
    return list(answer.json()["runs"])


async def ids(door: Any, query: str) -> list[str]:
    return [run["id"] for run in await heads(door, query)]


# -- notes --------------------------------------------------------------------------------------------------------------


async def test_a_list_shows_why_a_run_failed(door: Any) -> None:
    await door.finish(REFUSED, {"item": "tea"})
    (head,) = await heads(door)
    assert head["status"] == "failed"
    assert head["error"] == {"code": "no_stock", "message": "No stock for tea", "node": "check"}
    assert head["pauses"] == []


async def test_a_list_shows_the_first_open_questions_until_they_are_answered(door: Any) -> None:
    await door.publish(asking(MAX_NOTED_PAUSES + 2, "Why? " * 100))
    run_id = (await door.ask.post("/workflows/asking/runs", json={})).json()["run_id"]
    await door.until(run_id, lambda event: event["type"] == "run.status.changed")
    async with asyncio.timeout(15):
        while not (found := await heads(door, "waiting=answer")):  # until the session has left
            pass
    (head,) = found
    assert len(head["pauses"]) == MAX_NOTED_PAUSES
    assert all(len(pause["message"]) == MAX_NOTED_CHARACTERS for pause in head["pauses"])
    assert {pause["reason"] for pause in head["pauses"]} == {"human_input"}
    await door.ask.post(f"/runs/{run_id}/cancel", json={})
    await door.end(run_id)
    (head,) = await heads(door)
    assert (head["status"], head["pauses"], head["error"]) == ("cancelled", [], None)


async def test_the_notes_of_a_header_keep_what_else_it_holds(door: Any) -> None:
    await door.publish(REFUSED)
    body = b'{"inputs": {"item": "\\ud83c\\udf75 \\u00fc"}, "keywords": ["k"]}'
    headers = {"content-type": "application/json"}
    run_id = (await door.ask.post("/workflows/refused/runs", content=body, headers=headers)).json()["run_id"]
    await door.end(run_id)
    (head,) = await heads(door, "keyword=k")
    assert (head["keywords"], head["version"]) == (["k"], 1)
    again = (await door.ask.post(f"/runs/{run_id}/rerun", json={"by": "ada", "reason": "stock is back"})).json()["run_id"]
    await door.end(again)
    stored = door.local.world.store.get_run(again).meta
    assert b'"by":"ada","reason":"stock is back"' in stored and b"no_stock" in stored


# -- filters -------------------------------------------------------------------------------------------------------------


async def test_runs_are_found_by_code_and_by_words(door: Any) -> None:
    tea = (await door.finish(REFUSED, {"item": "tea"}))["run_id"]
    milk = (await door.finish(REFUSED, {"item": "milk"}))["run_id"]
    echo = (await door.finish(door.ECHO, {}))["run_id"]
    assert await ids(door, "error=no_stock") == [milk, tea]
    assert await ids(door, "error=no_stoc") == []
    assert await ids(door, "search=TEA") == [tea]
    assert await ids(door, "search=stock milk") == [milk]
    assert await ids(door, "search=tea milk") == []
    assert await ids(door, f"search={echo}") == [echo]
    assert await ids(door, "search=check&workflow=refused&status=failed") == [milk, tea]
    assert await ids(door, "search=") == [echo, milk, tea]


async def test_runs_are_found_by_how_long_they_took_and_until_when_they_began(door: Any) -> None:
    await door.publish(door.ECHO)
    first = (await door.finish(door.ECHO, {}))["run_id"]
    head = door.local.world.store.get_run(first)
    for number, lasted_ms in enumerate((1_000, 60_000, 3_600_000), 1):
        created_ms = head.created_ms + number
        like = head._replace(run_id=f"run_{number}", created_ms=created_ms, updated_ms=created_ms + lasted_ms)
        door.local.world.store.create_run(like)
    assert await ids(door, "min_duration_ms=60000") == ["run_3", "run_2"]
    assert await ids(door, "min_duration_ms=60000&max_duration_ms=60000") == ["run_2"]
    assert await ids(door, "max_duration_ms=1000&min_duration_ms=1000") == ["run_1"]
    assert await ids(door, f"until={head.created_ms + 2}&since={head.created_ms + 1}") == ["run_1"]


@pytest.mark.parametrize(
    "query",
    ["min_duration_ms=-1", "max_duration_ms=x", "until=yesterday", "error=No%20Code", "search=" + "x" * 201, "waiting=rain"],
)
async def test_a_filter_that_cannot_be_meant_is_refused(door: Any, query: str) -> None:
    for path in ("/runs", "/runs/count"):
        answer = await door.ask.get(f"{path}?{query}")
        assert answer.status_code == 400 and answer.json()["code"] == "invalid_request", answer.text


# -- counts and dry runs -------------------------------------------------------------------------------------------------


async def test_runs_are_counted_by_status(door: Any) -> None:
    await door.finish(REFUSED, {"item": "tea"})
    await door.finish(door.ECHO, {})
    await door.finish(door.ECHO, {})
    whole = (await door.ask.get("/runs/count")).json()
    assert whole == {"count": 3, "statuses": {"completed": 2, "failed": 1}, "cursor": None}
    assert (await door.ask.get("/runs/count?error=no_stock")).json()["count"] == 1


async def test_a_count_stops_after_so_many_runs_and_can_be_continued(door: Any) -> None:
    first = (await door.finish(door.ECHO, {}))["run_id"]
    head = door.local.world.store.get_run(first)
    for number in range(MAX_SEARCHED_RUNS):
        door.local.world.store.create_run(head._replace(run_id=f"run_{number}", created_ms=head.created_ms + 1))
    part = (await door.ask.get("/runs/count")).json()
    assert part["count"] == MAX_SEARCHED_RUNS and part["cursor"] is not None
    rest = (await door.ask.get(f"/runs/count?cursor={part['cursor']}")).json()
    assert (rest["count"], rest["cursor"]) == (1, None)


async def test_a_dry_run_changes_nothing_and_says_what_would_change(door: Any) -> None:
    waiting, _ = await door.question()
    await door.finish(REFUSED, {"item": "tea"})
    for action, applies in (("cancel", 1), ("hold", 1), ("release", 0), ("rerun", 2)):
        body = {"action": action, "filter": {"since": "2000-01-01T00:00:00Z"}, "dry_run": True, "reason": "looking"}
        answer = (await door.ask.post("/runs/bulk", json=body)).json()
        assert (answer["matched"], answer["applies"], answer["done"], answer["refused"]) == (2, applies, [], [])
        assert answer["statuses"] == {"paused": 1, "failed": 1}
    assert (await door.run(waiting))["status"] == "paused"
    assert len(await heads(door)) == 2


async def test_a_bulk_rerun_names_each_run_and_its_repetition_and_keeps_the_reason(door: Any) -> None:
    first = (await door.finish(REFUSED, {"item": "tea"}))["run_id"]
    other = (await door.finish(door.ECHO, {}))["run_id"]
    body = {"action": "rerun", "filter": {"error": "no_stock"}, "reason": "stock is back", "by": "ada"}
    answer = (await door.ask.post("/runs/bulk", json=body)).json()
    assert (answer["changed"], answer["matched"], len(answer["done"])) == ([first], 1, 1)
    assert answer["done"][0] not in (first, other)
    assert b'"reason":"stock is back"' in door.local.world.store.get_run(answer["done"][0]).meta
    entries = (await door.ask.get("/audit?verb=change_runs")).json()["entries"]
    assert entries[0]["details"]["reason"] == "stock is back" and entries[0]["details"]["filter"] == {"error": "no_stock"}


async def test_a_bulk_change_leaves_runs_that_began_after_its_dry_run(door: Any) -> None:
    waiting, _ = await door.question()
    created_ms = door.local.world.store.get_run(waiting).created_ms
    body = {"action": "cancel", "filter": {"workflow": "ask", "until": str(created_ms)}}
    assert (await door.ask.post("/runs/bulk", json=body)).json()["matched"] == 0
    body["filter"]["until"] = str(created_ms + 1)
    assert (await door.ask.post("/runs/bulk", json=body)).json()["done"] == [waiting]
