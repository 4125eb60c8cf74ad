"""A process that does the work of the functions api, runner and sweeper over the adapters of AWS, for killed_servers.py. The
services are emulators, each a process of its own that nobody kills."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any, Final

import emulators
from aws_services import client
from senders import API_KEY

from stepless.adapters.aws.dynamo.store import DynamoStore
from stepless.adapters.aws.dynamo.table.layout import create_table_arguments
from stepless.api.app import create_app
from stepless.cli.dev.http import Server
from stepless.runtime.hosting.sweep import sweep
from stepless.runtime.session.budget import Budget
from stepless.runtime.wiring.aws import Cloud, aws, received

NAME: Final = "senders"
_ARN: Final = f"arn:aws:sqs:us-east-1:000000000000:{NAME}"
_AGAIN_S: Final = 10  # a message that a killed process did not delete comes again
_AT_ONCE: Final = 10  # messages that SQS hands over at once
_BUDGET_MS: Final = 30_000
_SWEEP_S: Final = 1


@contextmanager
def account() -> Iterator[Mapping[str, str]]:
    """Yields the environment of the functions in an empty account. Raises `emulators.Missing`."""
    with emulators.dynoxide() as table, emulators.ministack() as rest:
        client("dynamodb", table).create_table(**create_table_arguments(NAME))
        queue = client("sqs", rest).create_queue(QueueName=NAME, Attributes={"VisibilityTimeout": str(_AGAIN_S)})
        client("s3", rest).create_bucket(Bucket=NAME)
        for group in (NAME, f"{NAME}-calendar"):
            client("scheduler", rest).create_schedule_group(Name=group)
        client("secretsmanager", rest).create_secret(Name=NAME, SecretString='{"k": "a secret of the senders"}')
        role = "arn:aws:iam::000000000000:role/timers"
        yield {
            "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": rest, "AWS_ENDPOINT_URL_DYNAMODB": table, "STEPLESS_TABLE": NAME, "STEPLESS_BUCKET": NAME,
            "STEPLESS_QUEUE_URL": queue["QueueUrl"], "STEPLESS_SCHEDULE_GROUP": NAME, "STEPLESS_SCHEDULE_ROLE_ARN": role,
            "STEPLESS_SCHEDULE_TARGET_ARN": _ARN, "STEPLESS_SCHEDULE_DEAD_LETTER_ARN": _ARN, "STEPLESS_SIGNING_SECRET": NAME,
            "STEPLESS_SECRETS_PREFIX": f"/{NAME}/", "STEPLESS_CALENDAR_GROUP": f"{NAME}-calendar",
            "STEPLESS_CALENDAR_ROLE_ARN": role, "STEPLESS_TRIGGER_QUEUE_ARN": _ARN, "STEPLESS_TRIGGER_DEAD_LETTER_ARN": _ARN,
        }  # fmt: skip


def store_in(environment: Mapping[str, str]) -> DynamoStore:
    """The store of an account, for who reads it beside the servers."""
    return DynamoStore(client("dynamodb", environment["AWS_ENDPOINT_URL_DYNAMODB"]), NAME)


def serve(port: int) -> None:
    """Serves until the process is killed. Its environment is that of `account`."""
    cloud = aws()
    for work in (lambda: asyncio.run(_run(cloud)), lambda: _sweep(cloud)):
        Thread(target=work, daemon=True).start()
    server = Server(create_app(cloud.service, api_keys=[API_KEY]), lambda: None)
    asyncio.run(server.serve([socket.create_server(("127.0.0.1", port))]))


async def _run(cloud: Cloud) -> None:
    """Receives messages and continues their runs, as many at once as there are."""
    from stepless.adapters.aws.clients import client as of_process

    sqs, url, tasks = of_process("sqs"), os.environ["STEPLESS_QUEUE_URL"], set[asyncio.Task[None]]()

    async def work(record: Any) -> None:
        try:
            await cloud.runner.run(received(record["Body"]), Budget(_BUDGET_MS))
            await asyncio.to_thread(sqs.delete_message, QueueUrl=url, ReceiptHandle=record["ReceiptHandle"])
        except Exception:  # the message comes again
            traceback.print_exc(file=sys.stdout)

    while True:
        asked = {"QueueUrl": url, "MaxNumberOfMessages": _AT_ONCE, "WaitTimeSeconds": 1}
        try:
            answer = await asyncio.to_thread(lambda asked=asked: sqs.receive_message(**asked))  # type: ignore[misc]
        except Exception:
            traceback.print_exc(file=sys.stdout)
            continue
        for record in answer.get("Messages", ()):
            task = asyncio.create_task(work(record))
            tasks.add(task)
            task.add_done_callback(tasks.discard)


def _sweep(cloud: Cloud) -> None:
    while True:
        try:
            sweep(cloud.world)
        except Exception:
            traceback.print_exc(file=sys.stdout)
        Event().wait(_SWEEP_S)
