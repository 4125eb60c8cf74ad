"""Changes of the clocks, against the dates on which zones have them, and schedules that never fire."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from stepless.model.triggers.clock_changes import clock_changes, ever_fires, fires_after, sentence


def at(text: str, zone: str = "UTC") -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp() * 1000)


@pytest.mark.parametrize(("cron", "zone", "found"), [
    ("30 2 * * *", "Europe/Berlin", [
        ("skipped", "03-28 02:30", "03-28 02:30", "2027-03-29T02:30:00+02:00"),
        ("repeated", "10-31 02:30", "10-31 02:30", "2027-10-31T02:30:00+02:00"),
    ]),
    ("*/20 * * * *", "Europe/Berlin", [
        ("skipped", "03-28 02:00", "03-28 02:40", "2027-03-28T03:00:00+02:00"),
        ("repeated", "10-31 02:00", "10-31 02:40", "2027-10-31T02:00:00+02:00"),
    ]),
    ("30 2 ? * 1 *", "America/New_York", [("skipped", "03-14 02:30", "03-14 02:30", "2027-03-21T02:30:00-04:00")]),
    ("30 1 * * *", "America/New_York", [("repeated", "11-07 01:30", "11-07 01:30", "2027-11-07T01:30:00-04:00")]),
    ("15 2 * * *", "Australia/Lord_Howe", [("skipped", "10-03 02:15", "10-03 02:15", "2027-10-04T02:15:00+11:00")]),
    ("0 0 * * *", "Africa/Cairo", [("skipped", "04-30 00:00", "04-30 00:00", "2027-05-01T00:00:00+03:00")]),
    ("30 2 28 3 ? 2027", "Europe/Berlin", [("skipped", "03-28 02:30", "03-28 02:30", None)]),
    ("0 9 * * *", "Europe/Berlin", []), ("30 2 * * 1-5", "Europe/Berlin", []), ("30 2 * * *", "UTC", []),
    ("30 2 * * *", "Asia/Kathmandu", []),
])  # fmt: skip
def test_a_schedule_falls_into_a_change_of_the_clocks(cron: str, zone: str, found: list[tuple[str, ...]]) -> None:
    told = [
        (each.kind, f"{each.first:%m-%d %H:%M}", f"{each.last:%m-%d %H:%M}",
         datetime.fromtimestamp(each.at_ms / 1000, ZoneInfo(zone)).isoformat() if each.at_ms is not None else None)
        for each in clock_changes(cron, zone, at("2026-12-01T00:00"))
    ]  # fmt: skip
    assert told == found


def test_a_change_that_is_over_is_not_told() -> None:
    def kinds(text: str) -> list[str]:
        return [each.kind for each in clock_changes("30 2 * * *", "Europe/Berlin", at(text, "Europe/Berlin"))]

    assert kinds("2027-03-28T01:59")[:2] == ["skipped", "repeated"]
    assert kinds("2027-03-28T03:31")[:2] == ["repeated", "skipped"]
    assert kinds("2027-10-31T03:00")[:2] == ["skipped", "repeated"]


def test_a_change_is_told_in_a_sentence() -> None:
    first, last = datetime.fromisoformat("2027-03-28T02:00"), datetime.fromisoformat("2027-03-28T02:40")
    assert sentence("skipped", first, first) == "on 2027-03-28 the clocks skip 02:00: it does not fire then"
    assert sentence("skipped", first, last) == "on 2027-03-28 the clocks skip 02:00 to 02:40: it does not fire at these times"
    assert sentence("repeated", first, last) == "on 2027-03-28 02:00 to 02:40 comes twice: it fires once, the first time"


@pytest.mark.parametrize(("cron", "zone", "ever", "again"), [
    ("0 0 31 2 *", "UTC", False, False), ("0 0 31 2 ? *", "UTC", False, False), ("0 0 30 FEB *", "UTC", False, False),
    ("0 0 31 4,6,9,11 *", "UTC", False, False), ("0 0 31W 2 ? *", "UTC", False, False), ("0 0 29 2 ? 2027", "UTC", False, False),
    ("30 2 28 3 ? 2027", "Europe/Berlin", False, False), ("30 2 28 3 ? 2027", "UTC", True, True),
    ("0 0 29 2 *", "UTC", True, True), ("0 0 31 2,3 *", "UTC", True, True), ("0 0 ? 2 2#5 *", "UTC", True, True),
    ("0 0 1 1 ? 2025", "UTC", True, False), ("0 0 1 1 ? 2025,2199", "UTC", True, True), ("0 0 31 2 1", "UTC", True, True),
])  # fmt: skip
def test_what_never_fires_is_known(cron: str, zone: str, ever: bool, again: bool) -> None:
    assert (ever_fires(cron, zone), fires_after(cron, zone, at("2026-12-01T00:00"))) == (ever, again)
