"""Timers: delayed messages up to 15 minutes, schedules beyond."""

from __future__ import annotations

from typing import Any

import pytest
from aws_services import Service

from stepless.adapters.aws.queue import decode_message
from stepless.adapters.aws.timers import SchedulerTimers
from stepless.adapters.memory.clock import SettableClock
from stepless.adapters.memory.queue import MemoryQueue
from stepless.errors import StoreUnavailable
from stepless.ports import Message, Timers

NOON_MS = 1_800_000_000_500
QUARTER_MS = 900_000


class World:
    def __init__(self, client: Any) -> None:
        self.client = client
        self.clock = SettableClock(NOON_MS)
        self.queue = MemoryQueue(self.clock)
        self.timers: Timers = SchedulerTimers(
            client, self.queue, group="runs", clock=self.clock, role_arn="arn:aws:iam::123456789012:role/timers",
            queue_arn="arn:aws:sqs:us-east-1:123456789012:runs", dlq_arn="arn:aws:sqs:us-east-1:123456789012:dead",
        )  # fmt: skip

    def schedules(self) -> list[Any]:
        return [self.client.get_schedule(GroupName="runs", Name=name) for name in self.names()]

    def names(self) -> list[str]:
        return [schedule["Name"] for schedule in self.client.list_schedules(GroupName="runs")["Schedules"]]


@pytest.fixture
def world(aws: Service) -> World:
    aws("scheduler").create_schedule_group(Name="runs")
    return World(aws("scheduler"))


@pytest.mark.parametrize("wait_ms", [-1_000, 0, 1, QUARTER_MS])
def test_up_to_a_quarter_of_an_hour_a_timer_is_a_delayed_message(world: World, wait_ms: int) -> None:
    world.timers.arm("r", NOON_MS + wait_ms)
    assert world.queue.next_ms() == NOON_MS + max(0, wait_ms)
    assert world.queue.receive(NOON_MS + QUARTER_MS) == Message("r", "timer")
    assert world.names() == []


def test_beyond_it_is_a_schedule_that_never_fires_early_and_deletes_itself(world: World) -> None:
    world.timers.arm("r", NOON_MS + QUARTER_MS + 1)
    (schedule,) = world.schedules()
    assert schedule["ScheduleExpression"] == "at(2027-01-15T08:15:01)"
    assert (schedule["ScheduleExpressionTimezone"], schedule["FlexibleTimeWindow"]) == ("UTC", {"Mode": "OFF"})
    assert schedule["ActionAfterCompletion"] == "DELETE"
    target = schedule["Target"]
    assert decode_message(target["Input"]) == Message("r", "timer")
    assert (target["Arn"][-5:], target["DeadLetterConfig"]["Arn"][-5:]) == (":runs", ":dead")
    assert len(world.queue) == 0


def test_arming_twice_is_arming_once_and_another_instant_is_added(world: World) -> None:
    for wait_h in (1, 1, 2):
        world.timers.arm("r", NOON_MS + wait_h * 3_600_000)
    assert len(world.names()) == 2


def test_disarming_a_run_spares_the_others(world: World) -> None:
    for run_id in ("r", "r", "r2", "ü" * 200):
        world.timers.arm(run_id, NOON_MS + 3_600_000)
    world.timers.arm("r", NOON_MS + 7_200_000)
    world.timers.disarm("r")
    world.timers.disarm("none")
    kept = world.names()
    assert len(kept) == 2
    assert all(len(name) <= 64 and name.isascii() for name in kept)


def test_what_cannot_be_disarmed_stays_armed_and_harms_nobody(aws: Service) -> None:
    World(aws("scheduler")).timers.disarm("r")  # there is not even a group


def test_a_scheduler_that_cannot_be_reached_is_told(world: World, refusal: Any) -> None:
    class Client:
        def create_schedule(self, **_: Any) -> None:
            raise refusal("ThrottlingException")

    with pytest.raises(StoreUnavailable):
        World(Client()).timers.arm("r", NOON_MS + 3_600_000)
