"""Webhooks for the requests that senders make: bodies of any kind, methods, addresses, and checks of the address."""

from __future__ import annotations

import hmac
import json
from base64 import b64decode, b64encode
from typing import Any

import pytest

from stepless.limits import MAX_INPUT_BYTES
from stepless.nodes.entries.webhook import Signed
from stepless.runtime.triggers.signing import signed_headers

pytestmark = pytest.mark.anyio
PNG = bytes(range(256))
ORIGIN = "https://app.example.com"


def hooked(value: Any = "<hook>", auth: Any = "none", **more: Any) -> dict[str, Any]:
    """A workflow behind /hooks/in, whose output is `value`."""
    nodes = {
        "hook": {"type": "webhook", "with": {"path": "/in", "auth": auth, **more}},
        "got": {"type": "transform", "after": "hook", "with": {"value": value}},
    }
    return {"id": "hooked", "env": ["HOOK_SECRET"], "nodes": nodes}


async def got(door: Any, path: str = "/hooks/in", **request: Any) -> Any:
    answer = await door.stranger.post(path, **request)
    assert answer.status_code == 202, answer.text
    return (await door.end(answer.json()["run_id"]))["outputs"]["got"]


async def inputs(door: Any, **request: Any) -> dict[str, Any]:
    answer = await door.stranger.post("/hooks/in", **request)
    assert answer.status_code == 202, answer.text
    return door.local.service.run(answer.json()["run_id"]).inputs  # type: ignore[no-any-return]


# -- bodies -----------------------------------------------------------------------------------------------------------


async def test_a_body_that_is_no_text_arrives_whole_as_base64(door: Any) -> None:
    await door.publish(hooked())
    seen = await got(door, content=PNG, headers={"content-type": "image/png"})
    assert (b64decode(seen["body"]), b64decode(seen["raw"]), seen["charset"]) == (PNG, PNG, None)
    assert (seen["encoding"], seen["raw_body"]) == ("base64", None)


async def test_the_raw_body_is_the_bytes_that_were_signed(door: Any) -> None:
    read = {"raw": "<hook.raw>", "text": "<hook.raw_body>"}
    await door.publish(hooked(read, {"hmac": "${HOOK_SECRET}", "template": "{body}"}))
    body = b'{"id": 820982911946154508, "price": 20.00,\r\n "note": "caf\\u00e9"}'
    mac = hmac.digest(door.HOOK_SECRET.encode(), body, "sha256").hex()
    seen = await got(door, content=body, headers={"content-type": "application/json", "x-signature": mac})
    assert (b64decode(seen["raw"]), seen["text"].encode()) == (body, body)


@pytest.mark.parametrize(("value", "extra"), [
    ("<hook.body.order>", set()), ("<hook>", {"raw", "raw_body", "form"}), ("<hook.raw>", {"raw"}),
    ("{{ len(<hook.form>) }}", {"form"}), ("<hook.raw_body>", {"raw_body"}), ("<inputs.input.raw>", {"raw"}),
    ("<inputs>", {"raw", "raw_body", "form"}), ("<hook.query>", set()),
])  # fmt: skip
async def test_a_run_keeps_the_raw_body_and_the_form_only_if_the_workflow_reads_them(
    door: Any, value: str, extra: set[str]
) -> None:
    await door.publish(hooked(value))
    kept = await inputs(door, content=b"a=1&b=2&b=3", headers={"content-type": "application/x-www-form-urlencoded"})
    assert {*kept} == {"body", "headers", "query", "path", "charset"} | extra
    assert "form" not in extra or kept["form"] == {"a": "1", "b": ["2", "3"]}


async def test_a_raw_body_that_does_not_fit_beside_the_body_is_null_unless_it_is_named(door: Any) -> None:
    body = json.dumps({"text": "x" * (MAX_INPUT_BYTES // 2)}).encode()
    await door.publish(hooked())
    assert (await inputs(door, content=body))["raw"] is None
    await door.publish(hooked("<hook.raw>"))
    answer = await door.stranger.post("/hooks/in", content=body)
    assert (answer.status_code, answer.json()["code"]) == (413, "inputs_too_large")
    assert b64decode((await inputs(door, content=body[: len(body) // 2], headers={"content-type": "text/plain"}))["raw"])


async def test_the_secret_of_a_webhook_is_masked_in_its_form_and_raw_body(door: Any) -> None:
    await door.publish(hooked(auth={"bearer": "${HOOK_SECRET}"}))
    headers = {"content-type": "application/x-www-form-urlencoded", "authorization": f"Bearer {door.HOOK_SECRET}"}
    kept = json.dumps(await inputs(door, content=f"a={door.HOOK_SECRET}&b=1", headers=headers))
    assert door.HOOK_SECRET not in kept and b64encode(f"a={door.HOOK_SECRET}&b=1".encode()).decode() not in kept


async def test_a_field_of_the_query_that_comes_twice_is_a_list(door: Any) -> None:
    await door.publish(hooked("<hook.query>"))
    assert await got(door, "/hooks/in?tag=a&tag=b&x=&q=%FF", json={}) == {"tag": ["a", "b"], "x": "", "q": "ÿ"}


# -- methods and addresses --------------------------------------------------------------------------------------------


async def test_head_is_served_where_it_is_declared_and_its_answer_has_no_body(door: Any) -> None:
    await door.publish(hooked(method=["HEAD", "GET"], response="wait"))
    answer = await door.stranger.head("/hooks/in?a=1")
    assert (answer.status_code, answer.content) == (200, b"")
    assert len((await door.ask.get("/runs")).json()["runs"]) == 1


async def test_a_405_and_options_name_the_methods_of_this_webhook(door: Any) -> None:
    await door.publish(hooked(method=["PUT", "POST"]))
    for method in ("HEAD", "GET", "PATCH", "DELETE"):
        answer = await door.stranger.request(method, "/hooks/in")
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST, PUT"), method
    answer = await door.stranger.options("/hooks/in")
    assert (answer.status_code, answer.headers["allow"], answer.content) == (204, "POST, PUT, OPTIONS", b"")
    assert (await door.stranger.options("/hooks/none")).status_code == 404
    assert (await door.ask.get("/runs")).json()["runs"] == []


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
async def test_a_page_of_an_allowed_origin_may_call_a_webhook_by_each_method(make_door: Any, method: str) -> None:
    door = await make_door(cors_origins=[ORIGIN])
    await door.publish(hooked())
    asked = {"origin": ORIGIN, "access-control-request-method": method, "access-control-request-headers": "content-type"}
    answer = await door.stranger.options("/hooks/in", headers=asked)
    assert answer.status_code == 200 and method in answer.headers["access-control-allow-methods"]
    other = await door.stranger.options("/hooks/in", headers={**asked, "origin": "https://evil.example.com"})
    assert "access-control-allow-origin" not in other.headers


async def test_such_a_page_may_send_a_signature_and_read_which_run_it_started(make_door: Any) -> None:
    door = await make_door(cors_origins=[ORIGIN])
    await door.publish(hooked(response="wait"))
    asked = {"origin": ORIGIN, "access-control-request-method": "POST", "access-control-request-headers": "x-signature"}
    assert (await door.stranger.options("/hooks/in", headers=asked)).status_code == 200
    refused = await door.stranger.options("/runs", headers=asked)
    assert refused.status_code == 400, "the other routes take no such header"
    answer = await door.stranger.post("/hooks/in", json={}, headers={"origin": ORIGIN})
    assert "stepless-run" in answer.headers["access-control-expose-headers"].lower()


async def test_a_slash_at_the_end_is_accepted(door: Any) -> None:
    await door.publish(hooked("<hook.path>"))
    assert await got(door, "/hooks/in/", json={}) == "/in"


@pytest.mark.parametrize("path", ["/hooks//in", "/hooks/in//", "/hooks/IN", "/hooks/in%2F", "/hooks/%2Fin"])
async def test_a_path_that_is_almost_right_is_told_the_right_one(door: Any, path: str) -> None:
    await door.publish(hooked())
    answer = await door.stranger.post(path, json={})
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_hook")
    assert "`/hooks/in`" in answer.json()["mend"]


# -- senders ----------------------------------------------------------------------------------------------------------


def signed(door: Any, scheme: str, body: bytes, url: str = "", **more: Any) -> dict[str, str]:
    auth = Signed.model_validate({"scheme": scheme, "secret": "x"})
    now_ms = door.local.world.clock.now_ms()
    return signed_headers(auth, body, now_ms, secret=door.HOOK_SECRET, url=url, **more) | {"content-type": "application/json"}


async def test_slack_and_zoom_are_answered_when_they_check_the_address(door: Any) -> None:
    await door.publish(hooked(auth={"scheme": "slack", "secret": "${HOOK_SECRET}"}))
    body = b'{"type": "url_verification", "challenge": "3eZbrw1aB"}'
    answer = await door.stranger.post("/hooks/in", content=body, headers=signed(door, "slack", body))
    assert (answer.status_code, answer.json()) == (200, {"challenge": "3eZbrw1aB"})
    assert (await door.stranger.post("/hooks/in", content=body)).status_code == 401, "only with a signature"

    await door.publish(hooked(auth={"scheme": "zoom", "secret": ["${HOOK_SECRET}"]}))
    body = b'{"event": "endpoint.url_validation", "payload": {"plainToken": "qgg8vlvZRS6UYooatFL8Aw"}}'
    answer = await door.stranger.post("/hooks/in", content=body, headers=signed(door, "zoom", body))
    mac = hmac.digest(door.HOOK_SECRET.encode(), b"qgg8vlvZRS6UYooatFL8Aw", "sha256").hex()
    assert (answer.status_code, answer.json()) == (200, {"plainToken": "qgg8vlvZRS6UYooatFL8Aw", "encryptedToken": mac})
    assert (await door.stranger.post("/hooks/in", content=body)).status_code == 401
    assert (await door.ask.get("/runs")).json()["runs"] == []


async def test_trello_is_answered_when_it_checks_the_address(door: Any) -> None:
    await door.publish(hooked(auth={"scheme": "trello", "secret": "${HOOK_SECRET}"}))
    assert (await door.stranger.head("/hooks/in")).status_code == 200
    assert (await door.stranger.post("/hooks/in", json={})).status_code == 401
    assert (await door.ask.get("/runs")).json()["runs"] == []


async def test_an_event_of_these_senders_starts_a_run_and_a_repeated_one_none(door: Any) -> None:
    for scheme, body in (("slack", b'{"type": "event_callback", "event_id": "Ev1"}'), ("trello", b'{"action": {"id": "a1"}}')):
        await door.publish(hooked(auth={"scheme": scheme, "secret": "${HOOK_SECRET}"}))
        url = str(door.stranger.base_url.join("/hooks/in"))
        calls = [
            await door.stranger.post("/hooks/in", content=body, headers=signed(door, scheme, body, url) | {"x-try": str(number)})
            for number in range(2)
        ]
        assert [call.status_code for call in calls] == [202, 200], scheme


@pytest.mark.parametrize("path", ["/hooks/in?a=1&b=%C3%BC", "/hooks/in"])
async def test_a_signed_address_is_that_of_the_deployment_behind_a_proxy(make_door: Any, path: str) -> None:
    door = await make_door(base_url="https://flows.example.com/")
    await door.publish(hooked(auth={"scheme": "twilio", "secret": "${HOOK_SECRET}"}))
    form = {"content-type": "application/x-www-form-urlencoded"}
    for url, status in ((f"https://flows.example.com{path}", 202), (f"http://testserver{path}", 401)):
        headers = signed(door, "twilio", b"From=1&Body=x", url, content_type=form["content-type"]) | form
        answer = await door.stranger.post(path, content=b"From=1&Body=x", headers=headers)
        assert answer.status_code == status, url


async def test_a_webhook_may_name_the_address_that_its_sender_calls(door: Any) -> None:
    url = "https://tunnel.example.com/hooks/in"
    await door.publish(hooked(auth={"scheme": "trello", "secret": "${HOOK_SECRET}", "url": url}))
    answer = await door.stranger.post("/hooks/in", content=b"{}", headers=signed(door, "trello", b"{}", url))
    assert answer.status_code == 202
