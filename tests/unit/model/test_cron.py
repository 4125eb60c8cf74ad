"""Cron expressions in both dialects, against instants worked out by hand from AWS's documentation and calendars."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from stepless.model.triggers.cron import parse_cron


def following(text: str, after: str, zone: str = "UTC", count: int = 1) -> list[str]:
    at: int | None = int(datetime.fromisoformat(after).replace(tzinfo=ZoneInfo(zone)).timestamp() * 1000)
    found = []
    for _ in range(count):
        assert at is not None
        at = parse_cron(text).next_ms(at, zone)
        found.append("never" if at is None else datetime.fromtimestamp(at / 1000, ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M"))
        if at is None:
            break
    return found


@pytest.mark.parametrize(("text", "after", "expected"), [
    ("0/15 * * * ? *", "2026-01-01 10:07", ["2026-01-01 10:15", "2026-01-01 10:30", "2026-01-01 10:45", "2026-01-01 11:00"]),
    ("0 18 ? * MON-FRI *", "2026-01-02 18:00", ["2026-01-05 18:00"]),
    ("0 8 1 * ? *", "2026-01-31 00:00", ["2026-02-01 08:00"]),
    ("0 10 ? * 6#3 *", "2026-01-01 00:00", ["2026-01-16 10:00", "2026-02-20 10:00"]),
    ("0 9 ? * 2#5 *", "2026-01-01 00:00", ["2026-03-30 09:00"]),
    ("0 9 ? * 5L *", "2026-01-01 00:00", ["2026-01-29 09:00", "2026-02-26 09:00"]),
    ("0 9 ? * L *", "2026-01-01 00:00", ["2026-01-31 09:00"]),
    ("0 0 L * ? *", "2028-02-01 00:00", ["2028-02-29 00:00", "2028-03-31 00:00"]),
    ("0 0 L-2 * ? *", "2026-02-01 00:00", ["2026-02-26 00:00"]),
    ("0 0 3W * ? *", "2026-01-01 00:00", ["2026-01-02 00:00", "2026-02-03 00:00"]),
    ("0 0 1W 8 ? *", "2026-01-01 00:00", ["2026-08-03 00:00"]),
    ("0 0 LW * ? *", "2026-01-01 00:00", ["2026-01-30 00:00"]),
    ("0 0 31W * ? *", "2026-02-01 00:00", ["2026-03-31 00:00"]),
    ("0 0 29 2 ? *", "2026-01-01 00:00", ["2028-02-29 00:00"]),
    ("0 0 31 2 ? *", "2026-01-01 00:00", ["never"]),
    ("0 0 1 1 ? 2025", "2026-01-01 00:00", ["never"]),
    ("0 0 1 1 ? 2027-2028", "2026-06-01 00:00", ["2027-01-01 00:00", "2028-01-01 00:00", "never"]),
    ("0 22-2/2 * * ? *", "2026-01-01 00:00", ["2026-01-01 02:00", "2026-01-01 22:00"]),
    ("0 9 * * 1-5", "2026-01-02 09:00", ["2026-01-05 09:00"]),
    ("0 9 * * 0,7", "2026-01-01 00:00", ["2026-01-04 09:00"]),
    ("0 9 13 * 5", "2026-02-07 00:00", ["2026-02-13 09:00", "2026-02-20 09:00"]),
    ("*/20 9 * jan mon", "2026-01-05 09:05", ["2026-01-05 09:20", "2026-01-05 09:40", "2026-01-12 09:00"]),
    ("59 23 31 12 *", "2026-12-31 23:59", ["2027-12-31 23:59"]),
])
def test_the_next_instants(text: str, after: str, expected: list[str]) -> None:
    assert following(text, after, count=len(expected)) == expected


def test_an_hour_that_the_clocks_skip_does_not_fire_and_one_that_they_repeat_fires_once() -> None:
    assert following("30 2 * * *", "2026-03-28 03:00", "Europe/Berlin", 2) == ["2026-03-30 02:30", "2026-03-31 02:30"]
    assert following("30 2 * * *", "2026-10-24 03:00", "Europe/Berlin", 2) == ["2026-10-25 02:30", "2026-10-26 02:30"]
    assert following("0 9 * * *", "2026-06-01 00:00", "Asia/Kathmandu") == ["2026-06-01 09:00"]


@pytest.mark.parametrize("text", [
    "", "* * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 8", "* * * * * *", "* * ? * ? *", "* * ? * *",
    "*/0 * * * *", "1- * * * *", "a * * * *", "0 0 ? * 8#1 *", "0 0 ? * 2#6 *", "0 0 32W * ? *", "0 0 1 1 ? 1969", "1,,2 * * * *",
])
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_cron(text)
