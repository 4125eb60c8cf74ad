"""Counts a run's billed AWS usage: units, requests, milliseconds. `prices` holds their prices."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

import orjson


@dataclass(frozen=True, slots=True)
class Tally:
    """Write and read units include the table and its indexes; `index_units` is the indexes' part of the write units.
    `queue_requests` counts sends, receipts and deletions; `schedules` the one-time schedules created; `lambda_ms` is the time of
    all invocations, and `lambda_mb_ms` the sum of time times memory."""

    write_units: float = 0
    index_units: float = 0
    read_units: float = 0
    queue_requests: int = 0
    schedules: int = 0
    blob_writes: int = 0
    blob_reads: int = 0
    http_requests: int = 0
    invocations: int = 0
    lambda_ms: int = 0
    lambda_mb_ms: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(getattr(self, name) + getattr(other, name) for name in _NAMES))


_NAMES: Final = tuple(field.name for field in fields(Tally))


def encode_tally(tally: Tally) -> bytes:
    """Returns a JSON array in the order of the fields, without trailing zeros: some 40 bytes, because every header stores it."""
    counts = [_short(getattr(tally, name)) for name in _NAMES]
    while counts and not counts[-1]:
        counts.pop()
    return orjson.dumps(counts)


def decode_tally(data: bytes) -> Tally:
    """Decodes a tally. Invalid bytes give an empty tally: an unreadable bill must not stop a run."""
    return Tally(*(_counts(data) or ()))


def is_tally(data: bytes) -> bool:
    return _counts(data) is not None


def _counts(data: bytes) -> list[float] | None:
    try:
        counts = orjson.loads(data)
    except ValueError:
        return None
    fits = isinstance(counts, list) and len(counts) <= len(_NAMES) and all(type(count) in (int, float) for count in counts)
    return counts if fits else None


def _short(count: float) -> float:
    return int(count) if count == int(count) else round(count, 2)
