"""Publishing and listing tell what a schedule does when the clocks change; one that never fires is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from stepless.errors import DocumentRefused
from stepless.model.findings import Finding
from stepless.runtime.wiring.local import Local, local

NOW = 1_796_083_200_000  # 2026-12-01 00:00 UTC


class Clock:
    def now_ms(self) -> int:
        return NOW


@pytest.fixture
def built() -> Local:
    made = local(None)
    made.world = made.service.world = replace(made.world, clock=Clock())
    return made


def published(built: Local, **schedule: Any) -> tuple[Finding, ...]:
    return built.service.publish({"id": "nightly", "nodes": {"tick": {"type": "schedule", "with": schedule}}}).warnings


def test_a_schedule_in_a_changed_hour_is_published_with_a_warning(built: Local) -> None:
    (found,) = published(built, cron="30 2 * * *", timezone="Europe/Berlin")
    assert (found.code, found.path, found.node, found.severity.value) == (
        "clock_change", "nodes.tick.with.cron", "tick", "warning",
    )  # fmt: skip
    assert found.message == (
        "in Europe/Berlin, on 2027-03-28 the clocks skip 02:30: it does not fire then; "
        "on 2027-10-31 02:30 comes twice: it fires once, the first time"
    )
    (schedule,) = built.service.list_schedules("nightly").items
    assert [(each.kind, each.at_ms) for each in schedule.clock_changes] == [
        ("skipped", 1_806_280_200_000), ("repeated", 1_824_942_600_000),
    ]  # fmt: skip


@pytest.mark.parametrize("schedule", [
    {"cron": "30 2 * * *"}, {"cron": "30 4 * * *", "timezone": "Europe/Berlin"}, {"rate": "1h", "timezone": "Europe/Berlin"},
])  # fmt: skip
def test_any_other_schedule_is_published_without_one(built: Local, schedule: Any) -> None:
    assert published(built, **schedule) == ()


def test_a_schedule_that_does_not_fire_again_is_published_with_a_warning(built: Local) -> None:
    (found,) = published(built, cron="0 9 1 6 ? 2026")
    assert (found.code, found.severity.value) == ("never_fires", "warning") and "does not fire again" in found.message


@pytest.mark.parametrize("schedule", [
    {"cron": "0 0 31 2 *"}, {"cron": "0 0 31 2 ? *"}, {"cron": "30 2 28 3 ? 2027", "timezone": "Europe/Berlin"},
])  # fmt: skip
def test_a_schedule_that_never_fires_is_refused(built: Local, schedule: Any) -> None:
    with pytest.raises(DocumentRefused) as refused:
        published(built, **schedule)
    (found,) = refused.value.findings
    assert (found.code, found.path) == ("never_fires", "nodes.tick.with.cron")
    assert built.world.store.newest_version("nightly") is None
