"""Paces a node by its rate: reserves instants at which attempts may begin (a generic cell rate algorithm without a burst).

The stored state is one instant, the earliest at which the next attempt may begin. A reservation takes one or more instants,
evenly spaced. An attempt may begin from its instant on until `slack_us` later. In a window of the length `per`, attempts can
therefore begin for reservations from `per + slack` only; the spacing allows at most `max` of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stepless.limits import MAX_RATE_SLACK_MS, RATE_AHEAD_MS
from stepless.model.graph import Pace

_US: Final = 1_000


def slack_ms(pace: Pace) -> int:
    """Returns how long after its instant an attempt may still begin: a tenth of the period, at most MAX_RATE_SLACK_MS."""
    return min(pace.per_ms // 10, MAX_RATE_SLACK_MS)


def spacing_us(pace: Pace) -> int:
    """Returns the time between two reserved instants, rounded up. The millisecond is the resolution of clocks."""
    return -(-(pace.per_ms + slack_ms(pace) + 1) * _US // pace.max)


def at_once(pace: Pace) -> int:
    """Returns how many instants one reservation may take: those of RATE_AHEAD_MS, so that runs take turns; at least one."""
    return max(1, RATE_AHEAD_MS * _US // spacing_us(pace))


def reserve(next_us: int, now_ms: int, pace: Pace, number: int) -> tuple[Sequence[int], int]:
    """Reserves `number` instants: in milliseconds, rounded up, in order; and the new state."""
    spacing = spacing_us(pace)
    first = max(next_us, now_ms * _US)
    return [-(-(first + place * spacing) // _US) for place in range(number)], first + number * spacing


def is_late(at_ms: int, now_ms: int, pace: Pace) -> bool:
    """Returns whether an attempt may no longer begin for the instant that was reserved for it."""
    return now_ms > at_ms + slack_ms(pace)
