"""A bulk rerun leaves out what was rerun already: of a run and its reruns the last one counts. Over memory and SQLite."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.limits import MAX_RERUN_LOOKS, MAX_SEARCHED_RUNS

pytestmark = pytest.mark.anyio

REFUSE = {
    "id": "refuse",
    "nodes": {
        "begin": {"type": "manual"},
        "no": {"type": "fail", "after": "begin", "with": {"code": "refused", "message": "no"}},
    },
}
FAILED = {"workflow": "refuse", "status": "failed"}


async def bulk(door: Any, filter: dict[str, Any] | None = None, **given: Any) -> Any:
    answer = await door.ask.post("/runs/bulk", json={"action": "rerun", "filter": filter or FAILED, **given})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def rerun(door: Any, run_id: str, **given: Any) -> str:
    answer = await door.ask.post(f"/runs/{run_id}/rerun", json=given)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["run_id"])


async def test_what_was_rerun_already_is_counted_apart_and_left_out(kept_door: Any) -> None:
    door = kept_door
    runs = [(await door.finish(REFUSE))["run_id"] for _ in range(3)]
    again = await rerun(door, runs[0])
    await door.end(again)
    counted = await bulk(door, dry_run=True)
    facts = ("matched", "applies", "left_out", "unsure", "statuses", "done")
    assert [counted[name] for name in facts] == [4, 3, 1, False, {"failed": 4}, []]
    done = await bulk(door)
    assert (sorted(done["changed"]), done["left_out"], done["refused"]) == (sorted([*runs[1:], again]), 1, [])
    for run_id in done["done"]:
        await door.end(run_id)
    only = await bulk(door, {**FAILED, "until": counted["until"]})
    assert (only["matched"], only["left_out"], only["done"]) == (4, 4, []), "a second one repeats nothing"


async def test_the_caller_may_ask_for_them_too(kept_door: Any) -> None:
    door = kept_door
    first = (await door.finish(REFUSE))["run_id"]
    again = await rerun(door, first)
    await door.end(again)
    counted = await bulk(door, dry_run=True, again=True)
    assert (counted["matched"], counted["applies"], counted["left_out"]) == (2, 2, 0)
    done = await bulk(door, again=True)
    assert (sorted(done["changed"]), done["left_out"]) == (sorted([first, again]), 0)
    told = (await door.ask.get("/audit?limit=1")).json()["entries"][0]
    assert told["details"]["again"] is True
    refused = await door.ask.post("/runs/bulk", json={"action": "cancel", "filter": FAILED, "again": True})
    assert (refused.status_code, refused.json()["place"]) == (422, "again")


async def test_a_rerun_in_progress_counts_and_one_that_was_cancelled_does_not(kept_door: Any) -> None:
    door = kept_door
    first, _ = await door.question()
    await door.ask.post(f"/runs/{first}/cancel", json={})
    await door.end(first)
    filter = {"workflow": "ask", "status": "cancelled"}
    again = await rerun(door, first)
    await door.paused(again)
    assert (await bulk(door, filter, dry_run=True))["left_out"] == 1
    assert (await bulk(door, filter))["done"] == []
    await door.ask.post(f"/runs/{again}/cancel", json={})
    await door.end(again)
    counted = await bulk(door, filter, dry_run=True)
    assert (counted["matched"], counted["applies"], counted["left_out"]) == (2, 2, 0)


async def test_one_run_is_rerun_as_often_as_it_is_asked_for_unless_the_caller_says_not_again(kept_door: Any) -> None:
    door = kept_door
    first = (await door.finish(REFUSE))["run_id"]
    assert len({await rerun(door, first, again=False), await rerun(door, first), await rerun(door, first, again=True)}) == 3
    answer = await door.ask.post(f"/runs/{first}/rerun", json={"again": False})
    assert (answer.status_code, answer.json()["code"]) == (409, "rerun_already")


async def test_what_is_not_looked_up_is_said_to_be_unsure(kept_door: Any) -> None:
    """More failures than are looked up one by one, behind more runs than are read."""
    door = kept_door
    store = door.local.world.store
    head = store.get_run((await door.finish(REFUSE))["run_id"])
    again = await rerun(door, head.run_id)
    await door.end(again)
    rerun_head = store.get_run(again)
    for number in range(MAX_SEARCHED_RUNS):
        store.create_run(head._replace(run_id=f"late_{number}", status="completed", created_ms=rerun_head.created_ms + 1))
    counted = await bulk(door, dry_run=True)
    assert (counted["matched"], counted["left_out"], counted["unsure"]) == (2, 1, False)
    for number in range(MAX_RERUN_LOOKS):
        store.create_run(head._replace(run_id=f"run_{number}"))
    assert (await bulk(door, dry_run=True))["unsure"] is True
