"""What starts runs besides requests, and author code, in Lambda's own runtime."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from lambda_stack import TRIGGER_QUEUE, Stack, sample

Ask = Callable[..., tuple[int, Any]]


def publish(api: Ask, workflow_id: str, nodes: dict[str, Any]) -> tuple[int, Any]:
    event = sample("api-publish")
    event["rawPath"] = event["requestContext"]["http"]["path"] = f"/workflows/{workflow_id}"
    event["body"] = json.dumps({"id": workflow_id, "nodes": nodes})
    return api(event)


def entry(kind: str, **given: Any) -> dict[str, Any]:
    return {"got": {"type": kind, "with": given}, "mark": {"type": "transform", "after": "got", "with": {"value": "<got>"}}}


def schedules(stack: Stack, workflow_id: str) -> list[Any]:
    scheduler = stack.service("scheduler")
    listed = scheduler.list_schedules(GroupName="schedules")["Schedules"]
    found = [scheduler.get_schedule(GroupName="schedules", Name=one["Name"]) for one in listed]
    return [one for one in found if json.loads(one["Target"]["Input"])["stepless.schedule"]["workflow"] == workflow_id]


def started(stack: Stack) -> list[str]:
    """The runs that were asked for since the last time."""
    return [message["run"] for message in stack.messages() if message["reason"] == "start"]


def inputs(stack: Stack, api: Ask, run_id: str) -> Any:
    event = sample("api-events")
    event["rawPath"] = event["requestContext"]["http"]["path"] = f"/runs/{run_id}"
    return api(event)[1]["inputs"]


def test_a_schedule_is_made_at_publication_changed_and_removed(stack: Stack, api: Ask) -> None:
    assert publish(api, "hourly", {"tick": {"type": "schedule", "with": {"rate": "1h", "timezone": "Europe/Berlin"}}})[0] == 201
    [made] = schedules(stack, "hourly")
    assert (made["ScheduleExpression"], made["ScheduleExpressionTimezone"]) == ("rate(1 hour)", "Europe/Berlin")
    assert made["Target"]["Arn"] == TRIGGER_QUEUE
    firing = {"workflow": "hourly", "node": "tick", "at": "<aws.scheduler.scheduled-time>"}
    assert json.loads(made["Target"]["Input"]) == {"stepless.schedule": firing}
    publish(api, "hourly", {"tick": {"type": "schedule", "with": {"cron": "30 9 * * 1-5"}}})
    assert [one["ScheduleExpression"] for one in schedules(stack, "hourly")] == ["cron(30 9 ? * 2-6 *)"]
    publish(api, "hourly", {"tick": {"type": "manual"}})
    assert schedules(stack, "hourly") == []


def test_the_firings_of_the_sample_start_one_run(stack: Stack, api: Ask) -> None:
    nodes = {"every-night": {"type": "schedule", "with": {"cron": "30 2 * * ? *"}}, "other": {"type": "manual"}}
    assert publish(api, "nightly-report", nodes)[0] == 201
    stack.messages()
    trigger = stack.function("trigger")
    for _ in range(2):
        answer = trigger.invoke(sample("trigger-schedule"))
        assert (answer.error, answer.value) == (None, {"batchItemFailures": []})
    [run_id] = started(stack)
    assert inputs(stack, api, run_id) == {"scheduled_at": "2026-11-21T02:30:00.000Z", "node": "every-night"}


def test_an_event_starts_the_workflow_that_listens_once_and_what_is_none_comes_again(stack: Stack, api: Ask) -> None:
    publish(api, "large-orders", entry("event", pattern={"detail": {"total": [{"numeric": [">", 100]}]}}))
    publish(api, "small-orders", entry("event", pattern={"detail": {"total": [{"numeric": ["<", 100]}]}}))
    stack.messages()
    event, trigger = sample("trigger-event"), stack.function("trigger")
    for _ in range(2):
        answer = trigger.invoke(event)
        assert answer.error is None
        assert answer.value == {"batchItemFailures": [{"itemIdentifier": event["Records"][1]["messageId"]}]}
    [run_id] = started(stack)
    assert inputs(stack, api, run_id)["detail"]["order_id"] == "o-1017"


def test_an_event_is_a_message_for_the_run_of_its_key(stack: Stack, api: Ask) -> None:
    """Once, however often it is delivered. One without a key comes again, until it is a dead letter."""
    source = {"event": {"source": ["shop.payments"]}, "key": "<event.detail.order>"}
    nodes = {"order": {"type": "manual"}, "paid": {"type": "receive", "after": "order", "with": {"message": "payment"}}}
    asked = sample("api-publish")
    asked["rawPath"] = asked["requestContext"]["http"]["path"] = "/workflows/paid-orders"
    document = {"id": "paid-orders", "key": "<input.id>", "messages": {"payment": source}, "nodes": nodes}
    asked["body"] = json.dumps(document)
    assert api(asked)[0] == 201
    asked["requestContext"]["http"]["method"], asked["body"] = "POST", json.dumps({"inputs": {"id": "A-1"}})
    asked["rawPath"] = asked["requestContext"]["http"]["path"] = "/workflows/paid-orders/runs"
    run_id = api(asked)[1]["run_id"]
    stack.messages()
    events, trigger = sample("trigger-event"), stack.function("trigger")
    event = {**json.loads(events["Records"][0]["body"]), "source": "shop.payments", "detail-type": "Payment Received"}
    for record, detail in zip(events["Records"], ({"order": "A-1"}, {}), strict=True):
        record["body"] = json.dumps({**event, "id": record["messageId"], "detail": detail})
    for _ in range(2):
        answer = trigger.invoke(events)
        assert answer.error is None
        assert answer.value == {"batchItemFailures": [{"itemIdentifier": events["Records"][1]["messageId"]}]}
    assert {(message["run"], message["reason"]) for message in stack.messages()} == {(run_id, "signal")}


def test_an_object_in_a_bucket_and_messages_of_a_foreign_queue_are_events(stack: Stack, api: Ask) -> None:
    publish(api, "uploads", entry("event", pattern={"detail": {"s3": {"object": {"key": [{"suffix": ".pdf"}]}}}}))
    publish(api, "invoices", entry("event", pattern={"source": ["aws.sqs"], "detail": {"body": {"amount": [{"exists": True}]}}}))
    stack.messages()
    trigger = stack.function("trigger")
    assert trigger.invoke(sample("trigger-s3")).error is None
    [uploaded] = started(stack)
    assert inputs(stack, api, uploaded)["detail"]["s3"]["object"]["key"] == "in/2026-11.pdf"
    assert trigger.invoke(sample("trigger-sqs")).value == {"batchItemFailures": []}
    [invoiced] = started(stack)
    assert inputs(stack, api, invoiced)["detail"]["body"] == {"invoice": "i-2041", "amount": 88}


def test_the_sandbox_runs_its_sample_in_a_process_of_its_own(stack: Stack) -> None:
    sandbox = stack.function("sandbox", {"STEPLESS_CODE_UNSAFE": "1"})
    assert sandbox.invoke(sample("sandbox")).value == {"value": {"mean": 3}, "printed": "counting\n"}
    secret = {**sample("sandbox"), "code": "import sys\ndef main(args):\n  return dict(sys.modules['os'].environ)\n"}
    assert set(sandbox.invoke(secret).value["value"]) <= {"LC_CTYPE"}
    endless = {**sample("sandbox"), "code": "def main(args):\n  while True: pass\n", "timeout_ms": 500}
    assert sandbox.invoke(endless).value["error"]["code"] == "code_timeout"
    greedy = {**sample("sandbox"), "code": "def main(args): return 'x' * (1 << 30)\n"}
    assert sandbox.invoke(greedy).value["error"]["code"] == "code_memory"
