"""`schedule`: a run that the clock starts."""

from __future__ import annotations

from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field

from stepless.model.durations import parse_duration_ms
from stepless.model.findings import Finding
from stepless.model.kind import Kind, Nature, Outcome, Part, Work
from stepless.nodes.params import Duration, Params, exactly_one

_MINUTE_MS = 60_000


def _whole_minutes(text: str) -> str:
    rate_ms = parse_duration_ms(text)
    if rate_ms == 0 or rate_ms % _MINUTE_MS:
        raise ValueError(f"{text!r} is no whole number of minutes; schedules tick once a minute at most")
    return text


def _five_or_six_fields(text: str) -> str:
    count = len(text.split())
    if count not in (5, 6):
        raise ValueError(f"{text!r} has {count} fields; a cron expression has 5 (minute hour day month weekday) or 6 (year)")
    return text


class ScheduleParams(Params):
    """`cron` has the fields minute, hour, day of the month, month, day of the week and, if wanted, the year."""

    cron: Annotated[str, AfterValidator(_five_or_six_fields)] | None = Field(
        None, max_length=100, pattern=r"^[0-9A-Za-z*/,?#-]+( +[0-9A-Za-z*/,?#-]+)*$",
    )
    rate: Annotated[Duration, AfterValidator(_whole_minutes)] | None = None
    timezone: str = Field("UTC", pattern=r"^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$", max_length=64)


def check(params: ScheduleParams, path: str) -> list[Finding]:
    findings = exactly_one(params, path, ("cron", "rate"))
    if not _known_zone(params.timezone):
        findings.append(Finding("unknown_timezone", f"{path}.timezone", f"there is no time zone `{params.timezone}`",
                                "Use a name of the IANA database such as `Europe/Berlin`."))
    return findings


def _known_zone(name: str) -> bool:
    for zone in (name, "Etc/UTC"):
        try:
            ZoneInfo(zone)
        except (ZoneInfoNotFoundError, OSError):
            continue
        return zone == name
    return True  # no database on this machine: nothing can be said against the name


def evaluate(work: Work) -> Outcome:
    return Outcome(work.run_inputs)


KIND = Kind(
    "schedule", Nature.ENTRY, ScheduleParams, "starts a run when the clock says so",
    parts={"cron": Part.LITERAL, "rate": Part.LITERAL, "timezone": Part.LITERAL}, evaluate=evaluate, check=check,
)
