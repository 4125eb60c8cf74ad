"""Approvals, failures in groups, and the health of a workflow, over memory and SQLite."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from stepless.limits import ERROR_BARS, MAX_NOTED_PAUSES, MAX_SEARCHED_RUNS

pytestmark = pytest.mark.anyio

CHECK = {
    "id": "check",
    "nodes": {
        "begin": {"type": "manual"},
        "gone": {"type": "condition", "after": "begin", "with": {"cases": {"yes": "<begin.item> != 'milk'", "no": "else"}}},
        "fine": {"type": "transform", "after": "gone.no", "with": {"value": 1}},
        "stock": {"type": "fail", "after": "gone.yes", "with": {
            "message": "No stock for order <begin.id>: '<begin.item>'", "code": "no_stock"}},
    },
}  # fmt: skip


def asking(id: str, *timeouts: str | None, kind: str = "approval") -> dict[str, Any]:
    nodes: dict[str, Any] = {"begin": {"type": "manual"}}
    for number, timeout in enumerate(timeouts):
        given = {"message": f"{id} {number}?", **({} if timeout is None else {"timeout": timeout})}
        nodes[f"q{number}"] = {"type": kind, "after": "begin", "with": given}
    return {"id": id, "nodes": nodes}


async def approvals(door: Any, query: str = "", count: int | None = None) -> Any:
    """The open questions, once there are so many."""
    async with asyncio.timeout(15):
        while True:
            answer = await door.ask.get(f"/approvals?{query}")
            assert answer.status_code == 200, answer.text
            if count is None or answer.json()["count"] == count:
                return answer.json()


async def errors(door: Any, query: str = "") -> Any:
    answer = await door.ask.get(f"/errors?{query}")
    assert answer.status_code == 200, answer.text
    return answer.json()


# -- approvals ------------------------------------------------------------------------------------------------------------


async def test_open_questions_stand_by_deadline_with_what_is_needed_to_answer(kept_door: Any) -> None:
    door = kept_door
    for document in (asking("open", None), asking("late", "2d"), asking("soon", "1h", "3d")):
        await door.paused(await door.start(document))
    await door.paused(await door.start(asking("wired", None, kind="callback")))
    found = await approvals(door, count=4)
    assert [(one["workflow"], one["node"]) for one in found["approvals"]] == [
        ("soon", "q0"), ("late", "q0"), ("soon", "q1"), ("open", "q0"),
    ]  # fmt: skip
    assert (found["at_least"], found["left_out"], found["deciding_as"], found["unreadable"]) == (False, 0, None, [])
    assert [one["node"] for one in (await approvals(door, "limit=1"))["approvals"]] == ["q0"]
    assert (await approvals(door, "workflow=late"))["count"] == 1
    assert (await approvals(door, "workflow=other"))["approvals"] == []


async def test_an_answered_question_leaves_and_its_decision_is_listed(kept_door: Any) -> None:
    door = kept_door
    run_id, _ = await door.question("tea")
    (asked,) = (await approvals(door, count=1))["approvals"]
    assert (asked["message"], asked["exits"], asked["run_id"]) == ("Pay tea?", ["approved", "rejected"], run_id)
    assert asked["fields"] == door.ASK["nodes"]["question"]["with"]["fields"]
    body = {"decision": "approved", "answer": {"amount": 0}, "by": "ada", "comment": "fine"}
    assert (await door.stranger.post(asked["resume"], json=body)).status_code == 422
    body["answer"] = {"amount": 3}
    assert (await door.stranger.post(asked["resume"], json=body)).status_code == 200
    await door.end(run_id)
    assert (await approvals(door, count=0))["approvals"] == []
    (made,) = (await door.ask.get("/approvals/decisions")).json()["decisions"]
    assert {**made, "at": ""} == {
        "run_id": run_id, "workflow": "ask", "pause": "question", "decision": "approved", "by": "ada", "comment": "fine",
        "at": "",
    }  # fmt: skip


async def test_every_question_of_a_run_with_more_than_its_header_notes_is_listed(kept_door: Any) -> None:
    door = kept_door
    many = MAX_NOTED_PAUSES + 3
    await door.paused(await door.start(asking("many", *[None] * many)))
    found = await approvals(door, count=many)
    assert len(found["approvals"]) == many and found["at_least"]


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
async def test_a_caller_that_follows_the_cursor_sees_every_question_once_and_in_order(kept_door: Any, limit: int) -> None:
    """Of runs with one question, with several, and with more than the header notes; with deadlines between those of others."""
    door = kept_door
    many = [f"{hours}h" for hours in range(1, MAX_NOTED_PAUSES + 4)]
    asked = [asking("one", "90m"), asking("open", None), asking("two", "30m", "3h"), asking("many", *many), asking("new", None)]
    for document in asked:
        await door.paused(await door.start(document))
    whole = await approvals(door, count=5 + len(many))
    assert whole["cursor"] is None
    found: list[Any] = []
    query = f"limit={limit}"
    while True:
        page = await approvals(door, query)
        assert len(page["approvals"]) <= limit and page["count"] == len(whole["approvals"])
        found += page["approvals"]
        if page["cursor"] is None:
            break
        query = f"limit={limit}&cursor={page['cursor']}"
    names = [(one["workflow"], one["node"]) for one in whole["approvals"]]
    assert [(one["workflow"], one["node"]) for one in found] == names
    assert names[:3] == [("two", "q0"), ("many", "q0"), ("one", "q0")] and names[-2:] == [("new", "q0"), ("open", "q0")]


async def test_reading_on_reads_no_log_of_a_question_that_was_listed(kept_door: Any) -> None:
    """The log of one run is lost: that is told where it would be read, and no longer."""
    door = kept_door
    for timeout in ("1h", "2h", "3h"):
        run_id = await door.start(asking("ask", timeout))
        await door.paused(run_id)
    (last,) = (await approvals(door, "limit=1", count=3))["approvals"]
    store = door.local.world.store
    head = store.get_run(last["run_id"])
    store.create_run(head._replace(run_id="run_lost", owner=None, due_ms=None))
    first = await approvals(door, "limit=2")
    assert (len(first["approvals"]), first["unreadable"]) == (2, ["run_lost"])
    second = await approvals(door, f"limit=2&cursor={first['cursor']}")
    assert ([one["run_id"] for one in second["approvals"]], second["unreadable"], second["cursor"]) == ([run_id], [], None)
    assert (await door.ask.get("/approvals?cursor=WzFd")).json()["code"] == "invalid_cursor"


async def test_questions_are_for_those_who_may_answer(door: Any) -> None:
    made = {}
    for role in ("read", "run", "edit", "approve"):
        made[role] = (await door.ask.post("/keys", json={"name": role, "roles": [role]})).json()["secret"]
    for path in ("/approvals", "/approvals/decisions"):
        for role, secret in made.items():
            answer = await door.stranger.get(path, headers={"authorization": f"Bearer {secret}"})
            assert answer.status_code == (200 if role == "approve" else 403), (path, role)
        assert (await door.stranger.get(path)).status_code == 401
    for query in ("limit=0", "limit=101", "other=1"):
        assert (await door.ask.get(f"/approvals?{query}")).status_code == 400


async def test_where_the_caller_is_a_person_the_links_record_them(make_door: Any) -> None:
    door = await make_door(api_keys=None)
    run_id, _ = await door.question()
    found = await approvals(door, count=1)
    person = found["deciding_as"]
    assert person
    given = await door.stranger.post(found["approvals"][0]["resume"], json={"decision": "rejected", "by": "mallory"})
    assert given.json()["by"] == person
    assert (await door.ask.get("/approvals/decisions")).json()["decisions"][0]["by"] == person
    await door.end(run_id)


# -- errors ---------------------------------------------------------------------------------------------------------------


async def test_failures_are_grouped_by_what_failed(kept_door: Any) -> None:
    door = kept_door
    runs = [(await door.finish(CHECK, {"id": number, "item": item}))["run_id"] for number, item in enumerate(["tea", "rice"])]
    await door.publish({**CHECK, "description": "two"})
    body = {"inputs": {"id": 7_000, "item": "tea"}}
    answer = await door.ask.post("/workflows/check/runs", json=body, headers={"prefer": "wait=20"})
    runs.append(answer.json()["run_id"])
    await door.finish({**CHECK, "id": "other"}, {"id": 1, "item": "tea"})
    found = await errors(door)
    assert (found["count"], found["group_count"], found["at_least"], found["unsure"]) == (4, 2, False, False)
    group = next(group for group in found["errors"] if group["workflow"] == "check")
    assert (group["status"], group["node"], group["code"]) == ("failed", "stock", "no_stock")
    assert group["message"] == "No stock for order …"
    assert (group["count"], sorted(group["runs"]), group["versions"]) == (3, sorted(runs), [1, 2])
    assert len(group["bars"]) == ERROR_BARS and sum(group["bars"]) == 3 and group["bars"][-1] == 3
    assert found["since"] < group["first_at"] <= group["last_at"] <= found["until"]
    assert (await errors(door, "workflow=other"))["count"] == 1
    assert (await errors(door, "since=2999-01-01T00:00:00Z"))["errors"] == []
    assert (await door.ask.get("/errors?since=yesterday")).status_code == 400


async def test_a_failure_leaves_when_a_rerun_of_it_or_of_its_rerun_succeeds(kept_door: Any) -> None:
    door = kept_door
    first = (await door.finish(CHECK, {"id": 1, "item": "tea"}))["run_id"]
    other = (await door.finish(CHECK, {"id": 2, "item": "tea"}))["run_id"]
    second = (await door.ask.post(f"/runs/{first}/rerun", json={})).json()["run_id"]
    await door.end(second)
    assert sorted((await errors(door))["errors"][0]["runs"]) == sorted([second, other]), "of a run and its reruns the last one"
    third = (await door.ask.post(f"/runs/{second}/rerun", json={"inputs": {"id": 1, "item": "milk"}})).json()["run_id"]
    assert (await door.end(third))["status"] == "completed"
    assert (await errors(door))["errors"][0]["runs"] == [other]
    fourth = (await door.ask.post(f"/runs/{other}/rerun", json={"inputs": {"id": 2, "item": "milk"}})).json()["run_id"]
    await door.end(fourth)
    assert (await errors(door))["errors"] == []


async def test_a_failure_whose_rerun_is_in_progress_is_back_if_that_is_cancelled(kept_door: Any) -> None:
    door = kept_door
    refuse = {"type": "fail", "after": ["ask.approved", "ask.rejected"], "with": {"code": "refused", "message": "no"}}
    ask = {"type": "approval", "after": "begin", "with": {"message": "?"}}
    asks = {"id": "asks", "nodes": {"begin": {"type": "manual"}, "ask": ask, "refuse": refuse}}
    first = await door.start(asks)
    (pause,) = (await door.paused(first))["pauses"]
    await door.stranger.post(pause["resume"], json={"decision": "approved"})
    assert (await door.end(first))["status"] == "failed"
    assert [group["runs"] for group in (await errors(door))["errors"]] == [[first]]
    again = (await door.ask.post(f"/runs/{first}/rerun", json={})).json()["run_id"]
    await door.paused(again)
    assert (await errors(door))["errors"] == []
    await door.ask.post(f"/runs/{again}/cancel", json={"reason": "not now"})
    await door.end(again)
    assert [group["runs"] for group in (await errors(door))["errors"]] == [[first]]


async def test_a_run_that_timed_out_has_failed(kept_door: Any) -> None:
    door = kept_door
    store = door.local.world.store
    head = store.get_run((await door.finish(door.ECHO))["run_id"])
    store.create_run(head._replace(run_id="run_late", status="timed_out"))
    (group,) = (await errors(door))["errors"]
    assert (group["runs"], group["workflow"], group["status"]) == (["run_late"], "echo", "timed_out")
    assert (group["code"], group["node"]) == ("timed_out", None)


async def test_a_rerun_is_found_behind_more_completed_runs_than_are_read(kept_door: Any) -> None:
    door = kept_door
    store = door.local.world.store
    failed = (await door.finish(CHECK, {"id": 1, "item": "tea"}))["run_id"]
    left = (await door.finish(CHECK, {"id": 2, "item": "tea"}))["run_id"]
    again = (await door.ask.post(f"/runs/{failed}/rerun", json={"inputs": {"id": 1, "item": "milk"}})).json()["run_id"]
    await door.end(again)
    head = store.get_run((await door.finish(door.ECHO))["run_id"])
    for number in range(MAX_SEARCHED_RUNS):
        store.create_run(head._replace(run_id=f"run_{number}", created_ms=head.created_ms + 1))
    found = await errors(door)
    assert (found["errors"][0]["runs"], found["unsure"]) == ([left], False)


async def test_a_search_that_stops_says_at_least(kept_door: Any) -> None:
    door = kept_door
    store = door.local.world.store
    head = store.get_run((await door.finish(CHECK, {"id": 1, "item": "tea"}))["run_id"])
    for number in range(MAX_SEARCHED_RUNS):
        store.create_run(head._replace(run_id=f"run_{number}"))
    found = await errors(door)
    assert (found["count"], found["at_least"]) == (MAX_SEARCHED_RUNS, True)
    assert (await door.ask.get("/workflows/check/stats")).json()["at_least"] is True


# -- the health of a workflow ---------------------------------------------------------------------------------------------


async def test_the_health_of_a_workflow_counts_its_runs(kept_door: Any) -> None:
    door = kept_door
    store = door.local.world.store
    await door.publish({**CHECK, "nodes": {**CHECK["nodes"], "night": {"type": "schedule", "with": {"cron": "15 2 * * *"}}}})
    empty = (await door.ask.get("/workflows/check/stats")).json()
    assert (empty["runs"], empty["failure_rate"], empty["p50_ms"], empty["p95_ms"], empty["usd"]) == (0, None, None, None, None)
    assert empty["next_at"] > empty["until"]
    head = store.get_run((await door.finish(door.ECHO))["run_id"])
    for number in range(1, 21):
        status = "failed" if number == 20 else "completed"
        like = head._replace(run_id=f"run_{number}", workflow_id="check", status=status, created_ms=head.created_ms)
        store.create_run(like._replace(updated_ms=like.created_ms + number * 1_000))
    store.create_run(head._replace(run_id="old", workflow_id="check", created_ms=head.created_ms - 25 * 3_600_000))
    found = (await door.ask.get("/workflows/check/stats?window=24h")).json()
    assert (found["runs"], found["statuses"]) == (20, {"completed": 19, "failed": 1})
    assert (found["failure_rate"], found["p50_ms"], found["p95_ms"]) == (0.05, 10_000, 19_000)
    assert (await door.ask.get("/workflows/check/stats?window=2d")).json()["runs"] == 21
    assert (await door.ask.get("/workflows/none/stats")).status_code == 404
    for window in ("0s", "91d", "soon", "-1h", ""):
        assert (await door.ask.get(f"/workflows/check/stats?window={window}")).status_code == 400, window
