"""Finds the instants of a cron expression that fall into a change of the clocks: an hour that is skipped, or comes twice.

A skipped time fires nothing, and a time that comes twice fires once, at the first: as EventBridge Scheduler does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Final, Literal
from zoneinfo import ZoneInfo

from stepless.limits import MAX_KNOWN_ZONES
from stepless.model.triggers.cron import Cron, parse_cron

_DAYS_AHEAD: Final = 400  # more than a year: each change of a zone with summer time is among them
_FIRST_YEAR: Final = 1970
_LAST_YEAR: Final = 2199
_STEP_MS: Final = 40 * 365 * 86_400_000  # how far a cron expression looks ahead for its next instant, at least


@dataclass(frozen=True, slots=True)
class ClockChange:
    """What a schedule does when the clocks change. `first` and `last` are the first and the last of its times that are `skipped`
    or `repeated` then, as the clock shows them. `at_ms` is the instant of the first firing for a repeated time; for a skipped
    one, of the next firing after it, None if there is none."""

    kind: Literal["skipped", "repeated"]
    first: datetime
    last: datetime
    at_ms: int | None


def clock_changes(cron: str, timezone: str, after_ms: int) -> tuple[ClockChange, ...]:
    """Returns the changes within about a year after an instant (milliseconds since 1970 UTC) that the expression falls into, in
    order."""
    parsed, zone = parse_cron(cron), ZoneInfo(timezone)
    first = datetime.fromtimestamp(after_ms / 1000, zone).date()
    found = list[ClockChange]()
    for day in _days_of_change(zone, first):
        found += _changes_on(parsed, zone, timezone, day, after_ms)
    return tuple(found)


def sentence(kind: str, first: datetime, last: datetime) -> str:
    """Describes what a schedule does at a change of the clocks, with the times of the clock."""
    times, many = f"{first:%H:%M}", last != first
    if many:
        times += f" to {last:%H:%M}"
    if kind == "skipped":
        return f"on {first:%Y-%m-%d} the clocks skip {times}: it does not fire {'at these times' if many else 'then'}"
    return f"on {first:%Y-%m-%d} {times} comes twice: it fires once, the first time"


def fires_after(cron: str, timezone: str, after_ms: int) -> bool:
    """Returns whether the expression has an instant after `after_ms`, to the end of the year 2199."""
    parsed = parse_cron(cron)
    start_ms, zone = after_ms, ZoneInfo(timezone)
    end_ms = int(datetime(_LAST_YEAR, 12, 31, tzinfo=zone).timestamp() * 1000)
    while start_ms < end_ms:
        if parsed.next_ms(start_ms, timezone) is not None:
            return True
        start_ms += _STEP_MS
    return False


def ever_fires(cron: str, timezone: str) -> bool:
    """Returns whether the expression has any instant from 1970 to 2199."""
    return fires_after(cron, timezone, int(datetime(_FIRST_YEAR, 1, 1, tzinfo=UTC).timestamp() * 1000) - 1)


@lru_cache(maxsize=MAX_KNOWN_ZONES)
def _days_of_change(zone: ZoneInfo, first: date) -> tuple[date, ...]:
    """The days on which the offset from UTC changes, in about a year from the first one."""
    return tuple(_changing(zone, (first + timedelta(days=number) for number in range(_DAYS_AHEAD))))


def _changing(zone: ZoneInfo, days: Iterable[date]) -> Iterator[date]:
    for day in days:
        midnight = datetime(day.year, day.month, day.day, tzinfo=zone)
        after = midnight + timedelta(days=1)
        if len({each.utcoffset() for each in (midnight, midnight.replace(fold=1), after.replace(fold=1))}) > 1:
            yield day


def _changes_on(cron: Cron, zone: ZoneInfo, timezone: str, day: date, after_ms: int) -> Iterator[ClockChange]:
    skipped, repeated = list[datetime](), list[datetime]()
    for local in cron.times_on(day, zone):
        shown = local.astimezone(UTC).astimezone(zone)
        if shown.replace(tzinfo=None) != local.replace(tzinfo=None):
            skipped.append(local)
        elif local.utcoffset() != local.replace(fold=1).utcoffset():
            repeated.append(local)
    if repeated:
        at_ms = int(repeated[0].timestamp() * 1000)
        if at_ms > after_ms:
            yield ClockChange("repeated", repeated[0], repeated[-1], at_ms)
    if skipped:
        # The instant that a clock which was not changed would show as this time.
        missed_ms = int(skipped[0].timestamp() * 1000)
        if missed_ms > after_ms:
            yield ClockChange("skipped", skipped[0], skipped[-1], cron.next_ms(missed_ms - 1, timezone))
