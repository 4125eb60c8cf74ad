"""Repetitions of a delivery: of a run that ended without success they are reruns, of any other they get its answer."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
from collections import Counter
from typing import Any

import pytest

from stepless.limits import MAX_DELIVERY_RERUNS
from stepless.model.work import NodeFailure
from stepless.nodes.function import function
from stepless.runtime.triggers.signatures import sign

pytestmark = pytest.mark.anyio
BODY = b'{"id": "evt_1", "n": 1}'
SECRET = "whsec_" + base64.b64encode(b"0123456789abcdef0123456789abcdef").decode()

called: Counter[str] = Counter()
failing: set[str] = set()


@function("retries.step")
def step(name: str) -> str:
    called[name] += 1
    if name in failing:
        raise NodeFailure("http_error", "down", "the service is down", retryable=False)
    return name


@pytest.fixture(autouse=True)
def clean() -> None:
    called.clear()
    failing.clear()


def hooked(auth: Any, response: str, **more: Any) -> dict[str, Any]:
    def steps(name: str, after: str) -> dict[str, Any]:
        return {"type": "function", "after": after, "with": {"call": "retries.step", "args": {"name": name}}}

    nodes = {
        "hook": {"type": "webhook", "with": {"path": "/retried", "auth": auth, "response": response}},
        "first": steps("first", "hook"), "second": steps("second", "first"),
        "answer": {"type": "respond", "after": "second", "with": {"body": {"ok": "<second>"}}},
    }  # fmt: skip
    return {"id": "retried", "env": ["HOOK_SECRET"], "nodes": nodes, **more}


def mac(secret: str, text: bytes) -> str:
    return hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()


def headers(door: Any, scheme: str) -> dict[str, str]:
    now_ms = door.local.world.clock.now_ms()
    match scheme:
        case "github":
            return {"x-github-delivery": "d-1", "x-hub-signature-256": f"sha256={mac(door.HOOK_SECRET, BODY)}"}
        case "stripe":
            return {"stripe-signature": sign(door.HOOK_SECRET, BODY, now_ms)}
        case "hmac":
            return {"x-signature": door.signed}
        case "standard":
            seconds = str(now_ms // 1000)
            signed = hmac.new(b"0123456789abcdef0123456789abcdef", f"msg_1.{seconds}.".encode() + BODY, hashlib.sha256).digest()
            signature = f"v1,{base64.b64encode(signed).decode()}"
            return {"webhook-id": "msg_1", "webhook-timestamp": seconds, "webhook-signature": signature}
    return {"idempotency-key": "k-1"}


async def deliver(door: Any, scheme: str) -> Any:
    given = {"content-type": "application/json", **headers(door, scheme)}
    return await door.stranger.post("/hooks/retried", content=BODY, headers=given)


async def publish(door: Any, scheme: str, response: str, **more: Any) -> None:
    secret = SECRET if scheme == "standard" else "${HOOK_SECRET}"
    auth = "none" if scheme == "key" else {"scheme": scheme, "secret": secret}
    await door.publish(hooked(auth, response, **more))
    door.signed = sign(door.HOOK_SECRET, BODY, door.local.world.clock.now_ms())


@pytest.mark.parametrize("scheme", ["github", "stripe", "standard", "hmac", "key"])
async def test_the_retry_of_a_failed_delivery_is_a_rerun_from_what_failed(door: Any, scheme: str) -> None:
    await publish(door, scheme, "wait")
    failing.add("second")
    answer = await deliver(door, scheme)
    assert (answer.status_code, answer.json()["code"]) == (500, "run_failed")
    first = answer.json()["run_id"]
    await door.end(first)
    failing.clear()
    retried = await deliver(door, scheme)
    assert (retried.status_code, json.loads(retried.content)) == (200, {"ok": "second"})
    again = await deliver(door, scheme)
    assert (again.status_code, again.headers["stepless-run"]) == (200, retried.headers["stepless-run"])
    assert called == {"first": 1, "second": 2}
    rerun = (await door.ask.get(f"/runs/{retried.headers['stepless-run']}")).json()["rerun"]
    assert (rerun["of"], rerun["from"]) == (first, "failed")


async def test_without_waiting_a_retry_names_the_new_run(door: Any) -> None:
    await publish(door, "key", "async")
    failing.add("second")
    runs = []
    for _ in range(2):
        answer = await deliver(door, "key")
        assert answer.status_code == 202
        runs.append(answer.json()["run_id"])
        await door.end(runs[-1])
    assert len(set(runs)) == 2


async def test_a_delivery_is_rerun_eight_times_at_most(door: Any) -> None:
    await publish(door, "github", "wait")
    failing.add("second")
    answers = []
    for _ in range(MAX_DELIVERY_RERUNS + 3):
        answers.append(await deliver(door, "github"))
        await door.end(answers[-1].json()["run_id"])
    assert {answer.status_code for answer in answers} == {500}
    assert called == {"first": 1, "second": 1 + MAX_DELIVERY_RERUNS}
    assert len({answer.json()["run_id"] for answer in answers}) == 1 + MAX_DELIVERY_RERUNS == 9


async def test_of_concurrent_retries_one_starts_the_rerun_and_the_others_join_it(door: Any) -> None:
    await publish(door, "standard", "wait")
    failing.add("second")
    await door.end((await deliver(door, "standard")).json()["run_id"])
    failing.clear()
    answers = await asyncio.gather(*(deliver(door, "standard") for _ in range(10)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.headers["stepless-run"] for answer in answers}) == 1
    assert called == {"first": 1, "second": 2}


async def test_a_retry_of_a_cancelled_run_is_a_rerun(door: Any) -> None:
    await publish(door, "key", "async")
    document = hooked("none", "async")
    document["nodes"]["ask"] = {"type": "approval", "after": "first", "with": {"message": "Go on?"}}
    document["nodes"]["second"]["after"] = "ask.approved"
    await door.publish(document)
    first = (await deliver(door, "key")).json()["run_id"]
    await door.ask.post(f"/runs/{first}/cancel", json={})
    await door.end(first)
    second = (await deliver(door, "key")).json()
    assert second["run_id"] != first
    assert (await deliver(door, "key")).json()["run_id"] == second["run_id"]  # it goes on: the repetition joins it


async def test_a_start_with_a_key_is_not_rerun(door: Any) -> None:
    """The key of a start stands for one run, however it ended."""
    node = {"type": "function", "with": {"call": "retries.step", "args": {"name": "s"}}}
    await door.publish({"id": "once", "nodes": {"s": node}})
    failing.add("s")
    runs = []
    for _ in range(2):
        answer = await door.ask.post("/workflows/once/runs", json={"inputs": {}}, headers={"idempotency-key": "k"})
        runs.append(answer.json()["run_id"])
        await door.end(runs[-1])
    assert (len(set(runs)), called) == (1, {"s": 1})
