"""Parses cron expressions and computes the instants at which they fire.

Six fields are the AWS dialect (EventBridge): minute, hour, day of the month, month, day of the week (1 or SUN to 7 or SAT) and
year. One of the two days is `?`; `L`, `W` and `#` work as documented there. Five fields are the Unix dialect: no year, Sunday is
0 or 7, and if both days are restricted, either may match. Both accept names in any case, `*`, lists, ranges and steps.

Around a clock change, schedules behave as in EventBridge Scheduler: a skipped hour fires nothing, a repeated hour fires once, the
first time.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

_MONTHS: Final = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_DAYS: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_YEARS_AHEAD: Final = 40  # 29 February on a given weekday comes every 28 years, and up to 40 around some turns of a century
_LAST_YEAR: Final = 2199


@dataclass(frozen=True, slots=True)
class Days:
    """The days of a month that match: fixed days, and days that depend on the month. Weekdays count from 0, Sunday."""

    month_days: frozenset[int] | None  # None: any
    from_last: int | None = None  # `L`: 0; `L-3`: 3
    nearest: int | None = None  # `15W`; 0 is `LW`
    weekdays: frozenset[int] | None = None  # None: any
    last_weekday: int | None = None  # `5L`
    nth_weekday: tuple[int, int] | None = None  # `6#3`: the third
    either: bool = False  # Unix: a restricted day of the month or a restricted weekday matches

    def of(self, year: int, month: int) -> list[int]:
        """Returns the matching days of a month, in order."""
        last = monthrange(year, month)[1]
        return [day for day in range(1, last + 1) if self._fits(date(year, month, day), last)]

    def _fits(self, day: date, last: int) -> bool:
        by_month, by_week = self._fits_month(day, last), self._fits_week(day, last)
        return by_month or by_week if self.either else by_month and by_week

    def _fits_month(self, day: date, last: int) -> bool:
        if self.from_last is not None:
            return day.day == last - self.from_last
        if self.nearest is not None:
            return day.day == _nearest_workday(day.year, day.month, self.nearest or last, last)
        return self.month_days is None or day.day in self.month_days

    def _fits_week(self, day: date, last: int) -> bool:
        weekday = day.isoweekday() % 7
        if self.last_weekday is not None:
            return weekday == self.last_weekday and day.day > last - 7
        if self.nth_weekday is not None:
            return (weekday, (day.day - 1) // 7 + 1) == self.nth_weekday
        return self.weekdays is None or weekday in self.weekdays


def _nearest_workday(year: int, month: int, day: int, last: int) -> int:
    """The day from Monday to Friday nearest to `day` in the same month; 0 when the month has no such day."""
    if day > last:
        return 0
    weekday = date(year, month, day).isoweekday()
    if weekday == 6:
        return day - 1 if day > 1 else day + 2
    if weekday == 7:
        return day + 1 if day < last else day - 2
    return day


@dataclass(frozen=True, slots=True)
class Cron:
    minutes: Sequence[int]
    hours: Sequence[int]
    days: Days
    months: Sequence[int]
    years: frozenset[int] | None

    def next_ms(self, after_ms: int, timezone: str) -> int | None:
        """Returns the first instant after `after_ms` (milliseconds since 1970 UTC) at which it fires; None when it never fires
        again."""
        zone = ZoneInfo(timezone)
        after = datetime.fromtimestamp(after_ms / 1000, UTC)
        here = after.astimezone(zone).date() - timedelta(days=1)
        for year in range(here.year, min(here.year + _YEARS_AHEAD, _LAST_YEAR + 1)):
            if self.years is not None and year not in self.years:
                continue
            for month in self.months:
                if (year, month) < (here.year, here.month):
                    continue
                for day in self.days.of(year, month):
                    if date(year, month, day) >= here and (found := self._on(datetime(year, month, day, tzinfo=zone), after)):
                        return int(found.timestamp() * 1000)
        return None

    def latest_ms(self, from_ms: int, until_ms: int, timezone: str, limit: int) -> list[int]:
        """Returns the instants from `from_ms` to `until_ms`, both included, in order; if there are more than `limit`, the last
        ones. Its cost grows with the days between and with `limit`, not with the number of instants."""
        zone, found = ZoneInfo(timezone), list[int]()
        first = datetime.fromtimestamp(from_ms / 1000, zone).date() - timedelta(days=1)
        day = datetime.fromtimestamp(until_ms / 1000, zone).date() + timedelta(days=1)
        while day >= first and len(found) < limit:
            if self._fires_on(day):
                midnight = datetime(day.year, day.month, day.day, tzinfo=zone)
                instants = sorted(int(at.timestamp() * 1000) for at in self._of_day(midnight))
                found = [at for at in instants if from_ms <= at <= until_ms] + found
            day -= timedelta(days=1)
        return found[-limit:]

    def times_on(self, day: date, zone: ZoneInfo) -> list[datetime]:
        """Returns the times of one day as a clock shows them, in order, whether or not the clock of the zone shows them then."""
        if not self._fires_on(day):
            return []
        midnight = datetime(day.year, day.month, day.day, tzinfo=zone)
        return [midnight.replace(hour=hour, minute=minute) for hour in self.hours for minute in self.minutes]

    def _fires_on(self, day: date) -> bool:
        in_year = self.years is None or day.year in self.years
        return in_year and day.month in self.months and day.day in self.days.of(day.year, day.month)

    def _on(self, midnight: datetime, after: datetime) -> datetime | None:
        """The first instant on one day after `after`."""
        return min((instant for instant in self._of_day(midnight) if instant > after), default=None)

    def _of_day(self, midnight: datetime) -> list[datetime]:
        """The instants of one day, in UTC, in no particular order."""
        found = []
        for hour in self.hours:
            for minute in self.minutes:
                local = midnight.replace(hour=hour, minute=minute)
                instant = local.astimezone(UTC)
                exists = instant.astimezone(local.tzinfo).replace(tzinfo=None) == local.replace(tzinfo=None)
                if exists:
                    found.append(instant)
        return found


def parse_cron(text: str) -> Cron:
    """Parses a cron expression. Raises `ValueError` with the invalid field."""
    fields = text.upper().split()
    if len(fields) not in (5, 6):
        raise ValueError(f"{text!r} has {len(fields)} fields, not 5 (minute hour day month weekday) or 6 (and year)")
    minute, hour, day, month, weekday = fields[:5]
    aws = len(fields) == 6
    if aws and (day == "?") == (weekday == "?"):
        raise ValueError("of six fields exactly one of the day of the month and the day of the week is `?`")
    if not aws and "?" in text:
        raise ValueError("`?` belongs to expressions of six fields")
    years = _numbers(fields[5], 1970, _LAST_YEAR, (), "year") if aws and fields[5] != "*" else None
    return Cron(
        sorted(_numbers(minute, 0, 59, (), "minute")),
        sorted(_numbers(hour, 0, 23, (), "hour")),
        _aws_days(day, weekday) if aws else _unix_days(day, weekday),
        sorted(_numbers(month, 1, 12, _MONTHS, "month")),
        years,
    )


def _unix_days(day: str, weekday: str) -> Days:
    month_days = None if day == "*" else _numbers(day, 1, 31, (), "day")
    weekdays = None if weekday == "*" else frozenset(n % 7 for n in _numbers(weekday, 0, 7, _DAYS, "weekday", first=0))
    return Days(month_days, weekdays=weekdays, either=month_days is not None and weekdays is not None)


def _aws_days(day: str, weekday: str) -> Days:
    if weekday == "?":
        if match := re.fullmatch(r"L(?:-(\d{1,2}))?", day):
            return Days(None, from_last=int(match[1] or 0))
        if match := re.fullmatch(r"(\d{1,2}|L)W", day):
            return Days(None, nearest=0 if match[1] == "L" else min(_numbers(match[1], 1, 31, (), "day")))
        return Days(None if day == "*" else _numbers(day, 1, 31, (), "day"))
    if match := re.fullmatch(r"([1-7]|[A-Z]{3})?L", weekday):
        return Days(None, last_weekday=min(_numbers(match[1] or "7", 1, 7, _DAYS, "weekday")) - 1)
    if match := re.fullmatch(r"([1-7]|[A-Z]{3})#([1-5])", weekday):
        return Days(None, nth_weekday=(min(_numbers(match[1], 1, 7, _DAYS, "weekday")) - 1, int(match[2])))
    return Days(None, weekdays=frozenset(n - 1 for n in _numbers(weekday, 1, 7, _DAYS, "weekday")) if weekday != "*" else None)


def _numbers(text: str, low: int, high: int, names: Sequence[str], field: str, *, first: int = 1) -> frozenset[int]:
    """The numbers of a field. `names` stand for consecutive numbers from `first`."""
    found: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"(\*|(?P<from>\w+)(?:-(?P<to>\w+))?)(?:/(?P<step>\d{1,4}))?", part)
        if match is None:
            raise ValueError(f"the {field} {part!r} cannot be read")
        start = low if match["from"] is None else _number(match["from"], names, first, field)
        stepped_or_all = match["from"] is None or match["step"] is not None
        end = _number(match["to"], names, first, field) if match["to"] else high if stepped_or_all else start
        step = int(match["step"] or 1)
        if not (low <= start <= high and low <= end <= high and step > 0):
            raise ValueError(f"the {field} {part!r} is outside of {low} to {high}")
        found |= set(range(start, end + 1, step)) if start <= end else {*range(start, high + 1, step), *range(low, end + 1, step)}
    return frozenset(found)


def _number(text: str, names: Sequence[str], first: int, field: str) -> int:
    if text in names:
        return names.index(text) + first
    if not (text.isascii() and text.isdecimal() and len(text) <= 4):
        raise ValueError(f"the {field} {text!r} is not a number")
    return int(text)
