"""Schedules of a process after the clock was set ahead and back."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from stepless.adapters.memory.clock import SettableClock
from stepless.ports import RunFilter
from stepless.runtime.triggers.schedule_firing import Schedules
from stepless.runtime.triggers.schedule_records import progress_of
from stepless.runtime.wiring.local import local

HOUR = 3_600_000
START = 1_767_258_000_000  # 2026-01-01 09:00 UTC


class Machine:
    """One engine with a schedule of every hour, whose clock the test sets."""

    def __init__(self, **policy: str) -> None:
        self.built, self.clock = local(None), SettableClock(START)
        self.built.world = self.built.service.world = replace(self.built.world, clock=self.clock)
        tick = {"type": "schedule", "with": {"rate": "1h", **policy}}
        self.built.service.publish({"id": "nightly", "nodes": {"tick": tick}})

    def fire(self, schedules: Schedules, at_ms: int) -> None:
        self.clock.set(at_ms)
        schedules.fire(at_ms)

    @property
    def hours(self) -> list[int]:
        """The hours from the start of 2026-01-01 for which runs were started."""
        found: list[Any] = [self.built.service.run(head.run_id).inputs for head in
                            self.built.service.search(RunFilter(), limit=1_000).items]  # fmt: skip
        times = [datetime.fromisoformat(inputs["scheduled_at"]).timestamp() for inputs in found]
        return sorted(round((time * 1000 - START) / HOUR) + 9 for time in times)


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize(("policy", "ahead"), [(None, [10]), ("last", [81]), ("all", list(range(10, 82)))])
def test_a_schedule_goes_on_after_the_clock_was_days_ahead(restarted: bool, policy: str | None, ahead: list[int]) -> None:
    """The clock is set three days ahead and back. An instant that has fired in between starts no second run when it comes."""
    machine = Machine(**({"catch_up": policy} if policy else {}))
    schedules = Schedules(machine.built.world)
    machine.fire(schedules, START)
    machine.fire(schedules, START + 72 * HOUR)
    assert machine.hours == ahead
    schedules = Schedules(machine.built.world) if restarted else schedules
    for hours in range(4):
        machine.fire(schedules, START + hours * HOUR)
    assert machine.hours == sorted({*ahead, 10, 11, 12})


def test_small_steps_of_the_clock_change_no_schedule() -> None:
    machine = Machine()
    schedules = Schedules(machine.built.world)
    machine.fire(schedules, START)
    machine.fire(schedules, START + HOUR)
    before = progress_of(machine.built.world, "nightly", "tick")
    machine.fire(schedules, START + HOUR - 30_000)
    assert progress_of(machine.built.world, "nightly", "tick") == before and machine.hours == [10]
