"""The health of all workflows, the versions of one with their differences, and a start that is checked first."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.limits import ERROR_BARS, MAX_LISTED_STATS, MAX_STATS_RUNS, MAX_UPCOMING_FIRINGS

pytestmark = pytest.mark.anyio

NIGHT = {"type": "schedule", "with": {"cron": "15 2 * * *"}}
HOOK = {"type": "webhook", "with": {"path": "/shop", "auth": "none"}}
ORDER = {
    "id": "order",
    "name": "Take an order",
    "nodes": {
        "begin": {"type": "manual", "inputs": {
            "type": "object", "required": ["amount"],
            "properties": {"amount": {"type": "integer", "minimum": 1}, "currency": {"type": "string", "default": "EUR"}},
        }},
        "said": {"type": "transform", "after": "begin", "with": {"value": "<begin.amount>"}},
    },
}  # fmt: skip


async def found(door: Any, path: str, status: int = 200) -> Any:
    answer = await door.ask.get(path)
    assert answer.status_code == status, answer.text
    return answer.json()


# -- health ---------------------------------------------------------------------------------------------------------------


async def test_all_workflows_are_listed_with_their_health(kept_door: Any) -> None:
    door = kept_door
    store = door.local.world.store
    assert await found(door, "/stats") == {"workflows": [], "cursor": None}
    nodes = {**ORDER["nodes"], "night": NIGHT, "shop": HOOK, "off": {"type": "event", "enabled": False, "with": {
        "pattern": {"source": ["shop"]}}}}  # fmt: skip
    await door.publish({**ORDER, "nodes": nodes})
    await door.publish({"id": "quiet", "nodes": {"begin": {"type": "manual"}}})
    head = store.get_run((await door.finish(door.ECHO))["run_id"])
    hour_ms = 3_600_000
    for number in range(8):
        status = "failed" if number < 2 else "completed"
        like = head._replace(run_id=f"run_{number}", workflow_id="order", status=status, created_ms=head.created_ms - 2 * hour_ms)
        store.create_run(like._replace(updated_ms=like.created_ms + (number + 1) * 1_000))
    listed = (await found(door, "/stats"))["workflows"]
    assert [one["workflow"] for one in listed] == ["echo", "order", "quiet"]
    order, quiet = listed[1], listed[2]
    assert (order["name"], order["version"], order["starts"]) == ("Take an order", 1, ["manual", "schedule", "webhook"])
    assert (order["runs"], order["at_least"], order["failure_rate"]) == (8, False, 0.25)
    assert (order["p50_ms"], order["p95_ms"]) == (4_000, 8_000)
    assert (len(order["bars"]), sum(order["bars"]), order["bars"][-2:]) == (ERROR_BARS, 8, [0, 0])
    assert (sum(order["failed_bars"]), order["bars"][-3], order["failed_bars"][-3]) == (2, 8, 2)
    assert order["next_at"] > order["until"] and (order["schedules"], order["paused_schedules"]) == (1, 0)
    assert (quiet["runs"], quiet["failure_rate"], quiet["next_at"], quiet["starts"]) == (0, None, None, ["manual"])
    one = await found(door, "/workflows/order/stats")
    assert {**one, "until": "", "since": ""} == {**{name: order[name] for name in one}, "until": "", "since": ""}
    await door.ask.post("/workflows/order/schedules/night/pause", json={})
    order = (await found(door, "/stats?window=1h"))["workflows"][1]
    assert (order["runs"], order["next_at"], order["paused_schedules"]) == (0, None, 1)


async def test_the_list_is_paged_and_a_busy_workflow_says_since_when(kept_door: Any) -> None:
    door = kept_door
    store = door.local.world.store
    for name in ("a", "b", "c"):
        await door.publish({"id": name, "nodes": {"begin": {"type": "manual"}}})
    head = store.get_run((await door.finish(door.ECHO))["run_id"])
    for number in range(MAX_STATS_RUNS + 5):
        store.create_run(head._replace(run_id=f"run_{number}", workflow_id="b", created_ms=head.created_ms - number * 1_000))
    first = await found(door, "/stats?limit=2")
    assert [one["workflow"] for one in first["workflows"]] == ["a", "b"]
    busy = first["workflows"][1]
    assert (busy["runs"], busy["at_least"], sum(busy["bars"])) == (MAX_STATS_RUNS, True, MAX_STATS_RUNS)
    assert busy["since"] > first["workflows"][0]["since"]
    rest = await found(door, f"/stats?limit=2&cursor={first['cursor']}")
    assert ([one["workflow"] for one in rest["workflows"]], rest["cursor"]) == (["c", "echo"], None)
    for query in ("window=91d", "window=soon", "limit=0", f"limit={MAX_LISTED_STATS + 1}", "cursor=x", "other=1"):
        await found(door, f"/stats?{query}", 400)


# -- versions -------------------------------------------------------------------------------------------------------------


async def test_versions_are_listed_with_who_published_them_and_why(kept_door: Any) -> None:
    door = kept_door
    await door.publish(ORDER)
    await door.publish({**ORDER, "name": "Two"})
    seq = (await door.ask.post("/drafts/order", json={"from": "document", "document": {**ORDER, "name": "Three"}})).json()["seq"]
    made = await door.ask.post("/drafts/order/publish", json={"seq": seq, "message": "A third name"})
    assert made.status_code == 200, made.text
    listed = await found(door, "/workflows/order/versions")
    assert [(one["version"], one["message"]) for one in listed["versions"]] == [(3, "A third name"), (2, None), (1, None)]
    assert listed["versions"][0]["by"].startswith("configured key") and listed["versions"][1]["by"] is None
    assert listed["next_before"] is None
    first = await found(door, "/workflows/order/versions?limit=1")
    assert ([one["version"] for one in first["versions"]], first["next_before"]) == ([3], 3)
    second = await found(door, "/workflows/order/versions?limit=2&before=3")
    assert ([one["version"] for one in second["versions"]], second["next_before"]) == ([2, 1], None)
    third = await found(door, "/workflows/order/versions?limit=1&before=3")
    assert ([one["version"] for one in third["versions"]], third["next_before"]) == ([2], 2)
    assert (await found(door, "/workflows/order/versions?before=1"))["versions"] == []
    await found(door, "/workflows/none/versions", 404)
    for query in ("limit=0", "limit=51", "before=0", "other=1"):
        await found(door, f"/workflows/order/versions?{query}", 400)


async def test_any_two_versions_are_compared_by_node_and_by_line(kept_door: Any) -> None:
    door = kept_door
    await door.publish(ORDER)
    said = {**ORDER["nodes"]["said"], "with": {"value": 7}}
    await door.publish({**ORDER, "nodes": {"begin": ORDER["nodes"]["begin"], "said": said, "more": {
        "type": "transform", "after": "said", "with": {"value": 1}}}})  # fmt: skip
    await door.publish({**ORDER, "description": "none"})
    made = await found(door, "/workflows/order/diff?from=1&to=2")
    assert made["against"] == {"version": 1}
    assert [(node["change"], node["path"]) for node in made["nodes"]] == [("added", ["more"]), ("changed", ["said"])]
    assert made["nodes"][1]["fields"] == [{"path": ["with", "value"], "before": "<begin.amount>", "after": 7}]
    assert any(line["op"] == "+" and "more" in line["text"] for line in made["lines"])
    back = await found(door, "/workflows/order/diff?from=2&to=1")
    assert [(node["change"], node["path"]) for node in back["nodes"]] == [("removed", ["more"]), ("changed", ["said"])]
    top = await found(door, "/workflows/order/diff?from=1&to=3")
    assert (top["nodes"], top["document"]) == ([], [{"path": ["description"], "after": "none"}])
    same = await found(door, "/workflows/order/diff?from=2&to=2")
    assert (same["nodes"], same["document"], same["lines"]) == ([], [], [])
    await found(door, "/workflows/order/diff?from=1&to=9", 404)
    for query in ("", "?from=1", "?from=0&to=1", "?from=1&to=2&other=1"):
        await found(door, f"/workflows/order/diff{query}", 400)


# -- a start that is checked first ----------------------------------------------------------------------------------------


async def test_a_checked_start_refuses_inputs_that_the_run_would_fail_with(kept_door: Any) -> None:
    door = kept_door
    await door.publish(ORDER)
    start = "/workflows/order/runs?check=inputs"
    refused = await door.ask.post(start, json={"inputs": {"amount": 0}})
    problem = refused.json()
    assert (refused.status_code, problem["code"], problem["place"]) == (422, "schema_violated", "inputs")
    assert len(problem["violations"]) == 1 and problem["violations"][0].startswith("amount: ")
    assert (await found(door, "/runs"))["runs"] == []
    assert (await door.ask.post(start, json={"inputs": {"amount": 1}, "entry": "begin"})).status_code == 202
    skipped = await door.ask.post(start, json={"inputs": {}, "entry": "said"})  # the entry is not part of this run
    assert skipped.status_code == 202
    assert (await door.ask.post(start, json={"inputs": {"amount": 1}, "entry": "none"})).status_code in (404, 422)
    assert (await door.ask.post("/workflows/none/runs?check=inputs", json={})).status_code == 404
    assert (await door.ask.post("/workflows/order/runs?check=all", json={})).status_code == 400
    failed = await door.ask.post("/workflows/order/runs", json={"inputs": {"amount": 0}}, headers={"prefer": "wait=20"})
    assert failed.json()["outcome"]["status"] == "failed"


# -- schedules and webhooks -----------------------------------------------------------------------------------------------


async def test_a_schedule_shows_its_next_instants_and_who_paused_it(make_door: Any) -> None:
    door = await make_door(api_keys=None)
    await door.publish({"id": "report", "nodes": {"night": NIGHT}})
    (shown,) = (await found(door, "/workflows/report/schedules"))["schedules"]
    assert len(shown["upcoming"]) == MAX_UPCOMING_FIRINGS and shown["upcoming"] == sorted(set(shown["upcoming"]))
    assert shown["upcoming"][0] == shown["next_at"] and all(at.endswith("T02:15:00.000Z") for at in shown["upcoming"])
    paused = (await door.ask.post("/workflows/report/schedules/night/pause", json={"reason": "moving"})).json()
    assert paused["upcoming"] == [] and paused["paused"]["reason"] == "moving" and paused["paused"]["by"]
    resumed = (await door.ask.post("/workflows/report/schedules/night/resume", json={})).json()
    assert resumed["paused"] is None and resumed["upcoming"] == shown["upcoming"]
    named = (await door.ask.post("/workflows/report/schedules/night/pause", json={"by": "ops"})).json()
    assert named["paused"]["by"] == "ops"


async def test_a_response_of_a_run_names_the_run(door: Any) -> None:
    await door.publish({"id": "asked", "nodes": {
        "hook": {"type": "webhook", "with": {"path": "/asked", "auth": "none", "response": "wait"}},
        "out": {"type": "respond", "after": "hook", "with": {
            "status": 201, "body": {"ok": True}, "headers": {"stepless-run": "x"}}},
    }})  # fmt: skip
    answer = await door.stranger.post("/hooks/asked", json={})
    assert (answer.status_code, answer.json()) == (201, {"ok": True})
    assert (await found(door, f"/runs/{answer.headers['stepless-run']}"))["workflow"] == "asked"
