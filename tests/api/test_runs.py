from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytestmark = pytest.mark.anyio

FAILS = {
    "id": "fails",
    "nodes": {"begin": {"type": "manual"}, "bad": {"type": "transform", "after": "begin", "with": {"value": "{{ 1 / 0 }}"}}},
}


async def test_a_run_is_accepted_with_links_that_lead_to_it(door: Any) -> None:
    await door.publish(door.ECHO)
    answer = await door.ask.post("/workflows/echo/runs", json={"inputs": {"a": 1}})
    started = answer.json()
    assert (answer.status_code, started["outcome"], started["replay"]) == (202, None, False)
    assert answer.headers["location"] == started["links"]["run"]
    run = await door.end(started["run_id"])
    assert (run["status"], run["inputs"], run["outputs"], run["version"]) == (
        "completed",
        {"a": 1},
        {"said": {"got": {"a": 1}}},
        1,
    )
    for name in ("run", "nodes", "events"):
        assert (await door.ask.get(started["links"][name])).status_code == 200


async def test_whoever_prefers_to_wait_is_told_the_outcome(door: Any) -> None:
    await door.publish(door.ECHO)
    answer = await door.ask.post("/workflows/echo/runs", json={"inputs": 7}, headers={"prefer": "respond-async, wait=20"})
    assert (answer.status_code, answer.headers["preference-applied"]) == (200, "wait=20")
    assert answer.json()["outcome"] == {"status": "completed", "outputs": {"said": {"got": 7}}, "error": None}


async def test_a_failed_outcome_tells_its_error(door: Any) -> None:
    outcome = (await door.finish(FAILS))["outcome"]
    assert (outcome["status"], outcome["error"]["node"]) == ("failed", "bad")


async def test_a_wait_that_is_over_before_the_run_answers_202(door: Any) -> None:
    await door.publish(door.ASK)
    answer = await door.ask.post("/workflows/ask/runs", json={}, headers={"prefer": "wait=0"})
    assert (answer.status_code, answer.json()["outcome"]) == (202, None)


async def test_a_run_without_a_body_starts_with_no_inputs(door: Any) -> None:
    await door.publish(door.ECHO)
    answer = await door.ask.post("/workflows/echo/runs", headers={"prefer": "wait=20"})
    assert answer.json()["outcome"]["outputs"] == {"said": {"got": {}}}


async def test_twenty_starts_with_one_key_make_one_run(door: Any) -> None:
    await door.publish(door.ECHO)
    calls = [door.ask.post("/workflows/echo/runs", json={"inputs": 1}, headers={"idempotency-key": "k"}) for _ in range(20)]
    answers = await asyncio.gather(*calls)
    assert len({answer.json()["run_id"] for answer in answers}) == 1
    assert sorted(answer.status_code for answer in answers) == [200] * 19 + [202]
    assert sorted(answer.json()["replay"] for answer in answers) == [False] + [True] * 19


async def test_a_key_with_other_inputs_is_a_conflict_that_names_the_run(door: Any) -> None:
    await door.publish(door.ECHO)
    first = await door.ask.post("/workflows/echo/runs", json={"inputs": 1}, headers={"idempotency-key": "k"})
    second = await door.ask.post("/workflows/echo/runs", json={"inputs": 2}, headers={"idempotency-key": "k"})
    problem = second.json()
    assert (second.status_code, problem["code"], problem["run_id"]) == (409, "idempotency_key_reused", first.json()["run_id"])


async def test_the_inputs_themselves_are_the_key_where_that_is_asked_for(door: Any) -> None:
    await door.publish(door.ECHO)
    bodies = ('{"inputs": {"a": 1.0, "b": 9007199254740993}}', '{"inputs": {"b": 9007199254740993, "a": 1}}')
    kind = {"content-type": "application/json"}
    first, second = [await door.ask.post("/workflows/echo/runs?idempotent=inputs", content=body, headers=kind) for body in bodies]
    assert (first.status_code, second.status_code) == (202, 200)
    assert first.json()["run_id"] == second.json()["run_id"]
    header = {**kind, "idempotency-key": "inputs"}
    third = await door.ask.post("/workflows/echo/runs", content=bodies[0], headers=header)
    assert third.status_code == 202 and third.json()["run_id"] != first.json()["run_id"]
    fourth = await door.ask.post("/workflows/echo/runs", content='{"inputs": 2}', headers=header)
    assert (fourth.status_code, fourth.json()["code"]) == (409, "idempotency_key_reused")


@pytest.mark.parametrize(
    ("query", "headers", "status"),
    [("idempotent=outputs", {}, 400), ("idempotent=", {}, 400), ("idempotent=inputs", {"idempotency-key": "k"}, 400)],
)
async def test_a_start_has_one_key(door: Any, query: str, headers: dict[str, str], status: int) -> None:
    await door.publish(door.ECHO)
    assert (await door.ask.post(f"/workflows/echo/runs?{query}", json={}, headers=headers)).status_code == status


@pytest.mark.parametrize("key", ["", " ", "k" * 201])
async def test_a_key_that_is_none_is_refused(door: Any, key: str) -> None:
    await door.publish(door.ECHO)
    answer = await door.ask.post("/workflows/echo/runs", json={}, headers={"idempotency-key": key})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_idempotency_key")


@pytest.mark.parametrize("entry", ["begin", ["begin"]])
async def test_a_run_may_begin_at_one_of_several_entries(door: Any, entry: Any) -> None:
    await door.publish({"id": "two", "nodes": {"begin": {"type": "manual"}, "other": {"type": "manual"}}})
    answer = await door.ask.post("/workflows/two/runs", json={"entry": entry}, headers={"prefer": "wait=20"})
    assert answer.json()["outcome"]["outputs"] == {"begin": {}}


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"entry": "ghost"}, 422, "unknown_entry"),
        ({"entry": []}, 422, "invalid_request"),
        ({"inputs": {}, "extra": 1}, 422, "invalid_request"),
        ([], 422, "invalid_request"),
        ({"inputs": "x" * 256_000}, 413, "body_too_large"),
    ],
)
async def test_a_start_that_does_not_fit_is_refused(door: Any, body: Any, status: int, code: str) -> None:
    await door.publish(door.ECHO)
    answer = await door.ask.post("/workflows/echo/runs", json=body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


async def test_an_unknown_workflow_is_not_started(door: Any) -> None:
    answer = await door.ask.post("/workflows/none/runs", json={})
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_workflow")


async def test_runs_are_listed_the_newest_first_and_by_what_is_asked(door: Any) -> None:
    echo = (await door.finish(door.ECHO))["run_id"]
    asked, _ = await door.question()
    assert [run["id"] for run in (await door.ask.get("/runs")).json()["runs"]] == [asked, echo]
    for query, found in [
        ({"workflow": "echo"}, [echo]),
        ({"status": "completed"}, [echo]),
        ({"since": "2000-01-01T00:00:00Z"}, [asked, echo]),
        ({"since": "2999-01-01T00:00:00+01:00"}, []),
        ({"since": "0"}, [asked, echo]),
        ({"workflow": "echo", "status": "paused"}, []),
    ]:
        assert [run["id"] for run in (await door.ask.get("/runs", params=query)).json()["runs"]] == found, query


async def test_a_listing_goes_on_where_its_cursor_says(door: Any) -> None:
    ids = [(await door.finish(door.ECHO, {"n": n}))["run_id"] for n in range(3)]
    listed, cursor = [], None
    while cursor is not None or not listed:
        page = (await door.ask.get("/runs", params={"limit": 1, **({"cursor": cursor} if cursor else {})})).json()
        listed, cursor = listed + [run["id"] for run in page["runs"]], page["cursor"]
    assert sorted(listed) == sorted(ids) and len(listed) == 3


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("status=done", "invalid_request"),
        ("since=yesterday", "invalid_request"),
        ("since=2026-01-01", "invalid_request"),
        ("since=2026-01-01T00:00:00", "invalid_request"),
        (f"since={9**40}", "invalid_request"),
        ("limit=0", "invalid_request"),
        ("limit=1001", "invalid_request"),
        ("cursor=nonsense", "invalid_cursor"),
        ("unknown=1", "invalid_request"),
    ],
)
async def test_a_listing_refuses_what_it_does_not_know(door: Any, query: str, code: str) -> None:
    answer = await door.ask.get(f"/runs?{query}")
    assert (answer.status_code, answer.json()["code"]) == (400, code)


async def test_a_paused_run_tells_what_it_waits_for_with_a_link(door: Any) -> None:
    run_id, link = await door.question()
    run = await door.run(run_id)
    pause = run["pauses"][0]
    assert run["status"] == "paused" and run["ended_at"] is None
    assert (pause["pause"], pause["reason"], pause["exits"]) == ("question", "human_input", ["approved", "rejected"])
    assert pause["details"]["message"] == "Pay the bill?" and link.startswith("/resume/")


async def test_links_begin_with_the_base_that_was_configured(make_door: Any) -> None:
    door = await make_door(base_url="https://flows.example.com/")
    run_id, link = await door.question()
    assert link.startswith("https://flows.example.com/resume/")
    assert (await door.run(run_id))["links"]["run"] == f"https://flows.example.com/runs/{run_id}"


async def test_a_link_never_leads_where_a_host_header_says(door: Any) -> None:
    run_id, _ = await door.question()
    answer = await door.ask.get(f"/runs/{run_id}", headers={"host": "evil.example", "x-forwarded-host": "evil.example"})
    assert "evil" not in answer.text


async def test_nodes_are_listed_page_by_page(door: Any) -> None:
    run_id = (await door.finish(door.ECHO, {"a": 1}))["run_id"]
    first = (await door.ask.get(f"/runs/{run_id}/nodes?limit=1")).json()
    second = (await door.ask.get(f"/runs/{run_id}/nodes?limit=1&after={first['cursor']}")).json()
    nodes = [*first["nodes"], *second["nodes"]]
    assert [(node["instance"], node["status"], node["output"]) for node in nodes] == [
        ("begin", "completed", {"a": 1}),
        ("said", "completed", {"got": {"a": 1}}),
    ]
    assert second["cursor"] is None and nodes[1]["predecessor"] == "begin"


async def test_a_page_of_nodes_never_grows_beyond_its_bytes(door: Any) -> None:
    copies = {f"n{n}": {"type": "transform", "after": "begin", "with": {"value": "<begin.text>"}} for n in range(40)}
    run_id = (await door.finish({"id": "wide", "nodes": {"begin": {"type": "manual"}, **copies}}, {"text": "x" * 100_000}))[
        "run_id"
    ]
    seen, cursor, largest = 0, 0, 0
    while cursor is not None:
        answer = await door.ask.get(f"/runs/{run_id}/nodes?after={cursor}")
        seen, cursor, largest = seen + len(answer.json()["nodes"]), answer.json()["cursor"], max(largest, len(answer.content))
    assert seen == 41 and largest < 4_100_000


@pytest.mark.parametrize("path", ["", "/nodes", "/events"])
async def test_an_unknown_run_is_not_found(door: Any, path: str) -> None:
    answer = await door.ask.get(f"/runs/run_none{path}")
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_run")


async def test_a_cancelled_run_ends_and_says_who_wanted_it(door: Any) -> None:
    run_id, _ = await door.question()
    answer = await door.ask.post(f"/runs/{run_id}/cancel", json={"by": "ada", "reason": "wrong bill"})
    assert (answer.status_code, answer.json()["status"]) == (202, "cancelling")
    assert (await door.end(run_id))["status"] == "cancelled"
    events = (await door.ask.get(f"/runs/{run_id}/events")).json()["events"]
    assert any(event["payload"].get("by") == "ada" for event in events)
    late = await door.ask.post(f"/runs/{run_id}/cancel")
    assert (late.status_code, late.json()["code"], late.json()["run_status"]) == (409, "run_ended", "cancelled")


async def test_inputs_that_are_half_a_character_or_too_deep_are_refused(door: Any) -> None:
    await door.publish(door.ECHO)
    for text in ('{"inputs": "\\ud83d"}', '{"inputs": ' + "[" * 5_000 + "]" * 5_000 + "}"):
        answer = await door.ask.post("/workflows/echo/runs", content=text, headers={"content-type": "application/json"})
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid_json")


async def test_a_run_tells_the_version_that_it_began_with_and_its_number(door: Any) -> None:
    await door.publish({**door.ECHO, "numbered": True})
    started = (await door.ask.post("/workflows/echo/runs", json={})).json()
    await door.publish(FAILS | {"id": "echo", "numbered": True})
    await door.publish({**door.ECHO, "numbered": True})  # version 3 has the content of version 1
    run = await door.end(started["run_id"])
    (listed,) = (await door.ask.get("/runs")).json()["runs"]
    for told in (started, run, listed):
        assert (told["version"], told["number"]) == (1, 1)


async def test_a_run_that_does_not_know_its_version_tells_the_newest_with_its_content(door: Any) -> None:
    """As those of former releases."""
    await door.publish(door.ECHO)
    started = (await door.ask.post("/workflows/echo/runs", json={})).json()
    store = door.local.world.store
    head = store.get_run(started["run_id"])
    store.create_run(head._replace(run_id="run_former", meta=b"{}", status="created", sequence=0))
    assert (await door.ask.get("/runs/run_former")).json()["version"] == 1
    listed = {run["id"]: run["version"] for run in (await door.ask.get("/runs")).json()["runs"]}
    assert listed == {started["run_id"]: 1, "run_former": None}


PATCHY = {
    "id": "patchy",
    "nodes": {
        "begin": {"type": "manual"},
        "bad": {"type": "transform", "after": "begin", "with": {"value": "{{ 1 / 0 }}"}},
        "mended": {"type": "transform", "after": "bad.error", "with": {"value": "<bad.error.code>"}},
    },
}


async def test_every_transition_is_a_row_with_its_facts(door: Any) -> None:
    run_id = (await door.finish(PATCHY))["run_id"]
    rows: list[Any] = []
    after: Any = 0
    while after is not None:
        page = (await door.ask.get(f"/runs/{run_id}/tags?after={after}&limit=3")).json()
        rows, after = rows + page["tags"], page["cursor"]
    assert [(row["tag"], row["instance"]) for row in rows] == [
        ("node_started", "begin"), ("node_completed", "begin"), ("node_started", "bad"), ("node_failed", "bad"),
        ("node_started", "mended"), ("node_completed", "mended"), ("partial_success", None),
    ]  # fmt: skip
    failed = rows[3]
    events = {event["eventId"]: event for event in (await door.ask.get(f"/runs/{run_id}/events")).json()["events"]}
    assert (events[failed["event"]]["type"], events[failed["event"]]["timestamp"]) == ("node.failed", failed["at"])
    assert set(failed["facts"]) == {"error_code", "error_message"}
    assert rows[-1]["facts"] == {"failures": 1}
    run = (await door.ask.get(f"/runs/{run_id}")).json()
    assert (run["keywords"], run["tags"]) == ([], ["partial_success"])
    [listed] = (await door.ask.get("/runs")).json()["runs"]
    assert (run["status"], run["summary"], listed["summary"]) == ("completed", "completed, 1 failed", "completed, 1 failed")
    assert (await door.ask.get(run["links"]["tags"])).status_code == 200


async def test_a_start_that_waits_is_answered_as_soon_as_the_run_waits(door: Any) -> None:
    await door.publish(door.ASK)
    answer = await door.ask.post("/workflows/ask/runs", json={"inputs": {"text": "5"}}, headers={"prefer": "wait=20"})
    told = answer.json()
    assert (answer.status_code, told["outcome"], answer.headers["preference-applied"]) == (202, None, "wait=20")
    (pause,) = told["pauses"]
    assert (pause["pause"], pause["exits"], pause["details"]["message"]) == ("question", ["approved", "rejected"], "Pay 5?")
    assert (await door.stranger.post(pause["resume"], json={"decision": "approved"})).status_code == 200
    assert (await door.end(told["run_id"]))["status"] == "completed"


async def test_a_key_that_may_not_approve_is_told_no_link(door: Any) -> None:
    secret = (await door.ask.post("/keys", json={"name": "shop", "roles": ["run"]})).json()["secret"]
    await door.publish(door.ASK)
    headers = {"prefer": "wait=20", "authorization": f"Bearer {secret}"}
    told = (await door.stranger.post("/workflows/ask/runs", json={"inputs": {"text": "5"}}, headers=headers)).json()
    assert [(pause["pause"], pause["resume"]) for pause in told["pauses"]] == [("question", None)]


async def test_what_does_not_wait_has_no_pauses(door: Any) -> None:
    assert (await door.finish(door.ECHO))["pauses"] == []
    await door.publish(door.ASK)
    assert (await door.ask.post("/workflows/ask/runs", json={})).json()["pauses"] == []
