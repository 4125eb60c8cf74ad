"""Parses durations such as `90s`, `15m` and `PT2H`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from stepless.limits import MAX_DURATION_MS, MAX_RETENTION_MS, MIN_RETENTION_MS

_UNITS_MS: Final = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 7 * 86_400_000}
_SHORT: Final = re.compile(r"([0-9]{1,15})(ms|s|m|h|d)")
_ISO: Final = re.compile(
    r"P(?=.)(?:(?P<w>[0-9]{1,9})W)?(?:(?P<d>[0-9]{1,9})D)?"
    r"(?:T(?=.)(?:(?P<h>[0-9]{1,9})H)?(?:(?P<m>[0-9]{1,9})M)?(?:(?P<s>[0-9]{1,12})(?:\.(?P<ms>[0-9]{1,3}))?S)?)?"
)
DURATION_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "string", "pattern": r"^([0-9]+(ms|s|m|h|d)|P.+)$", "examples": ["90s", "15m", "2h", "3d", "PT2H"],
}  # fmt: skip
_FIX: Final = "write it like 500ms, 90s, 15m, 2h, 3d or PT2H"


class DurationTooLong(ValueError):
    """Outside the bounds of a duration: above MAX_DURATION_MS, for a retention outside its own."""


def parse_retention_ms(text: str) -> int:
    """Milliseconds of a retention. Raises as `parse_duration_ms` does, with MIN_RETENTION_MS and MAX_RETENTION_MS as the
    bounds."""
    retention_ms = parse_duration_ms(text, MAX_RETENTION_MS)
    if retention_ms < MIN_RETENTION_MS:
        least, most = (limit // _UNITS_MS["d"] for limit in (MIN_RETENTION_MS, MAX_RETENTION_MS))
        raise DurationTooLong(f"{text!r} is shorter than the shortest retention, {least}d; the longest is {most}d")
    return retention_ms


def parse_duration_ms(text: str, longest_ms: int = MAX_DURATION_MS) -> int:
    """Milliseconds of `90s 15m 2h 3d 500ms` or of an ISO-8601 duration in weeks, days, hours, minutes and seconds.

    Months and years are refused because they have no fixed length. Raises `ValueError` with the fix, `DurationTooLong` above
    `longest_ms`.
    """
    if short := _SHORT.fullmatch(text):
        duration_ms = int(short[1]) * _UNITS_MS[short[2]]
    elif iso := _ISO.fullmatch(text):
        parts = iso.groupdict()
        parts["ms"] = (parts["ms"] or "").ljust(3, "0")
        duration_ms = sum(int(amount) * _UNITS_MS[unit] for unit, amount in parts.items() if amount)
    else:
        raise ValueError(f"{text[:40]!r} is not a duration; {_FIX}")
    if duration_ms > longest_ms:
        raise DurationTooLong(f"{text!r} is longer than the longest duration, {longest_ms // _UNITS_MS['d']}d")
    return duration_ms
