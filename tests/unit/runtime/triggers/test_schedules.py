"""Schedules: missed instants, pauses and firing now, in a process that fires them itself and with a calendar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from stepless.core.decision import iso
from stepless.errors import InvalidRequest, NotFound, StoreUnavailable
from stepless.ports import Rhythm, RunFilter
from stepless.runtime.triggers.deliveries import arrive
from stepless.runtime.triggers.payloads import FIRING
from stepless.runtime.triggers.schedule_firing import Schedules
from stepless.runtime.wiring.local import Local, local

MINUTE, HOUR = 60_000, 3_600_000
START = 1_767_258_000_000  # 2026-01-01 09:00 UTC


@dataclass
class Clock:
    now: int = START

    def now_ms(self) -> int:
        return self.now


class Calendar:
    def keep(self, workflow_id: str, rhythms: Sequence[Rhythm]) -> None:
        """What is fired is what the test delivers."""


@dataclass
class Machine:
    """One engine; `external` is whether a calendar delivers the firings."""

    external: bool
    built: Local = field(default_factory=lambda: local(None))
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        calendar = Calendar() if self.external else None
        self.built.world = self.built.service.world = replace(self.built.world, clock=self.clock, calendar=calendar)

    def publish(self, **schedule: Any) -> None:
        nodes = {"tick": {"type": "schedule", "with": schedule}, "other": {"type": "manual"}}
        self.built.service.publish({"id": "nightly", "nodes": nodes})
        self.serve()

    def serve(self) -> None:
        if not self.external:
            Schedules(self.built.world).fire(self.clock.now)

    def deliver(self, at_ms: int) -> None:
        arrive(self.built.world, {FIRING: {"workflow": "nightly", "node": "tick", "at": iso(at_ms)}})

    def pass_hours(self, hours: int) -> None:
        """The hours pass with a schedule `rate: 1h` that works."""
        for _ in range(hours):
            self.clock.now += HOUR
            self.serve()
            if self.external:
                self.deliver(self.clock.now)

    @property
    def hours(self) -> list[int]:
        """The hours of 2026-01-01 for which runs were started."""
        runs = self.built.service.search(RunFilter(), limit=1_000).items
        texts = [str(self.built.service.run(head.run_id).inputs["scheduled_at"]) for head in runs]
        return sorted(round((datetime.fromisoformat(text).timestamp() * 1000 - START) / HOUR) + 9 for text in texts)

    @property
    def schedule(self) -> Any:
        [found] = self.built.service.list_schedules("nightly").items
        return found


@pytest.fixture(params=[False, True], ids=["own", "calendar"])
def machine(request: pytest.FixtureRequest) -> Machine:
    return Machine(request.param)


# -- downtime ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("policy", "expected"), [(None, [10]), ("skip", [13]), ("last", [13]), ("all", [10, 11, 12, 13])])
def test_after_downtime_the_policy_decides(policy: str | None, expected: list[int]) -> None:
    machine = Machine(False)
    machine.publish(rate="1h", **({"catch_up": policy} if policy else {}))
    machine.clock.now += 4 * HOUR + MINUTE
    machine.serve()
    machine.serve()
    assert machine.hours == expected
    machine.clock.now += HOUR
    machine.serve()
    assert machine.hours == [*expected, 14]


def test_what_was_missed_for_long_is_skipped() -> None:
    machine = Machine(False)
    machine.publish(rate="1h", catch_up="skip")
    machine.clock.now += 4 * HOUR + 3 * MINUTE
    machine.serve()
    assert machine.hours == []
    assert machine.schedule.next_ms == START + 5 * HOUR


@pytest.mark.parametrize(("policy", "expected"), [
    (None, [10, 11, 12, 13]), ("skip", [13]), ("last", [13]), ("all", [10, 11, 12, 13]),
])
def test_late_deliveries_of_a_calendar_follow_the_policy_in_any_order(policy: str | None, expected: list[int]) -> None:
    machine = Machine(True)
    machine.publish(rate="1h", **({"catch_up": policy} if policy else {}))
    machine.clock.now += 4 * HOUR + MINUTE
    for hour in (2, 4, 1, 3, 4):
        machine.deliver(START + hour * HOUR)
    assert machine.hours == expected
    assert machine.schedule.last.at_ms == START + 4 * HOUR


def test_a_process_that_dies_while_it_catches_up_starts_no_instant_twice() -> None:
    for at in range(2, 60):
        machine = Machine(False)
        machine.publish(rate="1h", catch_up="all")
        machine.clock.now += 3 * HOUR + MINUTE
        whole = machine.built.world
        machine.built.world = replace(whole, store=Dying(whole.store, at))
        try:
            machine.serve()
        except Died:
            machine.built.world = whole
            machine.serve()
            assert machine.hours == [10, 11, 12], at
        else:
            assert at > 20
            return
    raise AssertionError("it never came to its end")


class Died(BaseException):
    """This process is gone."""


class Dying:
    """A store whose caller dies before or after the chosen call."""

    def __init__(self, store: Any, at: int) -> None:
        self.store, self.at, self.calls = store, at, 0

    def __getattr__(self, name: str) -> Any:
        verb = getattr(self.store, name)

        def call(*given: Any, **named: Any) -> Any:
            self.calls += 1
            if self.calls == self.at // 2 and self.at % 2:
                raise Died
            answer = verb(*given, **named)
            if self.calls == self.at // 2:
                raise Died
            return answer

        return call


# -- pauses -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("policy", "expected"), [(None, []), ("skip", []), ("last", [15]), ("all", [12, 13, 14, 15])])
def test_a_pause_starts_nothing_and_its_end_follows_the_policy(machine: Machine, policy: str | None, expected: list[int]) -> None:
    service = machine.built.service
    machine.publish(rate="1h", **({"catch_up": policy} if policy else {}))
    machine.pass_hours(2)
    assert machine.hours == [10, 11]
    paused = service.pause_schedule("nightly", "tick", by="ops", reason="the warehouse is down")
    assert (paused.next_ms, paused.pause.by, paused.pause.reason) == (None, "ops", "the warehouse is down")
    machine.pass_hours(4)
    assert machine.hours == [10, 11]
    machine.clock.now += 10 * MINUTE
    resumed = service.resume_schedule("nightly", "tick")
    assert machine.hours == [10, 11, *expected] and len(resumed.started) == len(expected)
    machine.serve()
    if machine.external:
        machine.deliver(START + 5 * HOUR)  # of the pause, and late
    assert machine.hours == [10, 11, *expected]
    assert machine.schedule.pause is None
    machine.clock.now = START + 7 * HOUR
    machine.serve()
    if machine.external:
        machine.deliver(machine.clock.now)
    assert machine.hours == [10, 11, *expected, 16]


def test_a_pause_holds_over_new_versions_and_restarts(machine: Machine) -> None:
    machine.publish(rate="1h")
    machine.built.service.pause_schedule("nightly", "tick", reason="first")
    machine.publish(rate="1h", timezone="Europe/Berlin")
    machine.pass_hours(3)
    again = machine.built.service.pause_schedule("nightly", "tick", reason="second")
    assert again.pause is not None and again.pause.reason == "first"
    assert machine.hours == []


def test_resuming_what_is_not_paused_changes_nothing(machine: Machine) -> None:
    machine.publish(rate="1h", catch_up="all")
    machine.pass_hours(1)
    before = machine.schedule
    assert machine.built.service.resume_schedule("nightly", "tick").started == ()
    assert machine.schedule == before


def test_an_interrupted_resumption_is_completed_by_the_next_one(machine: Machine) -> None:
    for at in range(2, 120):
        machine = Machine(machine.external)
        machine.publish(rate="1h", catch_up="all")
        machine.pass_hours(1)
        service = machine.built.service
        service.pause_schedule("nightly", "tick")
        machine.pass_hours(3)
        machine.clock.now += MINUTE
        whole = service.world
        service.world = replace(whole, store=Dying(whole.store, at))  # type: ignore[arg-type]
        try:
            service.resume_schedule("nightly", "tick")
        except Died:
            service.world = whole
            machine.clock.now += HOUR - MINUTE
            machine.serve()
            if machine.external:
                machine.deliver(machine.clock.now)
            fired = machine.hours
            service.resume_schedule("nightly", "tick")
            regular = [14] if 14 in fired or 14 in machine.hours else []
            assert machine.hours == [10, 11, 12, 13, *regular], at
            assert machine.schedule.pause is None
            machine.pass_hours(1)
            assert machine.hours[-1] == 15
        else:
            assert at > 20
            return
    raise AssertionError("it never came to its end")


def test_regular_firings_go_on_while_a_resumption_is_incomplete(machine: Machine) -> None:
    machine.publish(rate="1h", catch_up="all")
    machine.pass_hours(1)
    service = machine.built.service
    service.pause_schedule("nightly", "tick")
    machine.pass_hours(1)
    machine.clock.now += MINUTE
    whole = service.world
    service.world = replace(whole, queue=Full(whole.queue))
    with pytest.raises(StoreUnavailable):
        service.resume_schedule("nightly", "tick")
    service.world = whole
    assert machine.schedule.pause.ending_ms == START + 2 * HOUR + MINUTE
    machine.clock.now = START + 2 * HOUR
    machine.pass_hours(1)
    assert 12 in machine.hours
    service.resume_schedule("nightly", "tick")
    assert machine.hours == [10, 11, 12] and machine.schedule.pause is None


class Full:
    def __init__(self, queue: Any) -> None:
        self.queue = queue

    def send(self, message: Any, delay_ms: int = 0) -> None:
        raise StoreUnavailable("the queue does not respond")


def test_a_schedule_paused_while_it_is_being_resumed_is_paused(machine: Machine) -> None:
    machine.publish(rate="1h", catch_up="all")
    service = machine.built.service
    service.pause_schedule("nightly", "tick")
    machine.pass_hours(1)
    whole = service.world
    service.world = replace(whole, queue=Full(whole.queue))
    with pytest.raises(StoreUnavailable):
        service.resume_schedule("nightly", "tick")
    service.world = whole
    assert service.pause_schedule("nightly", "tick", by="late").pause.ending_ms is None
    before = machine.hours
    machine.pass_hours(2)
    assert machine.hours == before


# -- firing now -------------------------------------------------------------------------------------------------------


def test_firing_now_is_one_run_for_each_key_and_leaves_the_next_firing(machine: Machine) -> None:
    machine.publish(rate="1h")
    machine.pass_hours(1)
    service, before = machine.built.service, machine.schedule
    machine.clock.now += MINUTE
    first = service.fire_schedule("nightly", "tick", key="mine")
    machine.clock.now += MINUTE
    again = service.fire_schedule("nightly", "tick", key="mine")
    other = service.fire_schedule("nightly", "tick")
    assert (first.run_id, again.replay) == (again.run_id, True) and other.run_id != first.run_id
    inputs = service.run(first.run_id).inputs
    assert inputs == {"scheduled_at": "2026-01-01T10:01:00.000Z", "node": "tick"}
    assert (machine.schedule.next_ms, machine.schedule.last) == (before.next_ms, before.last)
    service.pause_schedule("nightly", "tick")
    assert not service.fire_schedule("nightly", "tick", key="while paused").replay
    with pytest.raises(InvalidRequest, match="1 to 200"):
        service.fire_schedule("nightly", "tick", key="x" * 201)


def test_what_is_no_schedule_is_refused_with_those_that_there_are(machine: Machine) -> None:
    machine.publish(rate="1h")
    service = machine.built.service
    for verb in (service.pause_schedule, service.resume_schedule, service.fire_schedule):
        with pytest.raises(NotFound, match="no schedule other") as refused:
            verb("nightly", "other")
        assert (refused.value.code, refused.value.mend) == ("unknown_schedule", "its schedules are tick")
        with pytest.raises(NotFound) as refused:
            verb("none", "tick")
        assert refused.value.code == "unknown_workflow"


def test_a_start_that_is_refused_is_the_last_firing_with_its_code(machine: Machine) -> None:
    machine.built.service.publish(
        {"id": "nightly", "concurrency": 1, "nodes": {"tick": {"type": "schedule", "with": {"rate": "1h"}}}}
    )
    machine.serve()
    machine.pass_hours(1)
    first = machine.schedule.last
    machine.pass_hours(1)
    assert first.run_id is not None and first.code is None
    assert (machine.schedule.last.at_ms, machine.schedule.last.run_id) == (START + 2 * HOUR, None)
    assert machine.schedule.last.code == "too_many_runs"


def test_the_list_names_every_schedule_of_the_newest_versions() -> None:
    machine = Machine(False)
    for name in ("b", "a"):
        nodes = {"one": {"type": "schedule", "with": {"cron": "0 9 * * *"}}, "two": {"type": "schedule", "with": {"rate": "1h"}}}
        off = {"type": "schedule", "enabled": False, "with": {"rate": "1h"}}
        machine.built.service.publish({"id": name, "nodes": {**nodes, "off": off}})
    page = machine.built.service.list_schedules(limit=1)
    rest = machine.built.service.list_schedules(limit=1, cursor=page.cursor)
    found = [(each.workflow_id, each.node, each.cron, each.rate) for each in (*page.items, *rest.items)]
    assert found == [(name, node, cron, rate) for name in ("a", "b") for node, cron, rate in (
        ("one", "0 9 * * *", None), ("two", None, "1h"))]
    following = datetime.fromtimestamp(page.items[0].next_ms / 1000, UTC)
    assert following == datetime(2026, 1, 2, 9, tzinfo=UTC)


def test_a_record_of_the_release_before_is_read() -> None:
    machine = Machine(False)
    machine.built.service.publish({"id": "nightly", "nodes": {"tick": {"type": "schedule", "with": {"rate": "1h"}}}})
    record = b'{"rhythm": "[null, \\"1h\\", null]", "at": %d}' % (START + HOUR)
    machine.built.world.store.claim("schedule:nightly:tick", record, START)
    machine.clock.now += 2 * HOUR
    machine.serve()
    assert machine.hours == [10]
