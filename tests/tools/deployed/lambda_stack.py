"""Runs the functions as Lambda does, over resources like those of the template."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import boto3
from lambda_host import LambdaFunction

from stepless.adapters.aws.dynamo.table.layout import create_table_arguments

ROOT = Path(__file__).resolve().parents[3]
STEPS = ROOT / "tests/functions"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}
API_KEY = "a-key-for-the-tests"
Ask = Callable[..., tuple[int, Any]]  # one request through the API function: status and body
TRIGGER_QUEUE = "arn:aws:sqs:eu-central-1:123456789012:stepless-TriggerQueue-1EXAMPLE"  # as in events/


def sample(name: str) -> Any:
    """A payload of events/, unchanged."""
    return json.loads((ROOT / "events" / f"{name}.json").read_text())


def records(run_id: str, reason: str = "start", number: int = 1, **more: Any) -> dict[str, Any]:
    """The sample of one message, for another run."""
    event = sample("runner-start")
    event["Records"] = [dict(event["Records"][0], messageId=f"message-{index}") for index in range(number)]
    for record in event["Records"]:
        record["body"] = json.dumps({"run": run_id, "reason": reason, "hops": 0, **more})
    return event


def asked(method: str, path: str, body: Any = None) -> dict[str, Any]:
    """The sample of a request, for another path."""
    event = sample("api-publish")
    event["rawPath"] = event["requestContext"]["http"]["path"] = path
    event["requestContext"]["http"]["method"] = method
    event["body"] = json.dumps(body) if body is not None else ""
    return event


def chain(ask: Ask, workflow_id: str, *steps: dict[str, Any]) -> str:
    """Publishes nodes in a row and starts a run of them."""
    nodes: dict[str, Any] = {}
    for index, step in enumerate(steps):
        after = {"after": f"n{index - 1}"} if index else {}
        nodes[f"n{index}"] = {"type": "function", "timeout_ms": step.pop("timeout_ms", 2_000), **after, "with": step}
    status, answer = ask(asked("PUT", f"/workflows/{workflow_id}", {"id": workflow_id, "nodes": nodes}))
    assert status in (200, 201), answer
    status, answer = ask(asked("POST", f"/workflows/{workflow_id}/runs", {"inputs": {}}))
    assert status == 202, answer
    return str(answer["run_id"])


def step(call: str, **args: Any) -> dict[str, Any]:
    return {"call": call, "args": args}


def status_of(ask: Ask, run_id: str) -> str:
    return str(ask(asked("GET", f"/runs/{run_id}"))[1]["status"])


class Stack:
    """Resources like those of the template: the table, the queue, the bucket and the signing keys."""

    def __init__(self, address: str, folder: Path) -> None:
        self.folder = folder
        self._services: dict[str, Any] = {}
        self._address = address
        self._functions: list[LambdaFunction] = []
        self.service("dynamodb").create_table(**create_table_arguments("runs"))
        self.service("s3").create_bucket(Bucket="blobs")
        self.service("secretsmanager").create_secret(Name="signing", SecretString=json.dumps({"first": "s" * 64}))
        self.service("scheduler").create_schedule_group(Name="schedules")
        self.queue_url = self.service("sqs").create_queue(QueueName="runs")["QueueUrl"]
        self.variables = {
            **CREDENTIALS,
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": address,
            "STEPLESS_TABLE": "runs",
            "STEPLESS_QUEUE_URL": self.queue_url,
            "STEPLESS_BUCKET": "blobs",
            "STEPLESS_SCHEDULE_GROUP": "default",
            "STEPLESS_SCHEDULE_ROLE_ARN": "arn:aws:iam::000000000000:role/timers",
            "STEPLESS_SCHEDULE_TARGET_ARN": "arn:aws:sqs:us-east-1:000000000000:runs",
            "STEPLESS_SCHEDULE_DEAD_LETTER_ARN": "arn:aws:sqs:us-east-1:000000000000:dead",
            "STEPLESS_CALENDAR_GROUP": "schedules",
            "STEPLESS_CALENDAR_ROLE_ARN": "arn:aws:iam::000000000000:role/calendar",
            "STEPLESS_TRIGGER_QUEUE_ARN": TRIGGER_QUEUE,
            "STEPLESS_TRIGGER_DEAD_LETTER_ARN": "arn:aws:sqs:us-east-1:000000000000:trigger-dead",
            "STEPLESS_SANDBOX_FUNCTION": "sandbox",
            "STEPLESS_SIGNING_SECRET": "signing",
            "STEPLESS_SECRETS_PREFIX": "/tests/",
            "STEPLESS_AUTH": "api-key",
            "STEPLESS_API_KEYS": API_KEY,
            "STEPLESS_BASE_URL": "https://stepless.example",
            "STEPLESS_MODULES": "hello,lambda_steps",
            "POWERTOOLS_METRICS_NAMESPACE": "Stepless",
            "EFFECTS": str(folder / "effects"),
        }

    def service(self, name: str) -> Any:
        if name not in self._services:
            keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test", "region_name": "us-east-1"}
            self._services[name] = boto3.client(name, endpoint_url=self._address, **keys)
        return self._services[name]

    def function(self, name: str, variables: Mapping[str, str] | None = None) -> LambdaFunction:
        path = [ROOT / "engine", ROOT / "layers/functions", STEPS]
        given = {**self.variables, "POWERTOOLS_SERVICE_NAME": name, **(variables or {})}
        function = LambdaFunction(name, ROOT / "functions" / name, path, given, timeout_s=120, logs=self.folder)
        self._functions.append(function)
        return function

    def messages(self) -> list[dict[str, Any]]:
        """Takes all messages from the queue; returns their bodies."""
        found = []
        while True:
            taken = self.service("sqs").receive_message(QueueUrl=self.queue_url, MaxNumberOfMessages=10).get("Messages", [])
            if not taken:
                return found
            for message in taken:
                self.service("sqs").delete_message(QueueUrl=self.queue_url, ReceiptHandle=message["ReceiptHandle"])
                found.append(json.loads(message["Body"]))

    def effects(self) -> list[str]:
        """What the nodes did, in order."""
        path = self.folder / "effects"
        return path.read_text().split() if path.exists() else []

    def expire_lease(self, run_id: str) -> None:
        """Moves the end of a dead runner's lease into the past, rather than waiting for it."""
        key = {"pk": {"S": f"RUN#{run_id}"}, "sk": {"S": "HEAD"}}
        self.service("dynamodb").update_item(
            TableName="runs", Key=key, UpdateExpression="SET l = :now", ExpressionAttributeValues={":now": {"N": "1"}}
        )

    def close(self) -> None:
        for function in self._functions:
            function.close()
