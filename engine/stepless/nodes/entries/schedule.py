"""Defines the kind `schedule`, which starts runs at scheduled times."""

from __future__ import annotations

from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, Field

from stepless.model.findings import Finding
from stepless.model.kind import Kind, Nature, Outcome, Part, Work
from stepless.model.texts.durations import parse_duration_ms
from stepless.model.triggers.clock_changes import ever_fires
from stepless.model.triggers.cron import parse_cron
from stepless.nodes.params import Duration, Params, exactly_one

_MINUTE_MS = 60_000


def _whole_minutes(text: str) -> str:
    rate_ms = parse_duration_ms(text)
    if rate_ms == 0 or rate_ms % _MINUTE_MS:
        raise ValueError(f"{text!r} is not a whole number of minutes; a schedule fires at most once a minute")
    return text


def _readable_cron(text: str) -> str:
    parse_cron(text)
    return text


class ScheduleParams(Params):
    """Exactly one of `cron` and `rate` sets the rhythm."""

    cron: Annotated[str, AfterValidator(_readable_cron)] | None = Field(
        None, max_length=100, pattern=r"^[0-9A-Za-z*/,?#-]+( +[0-9A-Za-z*/,?#-]+)*$",
    )
    """A cron expression: Unix syntax with five fields, or AWS syntax with six (the sixth is the year)."""
    rate: Annotated[Duration, AfterValidator(_whole_minutes)] | None = None
    """The interval, in whole minutes."""
    timezone: str = Field("UTC", pattern=r"^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$", max_length=64)
    """The IANA name of the time zone of `cron`."""
    catch_up: Literal["skip", "last", "all"] | None = None
    """What becomes of instants that were missed, because no process ran or because the schedule was paused: `skip` starts no run
    for them, `last` one run, for the latest, `all` one run for each, at most for the latest 100. By default, instants of a pause
    are skipped; a process on one machine starts one run, for the earliest instant that it missed, and on AWS every delivered
    instant starts its run, however late."""


def check(params: ScheduleParams, path: str) -> list[Finding]:
    findings = exactly_one(params, path, ("cron", "rate"))
    if not _known_zone(params.timezone):
        findings.append(Finding("unknown_timezone", f"{path}.timezone", f"there is no time zone `{params.timezone}`",
                                "Use a name from the IANA database, such as `Europe/Berlin`."))
    elif params.cron is not None and not _fires(params.cron, params.timezone):
        findings.append(Finding("never_fires", f"{path}.cron", f"`{params.cron}` never fires: no year has such a day and time",
                                "Correct the day, the month or the year."))
    return findings


def _fires(cron: str, timezone: str) -> bool:
    try:
        return ever_fires(cron, timezone)
    except (ZoneInfoNotFoundError, OSError):
        return True  # this machine has no time zone database


def _known_zone(name: str) -> bool:
    for zone in (name, "Etc/UTC"):
        try:
            ZoneInfo(zone)
        except (ZoneInfoNotFoundError, OSError):
            continue
        return zone == name
    return True  # this machine has no time zone database, so the name cannot be checked


def evaluate(work: Work) -> Outcome:
    return Outcome(work.run_inputs)


KIND = Kind(
    "schedule", Nature.ENTRY, ScheduleParams, "starts runs at scheduled times",
    parts=dict.fromkeys(("cron", "rate", "timezone", "catch_up"), Part.LITERAL), evaluate=evaluate, check=check,
    brief=("cron", "rate"),
    icon="M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 4.8V8l2.4 1.6",
)
