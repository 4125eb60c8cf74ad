from __future__ import annotations

from typing import Any

import pytest

from stepless.api.site import Site
from stepless.limits import MAX_SEARCHED_RUNS

pytestmark = pytest.mark.anyio

STEPS = {
    "id": "steps",
    "nodes": {
        "begin": {"type": "manual"},
        "first": {"type": "transform", "after": "begin", "with": {"value": "<begin.n>"}},
        "last": {"type": "transform", "after": "first", "with": {"value": "<inputs.input>"}},
    },
}


async def started(door: Any, keywords: list[str], workflow: str = "echo") -> str:
    answer = await door.ask.post(f"/workflows/{workflow}/runs", json={"keywords": keywords})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["run_id"])


async def listed(door: Any, query: str) -> list[str]:
    """All pages."""
    found: list[str] = []
    cursor = ""
    while True:
        page = (await door.ask.get(f"/runs?{query}{cursor}")).json()
        found += [run["id"] for run in page["runs"]]
        if page["cursor"] is None:
            return found
        cursor = f"&cursor={page['cursor']}"


# -- rerun ------------------------------------------------------------------------------------------------------------


async def test_a_run_is_run_again_with_its_own_inputs_or_with_others(door: Any) -> None:
    first = (await door.finish(door.ECHO, {"a": 1}))["run_id"]
    for body, inputs in (({}, {"a": 1}), ({"inputs": {"a": 2}}, {"a": 2}), ({"inputs": None}, None)):
        answer = await door.ask.post(f"/runs/{first}/rerun", json=body)
        assert answer.status_code == 202
        run = await door.end(answer.json()["run_id"])
        assert (run["inputs"], run["outputs"]) == (inputs, {"said": {"got": inputs}})
    assert (await door.run(first))["inputs"] == {"a": 1}


async def test_a_rerun_from_a_node_takes_over_what_stands_above_it(door: Any) -> None:
    first = (await door.finish(STEPS, {"n": 1}))["run_id"]
    answer = await door.ask.post(f"/runs/{first}/rerun", json={"from": "last", "inputs": {"n": 2}})
    again = answer.json()["run_id"]
    made = await door.end(again)
    assert (made["rerun"], made["parent"]) == ({"of": first, "from": "last", "by": None, "reason": None, "items": None}, None)
    assert (await door.run(first))["rerun"] is None
    nodes = {node["node"]: node["output"] for node in (await door.ask.get(f"/runs/{again}/nodes")).json()["nodes"]}
    assert nodes["first"] == 1


async def test_a_child_run_names_its_parent_and_a_rerun_who_asked_for_it_and_why(door: Any) -> None:
    await door.finish(door.ECHO, {"a": 1})  # publishes it
    calls = {"begin": {"type": "manual"}, "kid": {"type": "workflow", "after": "begin", "with": {"workflow": door.ECHO["id"]}}}
    parent = (await door.finish({"id": "calls", "nodes": calls}, {}))["run_id"]
    events = (await door.ask.get(f"/runs/{parent}/events")).json()["events"]
    [child] = [one["payload"]["details"]["run"] for one in events if one["type"] == "node.waiting"]
    assert (await door.run(child))["parent"] == {"run": parent, "instance": "kid"}
    answer = await door.ask.post(f"/runs/{parent}/rerun", json={"by": "ada", "reason": "once more"})
    told = {"of": parent, "from": None, "by": "ada", "reason": "once more", "items": None}
    assert (await door.run(answer.json()["run_id"]))["rerun"] == told


async def test_items_of_a_distributed_node_are_run_again(door: Any) -> None:
    body = {"nodes": {"odd": {"type": "transform", "with": {"value": "{{ 6 / <item> }}"}}}}
    with_ = {"items": [1, 0, 3], "tolerate": {"count": 1}, "body": body}
    each = {"begin": {"type": "manual"}, "each": {"type": "distributed", "after": "begin", "with": with_}}
    first = (await door.finish({"id": "fan", "nodes": each}, {}))["run_id"]
    answer = await door.ask.post(f"/runs/{first}/rerun", json={"from": "each", "items": "failed"})
    made = await door.end(answer.json()["run_id"])
    assert made["rerun"]["items"] == "failed"
    output = made["outputs"]["each"]
    assert (output["completed"], output["failed"], output["results"][0], output["results"][2]) == (2, 1, 6, 2)
    node = f"/runs/{first}/nodes/each"
    seen = (await door.ask.get(f"{node}/items")).json()
    assert (seen["total"], seen["completed"], seen["failed"], seen["left_ms"]) == (3, 2, 1, 0)
    assert [failure["item"] for failure in seen["failures"]] == [0] and sum(seen["codes"].values()) == 1
    one = (await door.ask.get(f"{node}/items/2")).json()
    assert one == {"index": 2, "shard": 0, "status": "completed", "item": 3, "result": 2, "error": None}
    assert (await door.ask.get(f"{node}/items/1")).json()["status"] == "failed"
    assert (await door.ask.get(f"{node}/items/3")).json()["code"] == "out_of_range"
    assert (await door.ask.get(f"/runs/{first}/nodes/begin/items")).json()["code"] == "unknown_node"
    assert (await door.ask.patch(node, json={"concurrency": 5})).json()["code"] == "run_ended"
    for items, status, code in ([9], 422, "out_of_range"), ([-1], 422, "invalid_request"), ("all", 422, "invalid_request"):
        answer = await door.ask.post(f"/runs/{first}/rerun", json={"from": "each", "items": items})
        assert (answer.status_code, answer.json()["code"]) == (status, code)


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"from": "nobody"}, 404, "unknown_node"),
        ({"from": 1}, 422, "invalid_request"),
        ({"whence": "first"}, 422, "invalid_request"),
    ],
)
async def test_a_rerun_that_cannot_be_meant_is_refused(door: Any, body: dict[str, Any], status: int, code: str) -> None:
    first = (await door.finish(STEPS, {"n": 1}))["run_id"]
    answer = await door.ask.post(f"/runs/{first}/rerun", json=body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


# -- keywords -------------------------------------------------------------------------------------------------------------


async def test_runs_are_found_by_all_of_their_keywords(door: Any) -> None:
    await door.publish(door.ECHO)
    both = await started(door, ["customer:c-1", "urgent"])
    one = await started(door, ["customer:c-1"])
    await started(door, [])
    assert sorted(await listed(door, "keyword=customer:c-1")) == sorted([one, both])  # both may begin in one millisecond
    assert await listed(door, "keyword=customer:c-1&keyword=urgent") == [both]
    assert await listed(door, "keyword=customer:c-2") == []
    assert (await door.run(both))["keywords"] == ["customer:c-1", "urgent"]


@pytest.mark.parametrize("limit", [1, 3, 7, 100])
async def test_a_search_by_keywords_omits_and_repeats_nothing(door: Any, limit: int) -> None:
    await door.publish(door.ECHO)
    runs = [await started(door, ["even"] if number % 2 == 0 else []) for number in range(20)]
    assert sorted(await listed(door, f"keyword=even&limit={limit}")) == sorted(runs[::2])


async def test_a_search_looks_at_so_many_runs_and_gives_a_cursor(door: Any) -> None:
    await door.publish(door.ECHO)
    head = door.local.world.store.get_run(await started(door, ["rare"]))
    for number in range(MAX_SEARCHED_RUNS):
        door.local.world.store.create_run(_like(head, number))
    page = (await door.ask.get("/runs?keyword=rare")).json()
    assert page["runs"] == [] and page["cursor"] is not None
    assert len(await listed(door, "keyword=rare")) == 1


def _like(head: Any, number: int) -> Any:
    return head._replace(run_id=f"run_{number}", meta=b"{}", created_ms=head.created_ms + 1, status="completed", due_ms=None)


async def test_keywords_are_taken_and_told_by_their_former_name_too(door: Any) -> None:
    await door.publish(door.ECHO)
    answer = await door.ask.post("/workflows/echo/runs", json={"tags": ["old", "both"], "keywords": ["both", "new"]})
    run_id = answer.json()["run_id"]
    run = await door.end(run_id)
    assert run["keywords"] == run["tags"] == ["both", "new", "old"]
    assert await listed(door, "tag=old&keyword=new") == [run_id]
    (told,) = (await door.ask.get("/runs?tag=old")).json()["runs"]
    assert told["keywords"] == told["tags"] == ["both", "new", "old"]
    many = {"tags": [f"t{i}" for i in range(16)], "keywords": ["one-more"]}
    assert (await door.ask.post("/workflows/echo/runs", json=many)).status_code == 422


@pytest.mark.parametrize("words", [[""], ["two words"], ["x" * 129], ["x"] * 17, "x", [1]])
async def test_a_keyword_is_a_short_word(door: Any, words: Any) -> None:
    await door.publish(door.ECHO)
    assert (await door.ask.post("/workflows/echo/runs", json={"keywords": words})).status_code == 422


# -- bulk -------------------------------------------------------------------------------------------------------------


async def test_many_runs_are_cancelled_a_page_at_a_time(door: Any) -> None:
    runs = [(await door.question())[0] for _ in range(5)]
    done, cursor = [], None
    while True:
        body = {"action": "cancel", "filter": {"workflow": "ask"}, "limit": 2, "cursor": cursor, "reason": "a mistake"}
        answer = (await door.ask.post("/runs/bulk", json=body)).json()
        assert answer["matched"] <= 2
        done += answer["done"]
        cursor = answer["cursor"]
        if cursor is None:
            break
    assert sorted(done) == sorted(runs)
    assert [(await door.end(run))["status"] for run in runs] == ["cancelled"] * 5


async def test_what_refuses_is_told_and_stops_nothing(door: Any) -> None:
    ended = (await door.finish(door.ASK | {"nodes": {"begin": {"type": "manual"}}}))["run_id"]
    waiting, _ = await door.question()
    answer = (await door.ask.post("/runs/bulk", json={"action": "cancel", "filter": {"workflow": "ask"}})).json()
    assert (answer["done"], [(one["run_id"], one["code"]) for one in answer["refused"]]) == ([waiting], [(ended, "run_ended")])


async def test_many_runs_are_run_again(door: Any) -> None:
    first = (await door.finish(door.ECHO, 7))["run_id"]
    answer = (await door.ask.post("/runs/bulk", json={"action": "rerun", "filter": {"status": "completed"}})).json()
    assert answer["matched"] == 1
    run = await door.end(answer["done"][0])
    assert (run["id"] != first, run["inputs"]) == (True, 7)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"action": "cancel", "filter": {}},
        {"action": "cancel", "filter": {"tags": []}},
        {"action": "delete", "filter": {"status": "paused"}},
        {"action": "cancel", "filter": {"status": "paused"}, "limit": 101},
        {"action": "cancel", "filter": {"status": "paused"}, "from": "first"},
        {"action": "cancel", "filter": {"until": "2026-01-31T12:00:00Z"}},
        {"action": "cancel", "filter": {"search": ""}},
        {"action": "cancel", "filter": {"error": "not a code"}},
        {"action": "cancel", "filter": {"min_duration_ms": -1}},
    ],
)
async def test_a_bulk_change_says_what_it_is_about(door: Any, body: dict[str, Any]) -> None:
    assert (await door.ask.post("/runs/bulk", json=body)).status_code == 422


# -- what a listing says of a run in flight ---------------------------------------------------------------------------


async def test_a_run_that_somebody_holds_is_shown_as_running(door: Any) -> None:
    await door.publish(door.ECHO)
    run_id = await started(door, [])
    await door.end(run_id)
    store, clock = door.local.world.store, door.local.world.clock
    head = _like(store.get_run(run_id), 1)
    store.create_run(_created(head))
    store.take_lease("run_1", "somebody", clock.now_ms(), clock.now_ms() + 60_000)
    shown = {run["id"]: run["status"] for run in (await door.ask.get("/runs")).json()["runs"]}
    assert shown["run_1"] == "running"


def _created(head: Any) -> Any:
    return head._replace(status="created")


# -- other sites ------------------------------------------------------------------------------------------------------


async def test_pages_of_other_sites_may_ask_where_it_is_set(make_door: Any) -> None:
    door = await make_door(cors_origins=["https://app.example.com"])
    asked = {"access-control-request-method": "GET", "access-control-request-headers": "authorization"}
    asks = {"origin": "https://app.example.com", **asked}
    answer = await door.stranger.options("/runs", headers=asks)
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, "https://app.example.com")
    refused = await door.stranger.get("/runs", headers={"origin": "https://app.example.com"})
    assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (401, "https://app.example.com")
    other = await door.ask.get("/runs", headers={"origin": "https://evil.example.com"})
    assert "access-control-allow-origin" not in other.headers
    assert "access-control-allow-credentials" not in answer.headers


async def test_without_a_setting_no_other_site_may_ask(door: Any) -> None:
    answer = await door.ask.get("/runs", headers={"origin": "https://app.example.com"})
    assert "access-control-allow-origin" not in answer.headers


# -- the page ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("drafts", [True, False])
async def test_the_address_of_a_run_leads_to_it_in_the_console_whoever_asks(make_door: Any, drafts: bool) -> None:
    door = await make_door(site=Site(drafts=drafts))
    answer = await door.stranger.get("/runs/run_1%2F..%2F%3Fx/view", follow_redirects=False)
    assert answer.status_code == 404, "no id has a slash"
    answer = await door.stranger.get("/runs/run_1%3Fx/view", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (307, "/console/runs/run_1%3Fx")
    assert (answer.headers["referrer-policy"], answer.headers["cache-control"]) == ("no-referrer", "no-cache")


async def test_the_page_of_a_run_has_no_data_of_it_and_allows_nothing_but_itself(make_door: Any) -> None:
    """The page is the same for every run, and for one that does not exist."""
    door = await make_door(site=Site(drafts=False))
    await door.publish(door.ECHO)
    run_id = (await door.ask.post("/workflows/echo/runs", json={"inputs": {"text": "a-secret-of-the-run"}})).json()["run_id"]
    pages = [await door.stranger.get(f"/runs/{each}/view", follow_redirects=True) for each in (run_id, "run_none")]
    assert [page.status_code for page in pages] == [200, 200]
    assert pages[0].text == pages[1].text and run_id not in pages[0].text and "a-secret-of-the-run" not in pages[0].text
    policy = pages[0].headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "connect-src 'self';" in policy
    assert pages[0].headers["x-frame-options"] == "DENY"


# -- hold and release -------------------------------------------------------------------------------------------------


def says(held: bool) -> Any:
    return lambda event: event["payload"].get("held") is held


@pytest.mark.parametrize(("hold", "release"), [("hold", "release"), ("pause", "unpause")])
async def test_a_run_is_held_and_released(door: Any, hold: str, release: str) -> None:
    run_id, link = await door.question()
    answer = await door.ask.post(f"/runs/{run_id}/{hold}", json={"by": "ops", "reason": "an incident"})
    assert (answer.status_code, answer.json()["status"]) == (202, {"hold": "holding", "pause": "pausing"}[hold])
    await door.until(run_id, says(True))
    run = await door.run(run_id)
    assert (run["status"], run["held"]["by"], run["held"]["reason"]) == ("paused", "ops", "an incident")
    assert (run["waiting"], run["summary"]) == (["held", "answer"], "held, waiting for an answer")
    assert (await door.ask.post(link, json={"decision": "approved"})).status_code == 200
    await door.until(run_id, lambda event: event["type"] == "node.queued")
    assert (await door.run(run_id))["status"] == "paused"
    answer = await door.ask.post(f"/runs/{run_id}/{release}", json={})
    assert (answer.status_code, answer.json()["status"]) == (202, {"release": "releasing", "unpause": "unpausing"}[release])
    run = await door.end(run_id)
    assert (run["status"], run["held"], "pay" in run["outputs"]) == ("completed", None, True)


@pytest.mark.parametrize("verb", ["hold", "release", "pause", "unpause"])
async def test_a_run_that_has_ended_is_neither_paused_nor_unpaused(door: Any, verb: str) -> None:
    ended = (await door.finish(door.ECHO))["run_id"]
    answer = await door.ask.post(f"/runs/{ended}/{verb}")
    assert (answer.status_code, answer.json()["code"], answer.json()["run_status"]) == (409, "run_ended", "completed")
    assert (await door.ask.post(f"/runs/run_nobody/{verb}")).status_code == 404
    assert (await door.ask.post(f"/runs/{ended}/{verb}", json={"until": "tomorrow"})).status_code == 422


async def test_many_runs_are_held_and_released(door: Any) -> None:
    runs = [(await door.question())[0] for _ in range(3)]
    for action, held in (("hold", True), ("release", False), ("pause", True), ("unpause", False)):
        body = {"action": action, "filter": {"workflow": "ask"}, "by": "ops"}
        assert sorted((await door.ask.post("/runs/bulk", json=body)).json()["done"]) == sorted(runs)
        for run_id in runs:
            await door.until(run_id, says(held))
    assert [(await door.run(run_id))["held"] for run_id in runs] == [None] * 3
