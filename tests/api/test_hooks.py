from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from stepless.limits import MAX_REQUEST_BYTES
from stepless.runtime.triggers.signatures import sign

pytestmark = pytest.mark.anyio


def hooked(auth: Any = "none", *, response: str = "async", nodes: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A workflow behind /hooks/in."""
    params = {"path": "/in", "auth": auth, "response": response, **more}
    got = {"type": "transform", "after": "hook", "with": {"value": "<hook>"}}
    return {
        "id": "hooked",
        "env": ["HOOK_SECRET"],
        "nodes": {"hook": {"type": "webhook", "with": params}, **(nodes or {"got": got})},
    }


SIGNED = hooked({"hmac": "${HOOK_SECRET}"})
BODY = b'{"order": 7}'


def signature(door: Any, body: bytes = BODY, *, ago_s: int = 0) -> dict[str, str]:
    return {
        "x-signature": sign(door.HOOK_SECRET, body, door.local.world.clock.now_ms() - ago_s * 1000),
        "content-type": "application/json",
    }


async def test_a_hook_needs_no_api_key_and_passes_on_what_came(door: Any) -> None:
    await door.publish(hooked())
    answer = await door.stranger.post("/hooks/in?a=1", json={"order": 7}, headers={"x-event": "paid", "cookie": "c=1"})
    assert (answer.status_code, answer.json()["workflow"]) == (202, "hooked")
    payload = (await door.end(answer.json()["run_id"]))["outputs"]["got"]
    assert (payload["body"], payload["query"], payload["path"]) == ({"order": 7}, {"a": "1"}, "/in")
    assert payload["headers"]["x-event"] == "paid" and "cookie" not in payload["headers"]


async def test_a_signature_over_the_raw_body_opens_the_hook(door: Any) -> None:
    await door.publish(SIGNED)
    answer = await door.stranger.post("/hooks/in", content=BODY, headers=signature(door))
    assert answer.status_code == 202
    assert "x-signature" not in (await door.end(answer.json()["run_id"]))["outputs"]["got"]["headers"]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda headers: {}, "bad_signature"),
        (lambda headers: {"x-signature": "nonsense"}, "bad_signature"),
        (lambda headers: {"x-signature": headers["x-signature"][:-1] + "x"}, "bad_signature"),
        (lambda headers: {"x-signature": headers["x-signature"].replace("t=", "t=1")}, "bad_signature"),
        (lambda headers: {"x-signature": headers["x-signature"].split(",")[0]}, "bad_signature"),
    ],
    ids=["none", "malformed", "altered", "other time", "no digest"],
)
async def test_a_bad_signature_starts_nothing_and_says_little(door: Any, change: Any, code: str) -> None:
    await door.publish(SIGNED)
    answer = await door.stranger.post("/hooks/in", content=BODY, headers=change(signature(door)))
    assert (answer.status_code, answer.json()["code"]) == (401, code)
    assert answer.headers["www-authenticate"] and door.HOOK_SECRET not in answer.text
    assert (await door.ask.get("/runs")).json()["runs"] == []


async def test_another_body_does_not_fit_the_signature(door: Any) -> None:
    await door.publish(SIGNED)
    answer = await door.stranger.post("/hooks/in", content=BODY + b" ", headers=signature(door))
    assert (answer.status_code, answer.json()["code"]) == (401, "bad_signature")


@pytest.mark.parametrize("ago_s", [301, -301])
async def test_a_stale_signature_is_refused(door: Any, ago_s: int) -> None:
    await door.publish(SIGNED)
    answer = await door.stranger.post("/hooks/in", content=BODY, headers=signature(door, ago_s=ago_s))
    assert (answer.status_code, answer.json()["code"]) == (401, "stale_signature")


async def test_of_twenty_replays_at_once_one_starts_a_run(door: Any) -> None:
    await door.publish(SIGNED)
    headers = signature(door)
    answers = await asyncio.gather(*(door.stranger.post("/hooks/in", content=BODY, headers=headers) for _ in range(20)))
    assert sorted(answer.status_code for answer in answers) == [200] * 19 + [202]
    assert len({answer.json()["run_id"] for answer in answers}) == 1
    assert len((await door.ask.get("/runs")).json()["runs"]) == 1


@pytest.mark.parametrize(
    ("given", "status"), [("Bearer a-shared-secret", 202), ("Bearer a-shared-secre", 401), ("a-shared-secret", 401), ("", 401)]
)
async def test_a_bearer_hook_wants_its_token(door: Any, given: str, status: int) -> None:
    await door.publish(hooked({"bearer": "${HOOK_SECRET}"}))
    answer = await door.stranger.post("/hooks/in", json={}, headers={"authorization": given})
    assert answer.status_code == status


async def test_a_hook_whose_secret_is_missing_stays_shut(door: Any) -> None:
    await door.publish({**hooked({"bearer": "${NOWHERE}"}), "env": ["NOWHERE"]})
    answer = await door.stranger.post("/hooks/in", json={}, headers={"authorization": "Bearer "})
    assert (answer.status_code, answer.json()["code"]) == (503, "secret_missing")


async def test_a_hook_takes_its_own_methods_and_names_them(door: Any) -> None:
    await door.publish(hooked(method=["PUT", "GET"]))
    assert (await door.stranger.get("/hooks/in")).status_code == 202
    answer = await door.stranger.delete("/hooks/in")
    assert (answer.status_code, answer.json()["code"], answer.headers["allow"]) == (405, "method_not_allowed", "GET, PUT")


@pytest.mark.parametrize("path", ["/hooks/none", "/hooks/in/deeper", "/hooks//in", "/hooks/in%2f", "/hooks/"])
async def test_nobody_listens_elsewhere(door: Any, path: str) -> None:
    await door.publish(hooked())
    answer = await door.stranger.post(path, json={})
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_hook")


NO_JSON = [
    b"{", b'{"a": NaN}', b"[Infinity]", b"-Infinity", b"[" * 100_000, b"[" * 97 + b"]" * 97, b'"\\ud800"', b'{"a": 1, "a": 2}',
    b'{"a": {"b": 1, "\\u0062": 2}}', b'\xef\xbb\xbf{"a": 1}', '{"a": 1}'.encode("utf-16"), '{"a": 1}'.encode("utf-16-le"),
    '{"a": 1}'.encode("utf-32"), b"1e999", b"9" * 5_000, b'"\xff"', b"'a'", b"{} {}", b'{"a": 01}', b"\x00",
]  # fmt: skip


@pytest.mark.parametrize("body", NO_JSON, ids=lambda body: ascii(body[:20]))
async def test_every_door_refuses_the_same_bodies(door: Any, body: bytes) -> None:
    await door.publish(hooked())
    await door.publish(door.ECHO)
    for kind in ("application/json", "application/cloudevents+json"):
        for path in ("/hooks/in", "/workflows/echo/runs"):
            answer = await door.ask.post(path, content=body, headers={"content-type": kind})
            assert (answer.status_code, answer.json()["code"]) == (400, "invalid_json"), path
    answer = await door.stranger.post("/hooks/in", content=body)
    assert answer.status_code == 400, "a body of no type"
    assert (await door.ask.get("/runs")).json()["runs"] == []


async def test_a_body_that_breaks_the_schema_is_refused_with_its_violations(door: Any) -> None:
    await door.publish(hooked(schema={"type": "object", "required": ["order"]}))
    answer = await door.stranger.post("/hooks/in", json={"other": 1})
    assert (answer.status_code, answer.json()["code"], len(answer.json()["violations"])) == (422, "schema_violated", 1)


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_is_counted_however_it_comes(door: Any, chunked: bool) -> None:
    await door.publish(hooked())
    sent = 0

    async def chunks() -> Any:
        nonlocal sent
        for _ in range(1000):
            sent += 10_000
            yield b"x" * 10_000

    content = chunks() if chunked else b"x" * (MAX_REQUEST_BYTES + 1)
    answer = await door.stranger.post("/hooks/in", content=content, headers={"content-type": "text/plain"})
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
    assert sent < 2 * MAX_REQUEST_BYTES  # the rest was never taken


@pytest.mark.parametrize("length", ["9" * 30, "256001"])
async def test_an_announced_length_is_believed_when_it_is_too_large(door: Any, length: str) -> None:
    await door.publish(hooked())
    answer = await door.stranger.post("/hooks/in", content=b"x", headers={"content-length": length})
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")


async def test_a_hook_with_a_key_starts_once(door: Any) -> None:
    await door.publish(hooked())
    calls = [await door.stranger.post("/hooks/in", json={"n": 1}, headers={"idempotency-key": "k"}) for _ in range(2)]
    assert [call.status_code for call in calls] == [202, 200]
    assert len({call.json()["run_id"] for call in calls}) == 1


# -- waiting for the run's own response -------------------------------------------------------------------------------


def responds(**params: Any) -> dict[str, Any]:
    return hooked(response="wait", nodes={"answer": {"type": "respond", "after": "hook", "with": params}})


async def test_a_hook_that_waits_answers_with_what_the_run_responds(door: Any) -> None:
    await door.publish(responds(status=201, headers={"x-order": 7}, body={"got": "<hook.body.order>"}))
    answer = await door.stranger.post("/hooks/in", content=BODY, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.headers["x-order"], json.loads(answer.content)) == (201, "7", {"got": 7})
    assert answer.headers["content-type"] == "application/json"


async def test_a_response_is_sent_while_the_run_goes_on(door: Any) -> None:
    document = responds(body="thanks")
    document["nodes"]["later"] = {"type": "approval", "after": "hook", "with": {"message": "And now?"}}
    await door.publish(document)
    answer = await door.stranger.post("/hooks/in", json={})
    assert (answer.status_code, answer.text, answer.headers["content-type"]) == (200, "thanks", "text/plain; charset=utf-8")
    assert (await door.ask.get("/runs")).json()["runs"][0]["status"] in ("created", "paused")


@pytest.mark.parametrize("params", [{"status": 204}, {"status": 204, "body": "x"}, {"status": 200}])
async def test_a_response_without_a_body_has_no_content_type(door: Any, params: dict[str, Any]) -> None:
    await door.publish(responds(**params))
    answer = await door.stranger.post("/hooks/in", json={})
    assert (answer.status_code, answer.content, "content-type" in answer.headers) == (params["status"], b"", False)


@pytest.mark.parametrize(
    "headers",
    [
        {"x-a": "1\r\nset-cookie: evil=1"},
        {"x\r\n-a": "1"},
        {"content-length": "5"},
        {"Transfer-Encoding": "chunked"},
        {"x-a": "日本"},
    ],
)
async def test_a_header_that_cannot_be_sent_is_not_sent(door: Any, headers: dict[str, str]) -> None:
    await door.publish(responds(headers=headers, body="x"))
    answer = await door.stranger.post("/hooks/in", json={})
    assert (answer.status_code, answer.json()["code"]) == (500, "invalid_response")
    assert "set-cookie" not in answer.headers


async def test_a_run_that_ends_without_a_response_tells_its_status_alone(door: Any) -> None:
    await door.publish(hooked(response="wait"))
    answer = await door.stranger.post("/hooks/in", json={"secret": "of the run"})
    assert (answer.status_code, answer.json()["outcome"]) == (200, {"status": "completed"})


async def test_a_run_that_fails_without_a_response_is_an_error_for_its_caller(door: Any) -> None:
    await door.publish(
        hooked(response="wait", nodes={"bad": {"type": "transform", "after": "hook", "with": {"value": "{{ 1 / 0 }}"}}})
    )
    answer = await door.stranger.post("/hooks/in", json={})
    assert (answer.status_code, answer.json()["code"]) == (500, "run_failed")
    assert answer.json()["run_id"].startswith("run_") and "1 / 0" not in answer.text


async def test_the_rate_limit_says_when_to_come_back(door: Any) -> None:
    await door.publish({**hooked(), "rate_limit": {"max": 1, "per": "1h"}})
    first, second = [await door.stranger.post("/hooks/in", json={}) for _ in range(2)]
    assert (first.status_code, second.status_code, second.json()["code"]) == (202, 429, "rate_limited")
    assert 1 <= int(second.headers["retry-after"]) <= 3600
