"""Decides when a lease, or slots that are kept for a run, have expired."""

from __future__ import annotations

from stepless.limits import CLOCK_TOLERANCE_MS, GRANT_MS, LEASE_MS


def is_over(until_ms: int, now_ms: int) -> bool:
    """Returns whether a lease or grant until this instant counts no longer: it has ended, or ends later than any that begins now,
    because it was taken before the clock was set back (docs/understand/durability.md#clocks)."""
    return until_ms <= now_ms or until_ms > now_ms + max(LEASE_MS, GRANT_MS) + CLOCK_TOLERANCE_MS
