"""Bad input of messages and keys by HTTP: code, status, place and how to fix it. What is refused changes nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

WORKFLOW: dict[str, Any] = {
    "id": "order", "key": "<input.id>", "cancel_on": ["cancelled"],
    "messages": {
        "payment": {"data": {"type": "object", "required": ["amount"]}}, "note": {}, "cancelled": {},
        "settled": {
            "webhook": {"path": "/settled", "auth": "none"}, "key": "<body.order>", "where": "<body.type> != 'test'",
            "map": {"share": "{{ <body.amount> / <body.parts> }}"},
        },
    },
    "nodes": {"order": {"type": "manual"}, "paid": {"type": "receive", "after": "order", "with": {"message": "payment"}}},
}  # fmt: skip
JSON = {"content-type": "application/json"}
PAYMENT = "/workflows/order/messages/payment"
NOTE = "/workflows/order/messages/note"

pytestmark = pytest.mark.anyio


async def started(door: Any, id: str = "A", **body: Any) -> str:
    await door.publish(WORKFLOW)
    answer = await door.ask.post("/workflows/order/runs", json={"inputs": {"id": id}, **body})
    return str(answer.json()["run_id"])


async def unread(door: Any, run: str) -> list[Any]:
    """The messages that the run has not read when it is cancelled by the last one."""
    await door.ask.post(f"/runs/{run}/messages/cancelled", content=b"")
    return [mail["name"] for mail in (await door.end(run))["unread"] if mail["name"] != "cancelled"]


@pytest.mark.parametrize(
    ("path", "query", "body", "status", "code", "place"),
    [
        ("/workflows/order/messages/paymnt", {"key": "A"}, b"1", 404, "unknown_message", None),
        ("/workflows/ordr/messages/payment", {"key": "A"}, b"1", 404, "unknown_workflow", None),
        (PAYMENT, {"key": "A"}, b"{}", 422, "message_invalid", "data"),
        (PAYMENT, {"key": "A"}, b"", 422, "message_invalid", "data"),
        (NOTE, {"key": ""}, b"1", 422, "key_invalid", "key"),
        (NOTE, {"key": "é" * 129}, b"1", 422, "key_invalid", "key"),
        (NOTE, {}, b"1", 400, "invalid_request", "query.key"),
        (f"{NOTE}?key=%ED%A0%80", None, b"1", 422, "key_invalid", "query.key"),
        (NOTE, {"key": "A"}, b'"\\ud800"', 422, "invalid_json", None),
        (NOTE, {"key": "A"}, b'{"a": {"\\udfff": 1}}', 422, "invalid_json", "a.\udfff"),
        (NOTE, {"key": "A"}, b"{", 400, "invalid_json", "line 1, column 2"),
        (NOTE, {"key": "A"}, b'"\xff"', 400, "invalid_json", None),
        (NOTE, {"key": "A"}, b"[" * 500 + b"]" * 500, 400, "invalid_json", "line 1, column 97"),
        (NOTE, {"key": "A"}, b'"' + b"x" * 262_143 + b'"', 413, "message_too_large", None),
        (NOTE, {"key": "A"}, b'"' + b"x" * 900_000 + b'"', 413, "message_too_large", None),
        (NOTE, {"key": "B"}, b"1", 404, "no_receiver", None),
        (NOTE, {"key": "A", "keep": "-1h"}, b"1", 400, "invalid_request", "keep"),
        (NOTE, {"key": "A", "keep": "400d"}, b"1", 400, "invalid_request", "keep"),
        (NOTE, {"key": "A", "keep": "1h", "start": "true"}, b"1", 400, "invalid_request", "query.keep"),
        (NOTE, {"key": "A", "inputs": "{}"}, b"1", 400, "invalid_request", "query.inputs"),
        (NOTE, {"key": "A", "start": "true", "inputs": "{"}, b"1", 400, "invalid_json", "line 1, column 2"),
    ],
)  # fmt: skip
async def test_a_message_that_cannot_be_sent_is_refused(
    door: Any, path: str, query: Any, body: bytes, status: int, code: str, place: str | None
) -> None:
    run = await started(door)
    answer = await door.ask.post(path, params=query, content=body, headers=JSON)
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem.get("place")) == (status, code, place)
    assert problem.get("mend") or problem.get("violations")
    assert await unread(door, run) == []


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None])
@pytest.mark.parametrize("path", [NOTE + "?key=A", "/runs/{run}/messages/note"])
async def test_a_form_of_another_site_sends_no_message(door: Any, kind: str | None, path: str) -> None:
    """A browser sends these types from any page, with the cookies of the console, without asking first."""
    run = await started(door)
    headers = {"content-type": kind} if kind is not None else {}
    answer = await door.ask.post(path.format(run=run), content=b'{"a": 1}', headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")
    assert await unread(door, run) == []


async def test_true_is_not_one_and_one_is(door: Any) -> None:
    run = await started(door)
    told = []
    for id, data in (("a", True), ("a", 1), ("b", 1), ("b", 1.0), ("c", {"x": 1, "y": 2}), ("c", {"y": 2, "x": 1})):
        answer = await door.ask.post(NOTE, params={"key": "A"}, json=data, headers={"Idempotency-Key": id})
        told.append(answer.status_code)
    assert told == [202, 409, 202, 202, 202, 202]
    assert await unread(door, run) == ["note"] * 3


async def test_an_id_belongs_to_a_run_and_to_one_message_of_it(door: Any) -> None:
    first, second = await started(door), await started(door, "B")
    headers = {"Idempotency-Key": "one"}
    paths = (f"{NOTE}?key=A", f"{PAYMENT}?key=A", f"{PAYMENT}?key=B", f"/runs/{first}/messages/note")
    told = [(await door.ask.post(path, json={"amount": 1}, headers=headers)).status_code for path in paths]
    assert told == [202, 409, 202, 202]
    assert (await unread(door, first), await unread(door, second)) == (["note"], [])


@pytest.mark.parametrize("key", [7, 7.0, "7"])
async def test_a_number_is_one_key_however_it_is_written(door: Any, key: Any) -> None:
    run = await started(door, "x", key=7)
    assert await started(door, "y", key=key) == run
    assert await started(door, key) == run


@pytest.mark.parametrize(
    ("body", "status", "code", "place"),
    [
        ({"key": True}, 422, "invalid_request", None),
        ({"key": ["a"]}, 422, "invalid_request", None),
        ({"key": ""}, 422, "key_invalid", "key"),
        ({"key": "x" * 257}, 422, "key_invalid", "key"),
        ({"inputs": {"id": True}}, 422, "key_invalid", "key"),
        ({"inputs": {"id": None}}, 422, "key_missing", "key"),
        ({"inputs": {"id": "A"}, "delay": "-5m"}, 400, "invalid_request", "delay"),
        ({"inputs": {"id": "A"}, "delay": "400d"}, 400, "invalid_request", "delay"),
        ({"inputs": {"id": "A"}, "at": "2999-01-01T00:00:00Z"}, 400, "invalid_request", "at"),
        ({"inputs": {"id": "A"}, "at": "2026-01-01T00:00:00"}, 400, "invalid_request", "at"),
    ],
)
async def test_a_start_with_a_bad_key_or_instant_is_refused(
    door: Any, body: Any, status: int, code: str, place: str | None
) -> None:
    await door.publish(WORKFLOW)
    answer = await door.ask.post("/workflows/order/runs", json=body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert place is None or answer.json()["place"] == place
    assert (await door.ask.get("/runs")).json()["runs"] == []


async def test_an_instant_that_has_passed_is_now(door: Any) -> None:
    run = await started(door, at="2000-01-01T00:00:00Z")
    assert (await door.paused(run))["status"] == "paused"


async def test_a_key_may_have_any_characters(door: Any) -> None:
    """In the query of a sender, and in the path of a reader. Texts that only look alike are different keys."""
    for key in ("a/b", "..", "a b?c#d%2F", "Ångström", "A\u030angstro\u0308m"):
        run = await started(door, key)
        sent = await door.ask.post(NOTE, params={"key": key}, json=1)
        assert (sent.status_code, sent.json()["delivered"]) == (202, [run]), key
        quoted = "".join(f"%{byte:02X}" for byte in key.encode())
        found = (await door.ask.get(f"/workflows/order/keys/{quoted}")).json()
        assert (found["key"], found["live"], len(found["runs"])) == (key, run, 1)


# -- webhooks -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"order": "A", "amount": 6, "parts": 0}, 422, "key_missing"),
        ({"order": "A", "amount": 6}, 422, "key_missing"),
        ({"amount": 6, "parts": 2}, 422, "key_missing"),
        ({"order": None, "amount": 6, "parts": 2}, 422, "key_missing"),
        ({"order": True, "amount": 6, "parts": 2}, 422, "key_invalid"),
        ({"order": {"id": "A"}, "amount": 6, "parts": 2}, 422, "key_invalid"),
        ([], 422, "key_missing"),
        ({"order": "B", "amount": 6, "parts": 2}, 404, "no_receiver"),
    ],
)
async def test_a_delivery_without_a_key_reaches_nobody(door: Any, body: Any, status: int, code: str) -> None:
    run = await started(door)
    answer = await door.stranger.post("/hooks/settled", json=body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert code != "key_missing" or answer.json()["place"] == "messages.settled"
    assert await unread(door, run) == []


async def test_the_answer_to_a_webhook_says_who_has_the_message(door: Any) -> None:
    run = await started(door)
    body = {"order": "A", "amount": 6, "parts": 2}
    for _ in range(2):
        answer = await door.stranger.post("/hooks/settled", json=body, headers={"Idempotency-Key": "evt-1"})
        assert (answer.status_code, answer.json()["delivered"]) == (202, [run])
    ignored = await door.stranger.post("/hooks/settled", json={**body, "type": "test"})
    assert (ignored.status_code, ignored.json()) == (200, {"ignored": True})
    assert await unread(door, run) == ["settled"]


# -- runs that receive nothing --------------------------------------------------------------------------------------------


async def test_an_ended_and_an_erased_run_receive_nothing(door: Any) -> None:
    run = await started(door)
    assert await unread(door, run) == []
    late = await door.ask.post(f"/runs/{run}/messages/note", json=1)
    assert (late.status_code, late.json()["code"]) == (410, "run_ended")
    assert (await door.ask.delete(f"/runs/{run}")).status_code in (200, 202, 204)
    gone = await door.ask.post(f"/runs/{run}/messages/note", json=1)
    assert (gone.status_code, gone.json()["code"]) == (410, "run_ended")


# -- roles ----------------------------------------------------------------------------------------------------------------

OPEN = ("/health", "/hooks/", "/openapi.json", "/docs", "/resume/", "/console", "/auth", "/runs/{run_id}/view")


async def test_the_role_send_opens_two_routes(door: Any) -> None:
    run = await started(door)
    made = (await door.ask.post("/keys", json={"name": "shop", "roles": ["send"]})).json()
    headers = {"Authorization": f"Bearer {made['secret']}", **JSON}
    paths = json.loads((await door.ask.get("/openapi.json")).content)["paths"]
    allowed = set()
    for path, operations in paths.items():
        for method in operations:
            if path.startswith(OPEN) or method not in ("get", "put", "post", "patch", "delete"):
                continue
            real = path.replace("{run_id}", run).replace("{workflow_id}", "order").replace("{name}", "note")
            answer = await door.ask.request(method, real.replace("{", "").replace("}", ""), headers=headers, content=b"{}")
            if answer.status_code != 403:
                allowed.add((method, path))
            else:
                assert answer.json()["code"] == "role_missing"
    messages = {("post", "/workflows/{workflow_id}/messages/{name}"), ("post", "/runs/{run_id}/messages/{name}")}
    assert allowed == messages
