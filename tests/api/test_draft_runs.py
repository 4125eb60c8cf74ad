"""Test runs over HTTP: a draft is run before it is published, with pins, up to a node, or with the outputs of a former run."""

from __future__ import annotations

import json
from typing import Any

import pytest
from draft_client import op
from draft_run_client import EACH, LINE, RISK, ended, key_of, opened, tried

pytestmark = pytest.mark.anyio

async def nodes_of(door: Any, run_id: str) -> dict[str, Any]:
    found = (await door.ask.get(f"/runs/{run_id}/nodes")).json()["nodes"]
    return {node["instance"]: node for node in found}


async def completions(door: Any, run_id: str) -> dict[str, Any]:
    """What each instance put out, and how, by the events."""
    events = (await door.ask.get(f"/runs/{run_id}/events?limit=500")).json()["events"]
    return {event["payload"]["instance"]: event["payload"] for event in events if event["type"] == "node.completed"}


async def test_a_draft_runs_before_it_is_published(kept_door: Any) -> None:
    door = kept_door
    draft = await opened(door, LINE)
    started = await tried(door, inputs={"n": 21}, pins=RISK)
    assert (started["seq"], started["epoch"]) == (draft["seq"], draft["epoch"])
    run = await ended(door, started["run_id"])
    assert (run["status"], run["outputs"]) == ("completed", {"go": "gone on with 42"})
    assert (run["version"], run["number"], run["keywords"]) == (None, None, [f"draft:w@{draft['seq']}"])
    assert run["draft"] == {
        "epoch": 1, "seq": draft["seq"], "by": started["by"], "pins": ["score"], "stop_after": None, "of": None, "from": None,
    }  # fmt: skip
    assert run["hash"].startswith(f"draft:{run['id']}/")
    listed = (await door.ask.get("/runs?keyword=draft:w@0")).json()["runs"]
    assert [(one["id"], one["version"], one["draft"]["pins"]) for one in listed] == [(run["id"], None, ["score"])]
    shown = (await door.ask.get(f"/runs/{run['id']}/document")).json()
    assert (shown["document"], shown["version"]) == (LINE, None)


async def test_the_version_of_a_test_run_is_in_no_list(door: Any) -> None:
    hooked = {**LINE, "nodes": {**LINE["nodes"], "begin": {"type": "webhook", "with": {"path": "/in", "auth": "none"}}}}
    hooked["nodes"]["tick"] = {"type": "schedule", "with": {"rate": "1m"}}
    await opened(door, hooked)
    run = await ended(door, (await tried(door, inputs={"n": 1}, pins=RISK, entry="begin"))["run_id"])
    assert run["status"] == "completed"
    assert (await door.ask.get("/workflows")).json()["workflows"] == []
    assert (await door.ask.get("/workflows/w")).status_code == 404
    assert (await door.ask.get("/workflows/w/versions/1")).status_code == 404
    assert (await door.ask.post("/hooks/in", json={})).status_code == 404
    assert (await door.ask.get("/schedules")).json()["schedules"] == []


async def test_a_pinned_node_puts_out_its_pin_and_is_marked_in_the_run(door: Any) -> None:
    await opened(door, LINE)
    run_id = (await tried(door, inputs={"n": 21}, pins=RISK))["run_id"]
    await ended(door, run_id)
    done = await completions(door, run_id)
    assert (done["score"]["output"], done["score"]["pinned"], done["score"]["kind"]) == (RISK["score"]["output"], True, "http")
    assert "pinned" not in done["double"]
    assert (await nodes_of(door, run_id))["score"]["calls"] == []


async def test_a_pin_leaves_by_its_exit(door: Any) -> None:
    await opened(door, LINE)
    pins = {**RISK, "risk": {"output": None, "handle": "high"}}
    run = await ended(door, (await tried(door, inputs={"n": 21}, pins=pins))["run_id"])
    assert run["outputs"] == {"stop": "stopped at 3"}
    refused = await tried(door, 422, inputs={"n": 21}, pins={"risk": {"output": None, "handle": "middle"}})
    assert refused["code"] == "unknown_exit"


async def test_a_pin_inside_a_container_holds_in_every_turn_and_one_of_the_container_replaces_it(door: Any) -> None:
    await opened(door, EACH)
    inside = await tried(door, inputs={"list": ["a", "b"]}, pins={"price@each": {"output": {"body": 10}}})
    assert (await ended(door, inside["run_id"]))["status"] == "completed"
    done = await completions(door, inside["run_id"])
    assert [done[f"sum@each[{turn}]"]["output"] for turn in (0, 1)] == [10, 11]
    whole = await tried(door, inputs={"list": ["a"]}, pins={"each": {"output": "all"}})
    assert (await ended(door, whole["run_id"]))["outputs"] == {"each": "all"}
    assert set(await completions(door, whole["run_id"])) == {"begin", "each"}


async def test_the_pins_of_the_draft_count_where_none_are_given(door: Any) -> None:
    draft = await opened(door, LINE)
    score = next(key for key, entity in draft["entities"].items() if key.startswith("block/") and entity["id"] == "score")
    pin = ["put", score.replace("block/", "pin/"), {"output": {"body": {"risk": {"#": "9.0"}}}}]
    await door.ask.put("/drafts/w/ops", json=op(1, 1, [pin]))
    run = await ended(door, (await tried(door, inputs={"n": 21}))["run_id"])
    assert (run["outputs"], run["draft"]["pins"], run["draft"]["seq"]) == ({"stop": "stopped at 9.0"}, ["score"], 1)
    document = (await door.ask.get("/drafts/w/document")).json()["document"]
    assert document == LINE, "a pin is no part of the document"
    refused = await tried(door, 403, ask=await key_of(door, "edit", "run"), inputs={"n": 1}, pins={})
    assert refused["code"] == "unpublished_effect"


async def test_a_run_ends_after_a_node_and_runs_only_what_leads_to_it(door: Any) -> None:
    aside = {"type": "http", "after": "begin", "with": {"url": "https://x.example.com"}}
    await opened(door, {**LINE, "nodes": {**LINE["nodes"], "aside": aside}})
    run = await ended(door, (await tried(door, inputs={"n": 21}, stop_after="double"))["run_id"])
    assert (run["status"], run["outputs"], run["draft"]["stop_after"]) == ("completed", {"double": 42}, "double")
    assert set(await nodes_of(door, run["id"])) == {"begin", "double"}
    assert (await tried(door, 404, stop_after="none"))["code"] == "unknown_node"
    await opened(door, EACH)
    assert (await tried(door, 422, stop_after="price"))["code"] == "inside_container"


async def test_a_run_reuses_what_a_former_one_has_put_out(door: Any) -> None:
    await opened(door, LINE)
    former = (await tried(door, inputs={"n": 21}, pins=RISK))["run_id"]
    await ended(door, former)
    changed = json.loads(json.dumps(LINE))
    changed["nodes"]["go"]["with"]["value"] = "now <double>, <begin.n>"
    changed["nodes"]["double"]["with"]["value"] = 0
    await opened(door, changed)
    again = await tried(door, from_run=former, **{"from": "risk"})
    run = await ended(door, again["run_id"])
    assert (run["outputs"], run["inputs"]) == ({"go": "now 42, 21"}, {"n": 21}), "double is not run again, and go is the new one"
    assert (run["draft"]["of"], run["draft"]["from"]) == (former, "risk")
    done = await completions(door, run["id"])
    assert [name for name, payload in done.items() if payload.get("reused")] == ["begin", "double", "score"]
    pinned = await tried(door, from_run=former, pins={"double": {"output": 5}}, **{"from": "risk"})
    assert (await ended(door, pinned["run_id"]))["outputs"] == {"go": "now 5, 21"}, "a pin counts more than a former output"


async def test_what_a_run_begins_from_is_checked(door: Any) -> None:
    await opened(door, LINE)
    other = await door.start(door.ECHO)
    assert (await tried(door, 422, from_run=other, **{"from": "risk"}))["code"] == "other_workflow"
    assert (await tried(door, 404, from_run="run_none", **{"from": "risk"}))["code"] == "unknown_run"
    assert (await tried(door, 400, from_run=other))["code"] == "invalid_request"
    assert (await tried(door, 404, from_run=other, **{"from": "none"}))["code"] == "unknown_node"


async def test_a_draft_with_errors_is_refused_with_the_keys_of_its_blocks(door: Any) -> None:
    draft = await opened(door, {"id": "w", "nodes": {"begin": {"type": "manual"}, "odd": {"type": "none", "after": "begin"}}})
    refused = await tried(door, 422, inputs={})
    assert refused["code"] == "document_refused"
    assert draft["entities"][refused["findings"][0]["key"]]["id"] == "odd"


async def test_a_test_run_is_of_the_draft_after_exactly_one_item(door: Any) -> None:
    await opened(door, LINE)
    await door.ask.put("/drafts/w/ops", json=op(1, 1, [["set", "doc", ["name"], "later"]]))
    first = await tried(door, inputs={"n": 1}, seq=0, pins=RISK)
    assert (await door.ask.get(f"/runs/{first['run_id']}/document")).json()["document"] == LINE
    second = await tried(door, inputs={"n": 1}, pins=RISK)
    assert (await door.ask.get(f"/runs/{second['run_id']}/document")).json()["document"]["name"] == "later"
    assert (await tried(door, 404, seq=7))["code"] == "unknown_item"


async def test_the_last_test_runs_of_a_draft_are_listed(door: Any) -> None:
    await opened(door, LINE)
    assert (await door.ask.get("/drafts/w/runs")).json() == {"runs": []}
    started = [await tried(door, inputs={"n": n}, pins=RISK) for n in range(22)]
    listed = (await door.ask.get("/drafts/w/runs")).json()["runs"]
    assert listed == started[::-1][:20]
    await opened(door, LINE)
    assert (await door.ask.get("/drafts/w/runs")).json() == {"runs": []}, "they are those of the draft that is open"
    assert (await door.ask.get("/drafts/none/runs")).status_code == 404


async def test_a_test_run_is_not_repeated_by_itself_and_counts_for_no_statistics(door: Any) -> None:
    await door.publish(LINE)
    bad = {"type": "fail", "after": "begin", "with": {"code": "odd"}}
    await opened(door, {"id": "w", "nodes": {"begin": {"type": "manual"}, "bad": bad}})
    run = await ended(door, (await tried(door, inputs={"n": 1}))["run_id"])
    assert run["status"] == "failed"
    answer = await door.ask.post(f"/runs/{run['id']}/rerun", json={})
    assert (answer.status_code, answer.json()["code"]) == (409, "test_run")
    assert (await door.ask.get("/errors")).json()["errors"] == []
    assert (await door.ask.get("/workflows/w/stats")).json()["runs"] == 0


async def test_pins_have_a_size(door: Any) -> None:
    await opened(door, LINE)
    large = await tried(door, 413, inputs={}, pins={"score": {"output": "x" * 260_000}})
    assert (large["code"], large["place"]) == ("pins_too_large", "pins.score")
    assert (await tried(door, 404, inputs={}, pins={"none": {"output": 1}}))["code"] == "unknown_node"
    assert (await tried(door, 404, inputs={}, pins={"score@double": {"output": 1}}))["code"] == "unknown_node"


async def test_pins_and_inputs_are_masked_as_events_are(door: Any) -> None:
    await opened(door, {**LINE, "env": ["HOOK_SECRET"]})
    secret = door.HOOK_SECRET
    pins = {"score": {"output": {"body": {"risk": 9, "said": f"it is {secret}"}}}}
    run_id = (await tried(door, inputs={"n": 21, "token": secret}, pins=pins))["run_id"]
    await ended(door, run_id)
    events = await door.ask.get(f"/runs/{run_id}/events?limit=500")
    assert secret not in events.text and "it is ***" in events.text


async def test_a_test_run_answers_to_no_key(door: Any) -> None:
    document = {
        "id": "w", "messages": {"payment": {}},
        "nodes": {
            "begin": {"type": "manual"},
            "paid": {"type": "receive", "after": "begin", "with": {"message": "payment", "key": "<begin.id>"}},
        },
    }  # fmt: skip
    await door.publish(document)
    await opened(door, document)
    tested = (await tried(door, inputs={"id": "P-1"}))["run_id"]
    real = (await door.ask.post("/workflows/w/runs", json={"inputs": {"id": "P-1"}})).json()["run_id"]
    for run in (tested, real):
        await door.paused(run)
    sent = await door.ask.post("/workflows/w/messages/payment", params={"key": "P-1"}, json={"amount": 1})
    assert (sent.status_code, sent.json()["delivered"]) == (202, [real])
    to_test = await door.ask.post(f"/runs/{tested}/messages/payment", json={"amount": 2})
    assert to_test.json()["delivered"] == [tested]
    assert (await ended(door, tested))["outputs"]["paid"]["amount"] == 2
