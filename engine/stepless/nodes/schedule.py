"""`schedule`: a run that the clock starts."""

from __future__ import annotations

from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field

from stepless.model.cron import parse_cron
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


def _readable_cron(text: str) -> str:
    parse_cron(text)
    return text


class ScheduleParams(Params):
    """Exactly one of `cron` and `rate` says when."""

    cron: Annotated[str, AfterValidator(_readable_cron)] | None = Field(
        None, max_length=100, pattern=r"^[0-9A-Za-z*/,?#-]+( +[0-9A-Za-z*/,?#-]+)*$",
    )
    """Minute, hour, day of the month, month and day of the week in Unix's dialect, or those and the year in that of AWS."""
    rate: Annotated[Duration, AfterValidator(_whole_minutes)] | None = None
    """Every so often, in whole minutes."""
    timezone: str = Field("UTC", pattern=r"^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$", max_length=64)
    """The IANA name of the time zone that `cron` is read in."""


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
