"""Computes the instants of a schedule: the next one, and which of the missed ones start a run. Knows no clock and no store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stepless.limits import MAX_CATCH_UP_RUNS, ON_TIME_MS
from stepless.model.triggers.cron import parse_cron
from stepless.ports import Rhythm

SKIP: Final = "skip"
LAST: Final = "last"
ALL: Final = "all"


def next_ms(rhythm: Rhythm, after_ms: int, phase_ms: int = 0) -> int | None:
    """Returns the first instant after `after_ms`; None if there is none. A rate fires at whole multiples from `phase_ms`, by
    default since 1970 UTC."""
    if rhythm.rate_ms is not None:
        return ((after_ms - phase_ms) // rhythm.rate_ms + 1) * rhythm.rate_ms + phase_ms
    return parse_cron(rhythm.cron or "").next_ms(after_ms, rhythm.timezone)


def latest_ms(rhythm: Rhythm, from_ms: int, until_ms: int, limit: int, phase_ms: int = 0) -> Sequence[int]:
    """Returns the instants from `from_ms` to `until_ms`, both included, in order; if there are more than `limit`, the last
    ones."""
    if rhythm.rate_ms is None:
        return parse_cron(rhythm.cron or "").latest_ms(from_ms, until_ms, rhythm.timezone, limit)
    last = (until_ms - phase_ms) // rhythm.rate_ms * rhythm.rate_ms + phase_ms
    count = min(limit, (last - from_ms) // rhythm.rate_ms + 1)
    return [last - rhythm.rate_ms * before for before in reversed(range(max(0, count)))]


def to_catch_up(rhythm: Rhythm, policy: str | None, from_ms: int, now_ms: int, phase_ms: int = 0) -> Sequence[int]:
    """Returns the instants from `from_ms` to now that start a run, in order, by the field `catch_up`. Without a policy: the first
    one."""
    if policy == SKIP:
        return latest_ms(rhythm, max(from_ms, now_ms - ON_TIME_MS), now_ms, MAX_CATCH_UP_RUNS, phase_ms)
    if policy in (LAST, ALL):
        return latest_ms(rhythm, from_ms, now_ms, 1 if policy == LAST else MAX_CATCH_UP_RUNS, phase_ms)
    first = next_ms(rhythm, from_ms - 1, phase_ms)
    return [first] if first is not None and first <= now_ms else []


def is_missed(rhythm: Rhythm, policy: str | None, at_ms: int, now_ms: int) -> bool:
    """Returns whether a firing that is delivered now comes too late for the policy."""
    if policy == SKIP:
        return now_ms - at_ms > ON_TIME_MS
    if policy in (LAST, ALL):
        newer = 1 if policy == LAST else MAX_CATCH_UP_RUNS
        return len(latest_ms(rhythm, at_ms + 1, now_ms, newer, at_ms)) == newer
    return False
