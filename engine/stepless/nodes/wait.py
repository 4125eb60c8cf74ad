"""`wait`: lets time pass, for free."""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import Field

from stepless.errors import ConfigError
from stepless.limits import MAX_DURATION_MS
from stepless.model.durations import parse_duration_ms
from stepless.model.findings import Finding
from stepless.model.kind import Kind, Nature, Outcome, Pause, Work
from stepless.model.work import passed_through
from stepless.nodes.params import Duration, Params, exactly_one, rendered

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class WaitParams(Params):
    """Exactly one of `for` and `until` says how long."""

    for_: Duration | None = Field(None, alias="for")
    """For so long."""
    until: str | int | None = None
    """Until an instant: ISO-8601 text with an offset, or milliseconds since 1970 UTC. One that has passed waits for nothing."""


def check(params: WaitParams, path: str) -> list[Finding]:
    return exactly_one(params, path, ("for", "until"))


def suspend(work: Work) -> Pause | Outcome:
    """Completes by itself at the instant, with what came in as its output; at once when that has passed."""
    params = rendered(WaitParams, work.params, check=check)
    if params.for_ is not None:
        resume_at_ms = work.now_ms + parse_duration_ms(params.for_)
    else:
        assert params.until is not None
        resume_at_ms = params.until if isinstance(params.until, int) else _instant_ms(params.until)
    if resume_at_ms <= work.now_ms:
        return Outcome(passed_through(work.inputs))
    if resume_at_ms - work.now_ms > MAX_DURATION_MS:
        raise ConfigError(f"{params.until!r} is more than {MAX_DURATION_MS // 86_400_000} days away", place="with.until",
                          mend="wait for less; an instant as a number is in milliseconds")
    return Pause("timer", resume_at_ms=resume_at_ms, exits=())


def _instant_ms(text: str) -> int:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(f"{text[:60]!r} is no instant", place="with.until", mend="write it like 2030-01-31T09:00:00Z") from None
    if instant.tzinfo is None:
        raise ConfigError(f"{text!r} has no offset, so it means another instant in every time zone", place="with.until",
                          mend="end it with Z or an offset such as +02:00")
    since = instant - _EPOCH
    return since.days * 86_400_000 + since.seconds * 1_000 + -(-since.microseconds // 1_000)  # up: never early


KIND = Kind("wait", Nature.PAUSE, WaitParams, "lets time pass, then puts out what came in", suspend=suspend, check=check)
