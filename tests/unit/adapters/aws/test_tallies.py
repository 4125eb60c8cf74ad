"""What one task has used, separate from what others use at the same time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from aws_services import Service, client

from stepless.adapters.aws.dynamo.store import DynamoStore
from stepless.adapters.aws.queue import SqsQueue
from stepless.adapters.aws.tallies import RequestTallies
from stepless.adapters.aws.timers import SchedulerTimers
from stepless.adapters.memory.clock import SettableClock
from stepless.model.runs.tally import Tally
from stepless.ports import Message, RunHead, Tallies

MEMORY_MB = 512


@pytest.fixture
def heard(dynamo: Any) -> Any:
    """A client of this test alone: who listens to it listens for as long as it lives."""
    return client("dynamodb", dynamo.meta.endpoint_url)


@pytest.fixture
def store(heard: Any, table: str) -> DynamoStore:
    return DynamoStore(heard, table)


@pytest.fixture
def tallies(heard: Any) -> Tallies:
    return RequestTallies(MEMORY_MB, heard)


def head(run_id: str) -> RunHead:
    return RunHead(run_id, "wf", "h", "created", 1, 1, b"{}", due_ms=10)


def used(tallies: Tallies) -> tuple[float, float, float]:
    tally = tallies.take()
    assert tally is not None
    return tally.write_units, tally.index_units, tally.read_units


def test_a_tally_counts_what_happens_while_it_is_open(store: DynamoStore, tallies: Tallies) -> None:
    store.create_run(head("warm"))
    with tallies.open(Tally(invocations=1)):
        store.create_run(head("r"))
        store.get_run("r")
        tally = tallies.take()
    store.get_run("r")
    assert tally is not None
    assert (tally.write_units, tally.index_units, tally.read_units, tally.invocations) == (3, 2, 1, 1)
    assert tally.lambda_ms > 0 and tally.lambda_mb_ms == tally.lambda_ms * MEMORY_MB
    assert tallies.take() is None


def test_what_was_taken_is_not_taken_again(store: DynamoStore, tallies: Tallies) -> None:
    with tallies.open(Tally()):
        store.get_run("r")
        assert used(tallies) == (0, 0, 1)
        assert used(tallies) == (0, 0, 0)
        store.get_run("r")
        assert used(tallies) == (0, 0, 1)


def test_an_inner_tally_leaves_the_outer_one_as_it_was(store: DynamoStore, tallies: Tallies) -> None:
    with tallies.open(Tally()):
        store.get_run("a")
        with tallies.open(Tally()):
            store.get_run("b")
            store.get_run("c")
            assert used(tallies) == (0, 0, 2)
        assert used(tallies) == (0, 0, 1)


def test_tasks_side_by_side_each_count_their_own_and_their_threads(store: DynamoStore, tallies: Tallies) -> None:
    async def task(requests: int) -> tuple[float, float, float]:
        with tallies.open(Tally()):
            for _ in range(requests):
                await asyncio.to_thread(store.get_run, "r")
            return used(tallies)

    async def both() -> Any:
        return await asyncio.gather(task(1), task(3), task(5))

    assert asyncio.run(both()) == [(0, 0, 1), (0, 0, 3), (0, 0, 5)]


def test_a_schedule_is_counted_once_and_its_message_with_it(aws: Service) -> None:
    scheduler, clock = aws("scheduler"), SettableClock(1_800_000_000_000)
    scheduler.create_schedule_group(Name="runs")
    url = aws("sqs").create_queue(QueueName="runs")["QueueUrl"]
    tallies = RequestTallies(MEMORY_MB, scheduler, aws("sqs"))
    arns = dict.fromkeys(("role_arn", "queue_arn", "dlq_arn"), "arn:aws:sqs:us-east-1:123456789012:runs")
    queue = SqsQueue(aws("sqs"), url)
    timers = SchedulerTimers(scheduler, queue, group="runs", clock=clock, **arns)
    with tallies.open(Tally()):
        timers.arm("r", clock.now_ms() + 3_600_000)
        timers.arm("r", clock.now_ms() + 3_600_000)  # armed already: refused, and free
        queue.send(Message("r", "start"))
        timers.disarm("r")
        tally = tallies.take()
    assert tally is not None
    assert (tally.schedules, tally.queue_requests) == (1, 2)
