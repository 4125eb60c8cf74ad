"""Messages and keys by HTTP: delivery, starts under a key, delayed starts, roles, and bad input."""

from __future__ import annotations

from typing import Any

import pytest

WORKFLOW: dict[str, Any] = {
    "id": "order", "key": "<input.id>",
    "messages": {"payment": {"data": {"type": "object", "required": ["amount"]}}, "cancelled": {}},
    "cancel_on": ["cancelled"],
    "nodes": {
        "order": {"type": "manual"},
        "paid": {"type": "receive", "after": "order", "with": {"message": "payment", "where": "<message.amount> > 1"}},
        "out": {"type": "transform", "after": "paid", "with": {"value": "<paid.amount>"}},
    },
}  # fmt: skip

pytestmark = pytest.mark.anyio


async def started(door: Any, id: str = "A-17", **body: Any) -> Any:
    await door.publish(WORKFLOW) if hasattr(door, "publish") else await door.ask.post("/workflows", json=WORKFLOW)
    return await door.ask.post("/workflows/order/runs", json={"inputs": {"id": id}, **body})


async def send(door: Any, data: Any, name: str = "payment", key: str = "A-17", **query: Any) -> Any:
    headers = query.pop("headers", {})
    return await door.ask.post(f"/workflows/order/messages/{name}", params={"key": key, **query}, json=data, headers=headers)


async def test_a_message_for_a_key_ends_the_wait_of_its_run(door: Any) -> None:
    run = (await started(door)).json()
    assert (run["key"], run["joined"]) == ("A-17", False)
    small = await send(door, {"amount": 1})
    assert (small.status_code, small.json()["delivered"]) == (202, [run["run_id"]])
    sent = await send(door, {"amount": 5}, headers={"Idempotency-Key": "evt-1"})
    assert sent.json() == {"id": "evt-1", "delivered": [run["run_id"]], "kept_until": None, "started": None}
    ended = await door.end(run["run_id"])
    assert (ended["status"], ended["outputs"], ended["key"]) == ("completed", {"out": 5}, "A-17")
    assert [(mail["id"], mail["name"], mail["key"]) for mail in ended["unread"]] == [(small.json()["id"], "payment", "A-17")]
    keys = (await door.ask.get("/workflows/order/keys/A-17")).json()
    assert (keys["live"], [one["run_id"] for one in keys["runs"]]) == (None, [run["run_id"]])


async def test_a_second_start_joins(door: Any) -> None:
    first, second = (await started(door)), (await started(door))
    assert (first.status_code, second.status_code, second.json()["joined"]) == (202, 200, True)
    assert second.json()["run_id"] == first.json()["run_id"]
    assert (await door.ask.get("/workflows/order/keys/A-17")).json()["live"] == first.json()["run_id"]


async def test_a_message_may_start_its_run(door: Any) -> None:
    await started(door, "other")
    sent = (await send(door, {"amount": 3}, key="B-1", start="true", inputs='{"id": "B-1"}')).json()
    assert sent["started"] and sent["delivered"] == [sent["started"]]
    assert (await door.end(sent["started"]))["outputs"] == {"out": 3}


async def test_a_message_to_a_run(door: Any) -> None:
    run = (await started(door)).json()["run_id"]
    answer = await door.ask.post(f"/runs/{run}/messages/cancelled", content=b"")
    assert (answer.status_code, answer.json()["delivered"]) == (202, [run])
    assert (await door.end(run))["status"] == "cancelled"
    late = await door.ask.post(f"/runs/{run}/messages/cancelled", content=b"")
    assert (late.status_code, late.json()["code"]) == (410, "run_ended")


async def test_a_message_that_is_sent_again_after_the_end_of_its_run_was_delivered(door: Any) -> None:
    run = (await started(door)).json()["run_id"]
    again = {"headers": {"Idempotency-Key": "evt-1"}}
    assert (await send(door, {"amount": 5}, **again)).json()["delivered"] == [run]
    assert (await door.end(run))["status"] == "completed"
    to_run = f"/runs/{run}/messages/payment"
    for answer in (await send(door, {"amount": 5}, **again), await door.ask.post(to_run, json={"amount": 5}, **again)):
        assert (answer.status_code, answer.json()["delivered"]) == (202, [run])
    for answer in (await send(door, {"amount": 6}, **again), await door.ask.post(to_run, json={"amount": 6}, **again)):
        assert (answer.status_code, answer.json()["code"]) == (409, "message_conflict")
    other = {"headers": {"Idempotency-Key": "evt-2"}}
    assert (await send(door, {"amount": 5}, **other)).json()["code"] == "no_receiver"
    assert (await door.ask.post(to_run, json={"amount": 5}, **other)).json()["code"] == "run_ended"


async def test_a_run_may_begin_later(door: Any) -> None:
    answer = await started(door, delay="2d")
    run = (await door.ask.get(f"/runs/{answer.json()['run_id']}")).json()
    assert (answer.status_code, run["status"], run["sequence"]) == (202, "created", 0)
    for body in ({"delay": "soon"}, {"at": "soon"}, {"delay": "1h", "at": "2026-01-31T12:00:00Z"}):
        assert (await started(door, "other", **body)).status_code == 400


@pytest.mark.parametrize(
    ("name", "key", "data", "status", "code"),
    [
        ("paiment", "A-17", {"amount": 2}, 404, "unknown_message"),
        ("payment", "A-17", {}, 422, "message_invalid"),
        ("payment", "A-17", None, 422, "message_invalid"),
        ("payment", "", {"amount": 2}, 422, "key_invalid"),
        ("payment", "x" * 257, {"amount": 2}, 422, "key_invalid"),
        ("payment", "B-99", {"amount": 2}, 404, "no_receiver"),
        ("payment", "A-17", {"amount": 2, "text": "x" * 300_000}, 413, "message_too_large"),
    ],
)
async def test_bad_input_is_refused(door: Any, name: str, key: str, data: Any, status: int, code: str) -> None:
    await started(door)
    answer = await send(door, data, name, key)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.json()["mend"]


async def test_an_id_with_other_data_changes_nothing(door: Any) -> None:
    run = (await started(door)).json()["run_id"]
    one = {"headers": {"Idempotency-Key": "one"}}
    assert [(await send(door, {"amount": amount}, **one)).status_code for amount in (1, 1, 2)] == [202, 202, 409]
    await send(door, {"amount": 9})
    assert [mail["id"] for mail in (await door.end(run))["unread"]] == ["one"]


async def test_a_key_with_the_role_send_may_send_and_nothing_else(door: Any) -> None:
    run = (await started(door)).json()["run_id"]
    made = (await door.ask.post("/keys", json={"name": "shop", "roles": ["send"]})).json()
    headers = {"Authorization": f"Bearer {made['secret']}"}
    assert (await send(door, {"amount": 5}, headers=headers)).status_code == 202
    for path in ("/runs", f"/runs/{run}", "/workflows", "/workflows/order/keys/A-17"):
        refused = await door.ask.get(path, headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (403, "role_missing"), path
    assert (await door.ask.post("/workflows/order/runs", json={}, headers=headers)).status_code == 403


async def test_a_start_without_a_key_is_refused(door: Any) -> None:
    await started(door)
    answer = await door.ask.post("/workflows/order/runs", json={"inputs": {}})
    assert (answer.status_code, answer.json()["code"], answer.json()["place"]) == (422, "key_missing", "key")


async def test_runs_are_listed_by_their_key(door: Any) -> None:
    first, other = (await started(door)).json()["run_id"], (await started(door, "B-2")).json()["run_id"]
    for key, found in (("A-17", [first]), ("B-2", [other]), ("A-1", [])):
        assert [run["id"] for run in (await door.ask.get("/runs", params={"key": key})).json()["runs"]] == found
    assert (await door.ask.get("/runs", params={"key": ""})).status_code == 400
