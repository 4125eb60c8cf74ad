"""The instants of a rhythm: the latest ones, those that are caught up with, and when a firing comes too late."""

from __future__ import annotations

from datetime import datetime

import pytest

from stepless.limits import MAX_CATCH_UP_RUNS
from stepless.ports import Rhythm
from stepless.runtime.triggers.schedule_instants import is_missed, latest_ms, next_ms, to_catch_up

MINUTE, HOUR = 60_000, 3_600_000
START = 1_767_258_000_000  # 2026-01-01 09:00 UTC


@pytest.mark.parametrize(("cron", "zone"), [
    ("*/20 * * * *", "UTC"), ("30 2 * * *", "Europe/Berlin"), ("15 * * * *", "America/New_York"), ("0 9 13 * 5", "Asia/Tokyo"),
    ("0 0 L * ? *", "Pacific/Apia"), ("0 0 1 1 ? 2025", "UTC"),
])
@pytest.mark.parametrize("day", ["2026-03-28", "2026-10-24", "2026-03-07", "2026-02-12"])
def test_the_latest_instants_are_the_last_of_all_instants(cron: str, zone: str, day: str) -> None:
    rhythm = Rhythm("n", cron=cron, timezone=zone)
    from_ms = int(datetime.fromisoformat(f"{day}T00:00:00+00:00").timestamp() * 1000)
    until_ms, found = from_ms + 50 * HOUR, list[int]()
    at_ms = next_ms(rhythm, from_ms - 1)
    while at_ms is not None and at_ms <= until_ms:
        found.append(at_ms)
        at_ms = next_ms(rhythm, at_ms)
    assert latest_ms(rhythm, from_ms, until_ms, 1_000) == found
    assert latest_ms(rhythm, from_ms, until_ms, 3) == found[-3:]


def test_a_rate_has_its_instants_from_its_phase_on() -> None:
    rhythm = Rhythm("n", rate_ms=10)
    assert latest_ms(rhythm, 0, 35, 100) == [0, 10, 20, 30]
    assert latest_ms(rhythm, 0, 35, 2, 3) == [23, 33]
    assert latest_ms(rhythm, 31, 35, 100) == []
    assert (next_ms(rhythm, 30), next_ms(rhythm, 30, 3)) == (40, 33)


def test_a_year_of_missed_minutes_is_cheap_and_bounded() -> None:
    rhythm, now_ms = Rhythm("n", cron="* * * * *"), START + 366 * 24 * HOUR
    found = to_catch_up(rhythm, "all", START, now_ms)
    assert found == [now_ms - MINUTE * before for before in reversed(range(MAX_CATCH_UP_RUNS))]


@pytest.mark.parametrize(("policy", "late_ms", "missed"), [
    (None, 90 * 24 * HOUR, False), ("skip", 119_000, False), ("skip", 121_000, True), ("last", HOUR - 1, False),
    ("last", HOUR, True), ("all", 99 * HOUR, False), ("all", 100 * HOUR, True),
])
def test_when_a_delivered_firing_comes_too_late(policy: str | None, late_ms: int, missed: bool) -> None:
    for rhythm in (Rhythm("n", rate_ms=HOUR), Rhythm("n", cron="0 * * * *")):
        assert is_missed(rhythm, policy, START, START + late_ms) is missed
