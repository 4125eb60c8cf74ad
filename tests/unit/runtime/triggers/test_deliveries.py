"""Schedules and events: each instant and each event starts one run, however often it is delivered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from stepless.errors import DocumentRefused, InvalidRequest, Refused
from stepless.ports import RunFilter
from stepless.runtime.triggers.deliveries import deliver
from stepless.runtime.triggers.payloads import events_of
from stepless.runtime.triggers.schedule_firing import Schedules
from stepless.runtime.wiring.local import Local, local

HOUR = 3_600_000
START = 1_767_258_000_000  # 2026-01-01 09:00 UTC


@dataclass
class Clock:
    now: int = START

    def now_ms(self) -> int:
        return self.now


def engine(**schedule: Any) -> tuple[Local, Clock, Schedules]:
    built, clock = local(None), Clock()
    built.world = built.service.world = replace(built.world, clock=clock)
    publish(built, **schedule)
    return built, clock, Schedules(built.world)


def publish(built: Local, **schedule: Any) -> None:
    nodes = {"tick": {"type": "schedule", "with": schedule}, "other": {"type": "manual"}}
    built.service.publish({"id": "nightly", "nodes": nodes})


def instants(built: Local) -> list[str]:
    return sorted(built.service.run(head.run_id).inputs["scheduled_at"] for head in built.service.search(RunFilter()).items)


def test_a_schedule_fires_at_its_instants_and_never_before_the_first() -> None:
    built, clock, schedules = engine(cron="30 9 * * *", timezone="UTC")
    assert schedules.fire(clock.now) == []
    for _ in range(3 * 24):
        clock.now += HOUR
        schedules.fire(clock.now)
    assert instants(built) == [f"2026-01-0{day}T09:30:00.000Z" for day in (1, 2, 3)]


def test_two_processes_and_a_repetition_start_one_run() -> None:
    built, clock, schedules = engine(rate="1h")
    schedules.fire(clock.now)
    clock.now += HOUR
    kept = built.world.store.get_claim("schedule:nightly:tick", clock.now)
    assert kept is not None
    first = schedules.fire(clock.now)
    now_kept = built.world.store.get_claim("schedule:nightly:tick", clock.now)
    assert now_kept is not None
    built.world.store.release_claim("schedule:nightly:tick", now_kept)
    built.world.store.claim("schedule:nightly:tick", kept, clock.now)  # whoever fired died before it moved on
    again = Schedules(built.world).fire(clock.now)
    assert [run.run_id for run in first] == [run.run_id for run in again]
    assert len(instants(built)) == 1


def test_what_was_missed_while_nobody_served_fires_once() -> None:
    built, clock, schedules = engine(rate="1h")
    schedules.fire(clock.now)
    clock.now += 10 * HOUR + 60_000
    schedules.fire(clock.now)
    schedules.fire(clock.now)
    assert instants(built) == ["2026-01-01T10:00:00.000Z"]


def test_a_changed_rhythm_counts_from_its_publication() -> None:
    built, clock, schedules = engine(rate="1h")
    schedules.fire(clock.now)
    publish(built, rate="30m")
    clock.now += HOUR
    schedules.fire(clock.now)
    assert instants(built) == []
    clock.now += HOUR // 2
    schedules.fire(clock.now)
    assert instants(built) == ["2026-01-01T10:30:00.000Z"]


def test_only_the_schedule_itself_is_the_entry_of_the_run() -> None:
    built, clock, schedules = engine(rate="1h")
    schedules.fire(clock.now)
    clock.now += HOUR
    [run] = schedules.fire(clock.now)
    head = built.world.store.get_run(run.run_id)
    assert head is not None
    assert b'"entry":["tick"]' in head.meta


# -- events -----------------------------------------------------------------------------------------------------------

EVENT = {"id": "e-1", "source": "shop", "detail-type": "Order", "detail": {"total": 9}}


def listening(pattern: Any) -> Local:
    built = local(None)
    built.service.publish({"id": "w", "nodes": {"got": {"type": "event", "with": {"pattern": pattern}}}})
    return built


def test_an_event_starts_the_workflows_whose_patterns_it_fits_once() -> None:
    built = listening({"source": ["shop"]})
    built.service.publish({"id": "other", "nodes": {"got": {"type": "event", "with": {"pattern": {"source": ["bank"]}}}}})
    [first] = built.service.deliver(EVENT)
    [again] = built.service.deliver({**EVENT, "time": "later"})
    assert (first.workflow_id, again.run_id, again.replay) == ("w", first.run_id, True)
    assert built.service.run(first.run_id).inputs == EVENT


def test_a_workflow_that_refuses_an_event_does_not_keep_it_from_the_others() -> None:
    built, entry = local(None), {"got": {"type": "event", "with": {"pattern": {"source": ["shop"]}}}}
    for name, more in (("a", {}), ("b", {"rate_limit": {"max": 1, "per": "1h"}}), ("c", {})):
        built.service.publish({"id": name, "nodes": entry, **more})
    built.service.start("b", {})
    for _ in range(2):
        with pytest.raises(Refused):
            built.service.deliver(EVENT)
    assert sorted(head.workflow_id for head in built.service.search(RunFilter()).items) == ["a", "b", "c"]


def test_workflows_without_an_entry_of_the_kind_are_not_looked_at() -> None:
    built, clock, _ = engine(rate="1h")
    for number in range(20):
        built.service.publish({"id": f"w{number}", "nodes": {"m": {"type": "manual"}}})
    seen = Seen(built.world.store)
    world = replace(built.world, store=seen, clock=clock)
    deliver(world, EVENT)
    assert seen.listed == []
    Schedules(world).fire(clock.now)
    assert seen.listed == ["nightly"]


class Seen:
    """A store that notes which workflows are listed."""

    def __init__(self, store: Any) -> None:
        self._store, self.listed = store, list[str]()

    def list_entries(self, kind: str, **given: Any) -> Any:
        page = self._store.list_entries(kind, **given)
        self.listed += [version.workflow_id for version in page.items]
        return page

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def test_records_of_s3_and_sqs_are_events_too() -> None:
    bucket = {"bucket": {"name": "b"}, "object": {"key": "in/a.csv", "sequencer": "1"}}
    s3 = {"Records": [{"eventSource": "aws:s3", "eventName": "ObjectCreated:Put", "s3": bucket}]}
    sqs = {"Records": [{"eventSource": "aws:sqs", "messageId": f"m{n}", "body": f'{{"n": {n}}}'} for n in range(3)]}
    built = listening({"detail": {"s3": {"object": {"key": [{"prefix": "in/"}]}}}})
    assert len(built.service.deliver(s3)) == len({run.run_id for run in built.service.deliver(s3)}) == 1
    assert len(listening({"source": ["aws.sqs"], "detail": {"body": {"n": [1, 2]}}}).service.deliver(sqs)) == 2


def test_the_trial_of_a_bucket_that_is_being_connected_is_no_event_and_no_error() -> None:
    trial = {"Service": "Amazon S3", "Event": "s3:TestEvent", "Time": "2026-11-21T08:15:11.000Z", "Bucket": "acme-invoices"}
    assert listening({"source": [{"exists": True}]}).service.deliver(trial) == []


@pytest.mark.parametrize("payload", [{}, {"Records": []}, {"Records": [{"eventSource": "aws:kinesis"}]}, {"id": 1, "source": "s"},
                                     {"Records": [{"eventSource": "aws:s3"}]}])  # fmt: skip
def test_what_is_no_event_is_refused(payload: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest, match=r"event|record"):
        events_of(payload)


def test_a_pattern_that_is_none_is_refused_at_publication() -> None:
    with pytest.raises(DocumentRefused, match="invalid_pattern"):
        listening({"source": [{"cidr": "10.0.0.0/8"}]})
