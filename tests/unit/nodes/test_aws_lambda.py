"""`lambda` and `aws` over a fake of the port: answers, failures, and a function that calls back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from stepless.adapters.memory.secrets import MemorySecrets
from stepless.errors import DocumentRefused
from stepless.model.work import NodeFailure
from stepless.ports import Misfit, OpenStore
from stepless.runtime.wiring.local import Local, local
from stepless.runtime.wiring.single_run import serving


class FakeAws:
    """Answers with what it is given, in order, and keeps what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, str, Mapping[str, Any]]] = []

    def check(self, service: str, action: str, params: Mapping[str, Any]) -> Sequence[Misfit]:
        return [] if service != "sqz" else [Misfit("service", "there is no service `sqz`")]

    async def call(self, service: str, action: str, params: Mapping[str, Any], *, token: str, timeout_ms: int) -> Any:
        self.asked.append((service, action, params))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def engine(aws: FakeAws, **node: Any) -> tuple[Local, str]:
    built = local(None, secrets=MemorySecrets(), aws=aws)
    after = {"type": "transform", "after": "n", "with": {"value": "<n>"}}
    built.service.publish({"id": "w", "nodes": {"n": node, "after": after}})
    return built, built.service.start("w", {}).run_id


async def until(built: Local, run_id: str, *statuses: str) -> Any:
    changed = asyncio.Event()
    built.host.on_ending = lambda _: changed.set()
    async with serving(built, run_id), asyncio.timeout(10):
        while (view := built.service.run(run_id)).status not in statuses:
            await changed.wait()
            changed.clear()
    return view


def test_a_function_is_invoked_with_its_payload_and_its_answer_put_out() -> None:
    aws = FakeAws({"StatusCode": 200, "Payload": '{"sum": 3}'})
    built, run_id = engine(aws, type="lambda", **{"with": {"function": "add", "payload": {"a": 1}}})
    view = asyncio.run(until(built, run_id, "completed"))
    assert view.outputs == {"after": {"sum": 3}}
    assert aws.asked == [("lambda", "Invoke", {"FunctionName": "add", "Payload": '{"a":1}'})]


@pytest.mark.parametrize(("answer", "code"), [
    ({"FunctionError": "Unhandled", "Payload": '{"errorType": "KeyError", "errorMessage": "no x"}'}, "lambda_failed"),
    ({"FunctionError": "Unhandled", "Payload": '"gone"'}, "lambda_failed"),
    ({"Payload": "not json"}, "result_not_json"),
    (NodeFailure("http_error", "aws_access_denied", "no", retryable=False), "aws_access_denied"),
])
def test_a_function_that_fails_fails_the_node(answer: Any, code: str) -> None:
    built, run_id = engine(FakeAws(answer), type="lambda", **{"with": {"function": "add"}})
    assert asyncio.run(until(built, run_id, "failed")).nodes["n"].code == code


def test_a_function_that_calls_back_holds_the_token_of_its_own_pause() -> None:
    aws = FakeAws({"StatusCode": 202})
    params = {"function": "slow", "payload": 7, "mode": "callback", "timeout": "1h"}
    built, run_id = engine(aws, type="lambda", **{"with": params})
    view = asyncio.run(until(built, run_id, "paused"))
    assert view.pauses[0].deadline_ms is not None
    _, _, asked = aws.asked[0]
    event = json.loads(asked["Payload"])
    assert (asked["InvocationType"], event["input"]) == ("Event", 7)
    assert event["resume"]["token"] in event["resume"]["url"]
    assert event["resume"]["token"] not in repr(built.service.events(run_id))
    again = local_again(built)
    again.service.answer(event["resume"]["token"], None, {"done": True})
    assert asyncio.run(until(again, run_id, "completed")).outputs == {"after": {"done": True}}


def local_again(built: Local) -> Local:
    """Another process over the same store: a host is not served twice."""
    from stepless.runtime.wiring.local import assemble

    return assemble(OpenStore(built.world.store, built.world.blobs), 60_000, built.world.secrets)


def test_publishing_asks_the_services_model_and_a_run_calls_the_operation() -> None:
    aws = FakeAws({"MessageId": "m1"})
    with pytest.raises(DocumentRefused, match="aws_params"):
        engine(aws, type="aws", **{"with": {"service": "sqz", "action": "Send"}})
    params = {"service": "sqs", "action": "SendMessage", "params": {"MessageBody": "<run.id>"}}
    built, run_id = engine(aws, type="aws", **{"with": params})
    assert asyncio.run(until(built, run_id, "completed")).outputs == {"after": {"MessageId": "m1"}}
    assert aws.asked == [("sqs", "SendMessage", {"MessageBody": run_id})]


def test_throttling_is_tried_again() -> None:
    aws = FakeAws(NodeFailure("rate_limit", "aws_throttling", "slower"), {"ok": 1})
    params = {"service": "sqs", "action": "ListQueues"}
    built, run_id = engine(aws, type="aws", retry={"attempts": 2, "backoff_ms": 1}, **{"with": params})
    assert asyncio.run(until(built, run_id, "completed")).nodes["n"].attempts == 2


def test_a_time_limit_for_a_callback_has_no_place_where_nobody_calls_back(findings: Any) -> None:
    assert findings("lambda", function="f", timeout="1h") == [("contradiction", ".timeout", "error")]
