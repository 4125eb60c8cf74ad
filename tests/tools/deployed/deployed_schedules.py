"""Schedules of a deployed stack: paused, and fired as EventBridge Scheduler fires them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import httpx
from deployed_runs import (
    ended,
    publish,
    runs_of,
    step,
    until,
)
from local_cloud import Cloud, Machine

from stepless.adapters.system import SystemClock


def paused_schedule(http: httpx.Client) -> None:
    publish(http, "weekly", {"tick": {"type": "schedule", "with": {"cron": "0 4 * * 1"}}, "work": step("tick", name="fired")})
    paused = http.post("/workflows/weekly/schedules/tick/pause", json={"reason": "the warehouse is down"})
    assert paused.status_code == 200, paused.text


def stays_paused(cloud: Cloud, http: httpx.Client) -> None:
    """After the updates of the stack, what AWS sends for the schedule still starts nothing, until it is resumed."""
    assert schedule_of(http)["paused"]["reason"] == "the warehouse is down"
    queue = fire(cloud)
    until(lambda: is_empty(cloud, queue), "the firing that the pause drops")
    assert runs_of(http, "weekly") == []
    assert http.post("/workflows/weekly/schedules/tick/resume", json={}).status_code == 200
    fire(cloud)
    [run] = until(lambda: runs_of(http, "weekly"), "the firing after the pause")
    assert ended(http, run["id"])["outputs"] == {"work": "fired"}


def schedule_of(http: httpx.Client) -> dict[str, Any]:
    [found] = http.get("/workflows/weekly/schedules").json()["schedules"]
    return dict(found)


def fire(cloud: Cloud) -> str:
    """Sends what EventBridge Scheduler sends for the schedule, as of an instant in five seconds. Returns the queue's address."""
    scheduler, group = cloud.service("scheduler"), cloud.outputs["Schedules"]
    names = [each["Name"] for each in scheduler.list_schedules(GroupName=group)["Schedules"]]
    made = [scheduler.get_schedule(GroupName=group, Name=name) for name in names]
    [target] = [each["Target"] for each in made if '"weekly"' in each["Target"]["Input"]]
    soon = datetime.fromtimestamp(SystemClock().now_ms() / 1000 + 5, UTC)
    body = target["Input"].replace("<aws.scheduler.scheduled-time>", f"{soon:%Y-%m-%dT%H:%M:%SZ}")
    queues = cloud.service("sqs")
    address: str = queues.get_queue_url(QueueName=target["Arn"].rpartition(":")[2])["QueueUrl"]
    queues.send_message(QueueUrl=address, MessageBody=body)
    return address


def is_empty(cloud: Cloud, queue: str) -> bool:
    """Whether every message was received and handled."""
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    counts = cloud.service("sqs").get_queue_attributes(QueueUrl=queue, AttributeNames=names)["Attributes"]
    return [counts[name] for name in names] == ["0", "0"]


@contextmanager
def clocks_ahead(machine: Machine, seconds: int) -> Iterator[None]:
    """The time of all functions, also of those that run."""
    for ahead in (seconds, 0):
        new = machine.clock.with_suffix(".new")
        new.write_text(str(ahead))
        new.replace(machine.clock)
        if ahead:
            yield


