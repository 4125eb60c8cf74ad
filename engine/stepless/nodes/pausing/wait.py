"""Defines the kind `wait`, which waits for a time or until an instant, at no cost."""

from __future__ import annotations

from pydantic import Field

from stepless.errors import ConfigError
from stepless.limits import MAX_DURATION_MS
from stepless.model.findings import Finding
from stepless.model.kind import Kind, Nature, Outcome, Pause, Work
from stepless.model.texts.durations import parse_duration_ms
from stepless.model.work import passed_through
from stepless.nodes.params import Duration, Params, exactly_one, instant_ms, rendered


class WaitParams(Params):
    """Exactly one of `for` and `until` sets the end of the wait."""

    for_: Duration | None = Field(None, alias="for")
    """How long to wait."""
    until: str | int | None = None
    """The instant: ISO 8601 text with an offset, or milliseconds since 1970 UTC. A past instant ends the wait at once."""


def check(params: WaitParams, path: str) -> list[Finding]:
    return exactly_one(params, path, ("for", "until"))


def suspend(work: Work) -> Pause | Outcome:
    """Completes at the instant, or at once if it has passed, and returns its input."""
    params = rendered(WaitParams, work.params, check=check)
    if params.for_ is not None:
        resume_at_ms = work.now_ms + parse_duration_ms(params.for_)
    else:
        assert params.until is not None
        resume_at_ms = params.until if isinstance(params.until, int) else instant_ms(params.until, "with.until")
    if resume_at_ms <= work.now_ms:
        return Outcome(passed_through(work.inputs))
    if resume_at_ms - work.now_ms > MAX_DURATION_MS:
        raise ConfigError(f"{params.until!r} is more than {MAX_DURATION_MS // 86_400_000} days away", place="with.until",
                          mend="use an earlier instant; a number is in milliseconds")
    return Pause("timer", resume_at_ms=resume_at_ms, exits=())


KIND = Kind(
    "wait", Nature.PAUSE, WaitParams, "lets time pass, then returns its input", suspend=suspend, check=check,
    brief=("for", "until"),
    icon="M4.5 2h7M4.5 14h7M5.5 2c0 3.5 5 4 5 6s-5 2.5-5 6M10.500 2c0 3.500-5 4-5 6s5 2.500 5 6",
)
