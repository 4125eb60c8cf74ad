"""Any operation by name: what botocore's models refuse, what moto returns, and how errors and foreign values are handled."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import boto3
import pytest
from botocore.response import StreamingBody
from moto import mock_aws

from stepless.adapters.aws.effects.operation_shapes import json_of, stable_uuid
from stepless.adapters.aws.effects.operations import BotoOperations
from stepless.model.work import NodeFailure


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[BotoOperations]:
    for name, value in {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_DEFAULT_REGION": "eu-central-1"}.items():
        monkeypatch.setenv(name, value)
    with mock_aws():
        yield BotoOperations()


def done(calls: BotoOperations, service: str, action: str, **params: Any) -> Any:
    return asyncio.run(calls.call(service, action, params, token="r:n", timeout_ms=20_000))


def refused(calls: BotoOperations, service: str, action: str, **params: Any) -> NodeFailure:
    with pytest.raises(NodeFailure) as failed:
        done(calls, service, action, **params)
    return failed.value


def test_what_is_put_is_got_and_metadata_stays_away(calls: BotoOperations) -> None:
    boto3.client("s3").create_bucket(Bucket="bucket", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
    done(calls, "s3", "PutObject", Bucket="bucket", Key="text", Body="hello")
    done(calls, "s3", "put_object", Bucket="bucket", Key="bytes", Body={"base64": "/w=="})
    answer = done(calls, "s3", "GetObject", Bucket="bucket", Key="text")
    assert answer["Body"] == "hello"
    assert isinstance(answer["LastModified"], str)
    assert "ResponseMetadata" not in answer
    assert done(calls, "s3", "get_object", Bucket="bucket", Key="bytes")["Body"] == {"base64": "/w=="}


@pytest.mark.parametrize(("service", "action", "params", "found"), [
    ("dynamodb", "PutItem", {"TableName": "t", "Item": {"a": {"S": "<n.text>"}}}, []),
    ("dynamodb", "put_item", {"TableName": "<n.table>", "Item": "<n.item>"}, []),
    ("dynamodb", "PutItem", {"Item": {"a": {"Z": "1"}}, "Tabel": 1}, ["params", "params.Item.a.Z", "params.Tabel"]),
    ("sqs", "SendMessage", {"QueueUrl": "u", "MessageBody": "m", "DelaySeconds": "soon"}, ["params.DelaySeconds"]),
    ("sqs", "SendMessage", {"QueueUrl": "u", "MessageBody": "m", "DelaySeconds": True}, ["params.DelaySeconds"]),
    ("sqs", "SendMessages", {}, ["action"]),
    ("sqz", "SendMessage", {}, ["service"]),
    ("s3", "select_object_content", {}, ["action"]),
    ("lambda", "Invoke", {"FunctionName": "f", "InvocationType": "Sometimes"}, ["params.InvocationType"]),
    ("ec2", "StartInstances", {"InstanceIds": ["i-1", 2]}, ["params.InstanceIds.1"]),
])
def test_parameters_are_held_against_the_services_own_model(
    calls: BotoOperations, service: str, action: str, params: dict[str, Any], found: list[str]
) -> None:
    assert [misfit.path for misfit in calls.check(service, action, params)] == found


def test_an_unknown_action_is_told_the_nearest(calls: BotoOperations) -> None:
    assert "`SendMessage`" in calls.check("sqs", "SendMesage", {})[0].message


@pytest.mark.parametrize(("service", "action", "params", "cause", "code", "retryable"), [
    ("sqs", "GetQueueUrl", {"QueueName": "none"}, "http_error", "aws_aws_simple_queue_service_non_existent_queue", True),
    ("dynamodb", "DeleteTable", {"TableName": "none"}, "http_error", "aws_resource_not_found_exception", True),
    ("dynamodb", "GetItem", {"TableName": "t"}, "config", "invalid_config", False),
    ("sqs", "NoSuchThing", {}, "config", "unknown_operation", False),
    ("s3", "PutObject", {"Bucket": "bucket", "Key": "k", "Body": {"base64": "?"}}, "config", "invalid_config", False),
])
def test_a_refusal_is_a_failure_with_its_cause(
    calls: BotoOperations, service: str, action: str, params: dict[str, Any], cause: str, code: str, retryable: bool
) -> None:
    failed = refused(calls, service, action, **params)
    assert (failed.cause, failed.retryable) == (cause, retryable)
    assert failed.code == code or service == "sqs"


class Throttling:
    """A server that throttles the first request and is broken at the second."""

    def __init__(self) -> None:
        self.answers = [(400, "ThrottlingException"), (500, "InternalFailure")]

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        status, code = self.answers.pop(0)
        body = f'{{"__type":"{code}","message":"no"}}'.encode()
        writer.write(f"HTTP/1.1 {status} X\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()


def test_throttling_and_breakage_are_told_apart_and_nothing_is_tried_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"):
        monkeypatch.setenv(name, "eu-central-1")

    async def ask() -> list[str]:
        server = await asyncio.start_server(Throttling(), "127.0.0.1", 0)
        calls, causes = BotoOperations(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"), []
        async with server:
            for _ in range(2):
                try:
                    await calls.call("dynamodb", "ListTables", {}, token="r:n", timeout_ms=5_000)
                except NodeFailure as failed:
                    causes.append(failed.cause)
        return causes

    assert asyncio.run(ask()) == ["rate_limit", "provider_error"]


def test_an_operation_that_knows_repetitions_is_told_the_same_token_each_time(calls: BotoOperations) -> None:
    ami = boto3.client("ec2").describe_images()["Images"][0]["ImageId"]
    for _ in range(2):
        [instance] = done(calls, "ec2", "RunInstances", ImageId=ami, MinCount=1, MaxCount=1)["Instances"]
        assert instance["ClientToken"] == stable_uuid("r:n:ec2.RunInstances")


def test_what_json_has_no_word_for_is_put_into_its_words() -> None:
    at = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    body = StreamingBody(io.BytesIO(b"x"), 1)
    value = {"at": at, "n": [Decimal("1"), Decimal("1.5")], "b": body, "s": {"a"}, "ResponseMetadata": {}}
    assert json_of(value) == {"at": "2026-01-02T03:04:05Z", "n": [1, 1.5], "b": "x", "s": ["a"]}
