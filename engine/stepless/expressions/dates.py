"""Formats instants as `2026-01-31T09:30:00.000Z`: always in UTC and with milliseconds, so that texts sort like instants."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from stepless.expressions.faults import Misfit
from stepless.expressions.values import NUMBERS, kind
from stepless.model.json import JSON

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_CHARACTERS: Final = 64


def instant(value: JSON) -> str:
    """Formats the instant `value`: ISO-8601 text (a date alone means its midnight; without a zone it is UTC) or milliseconds
    since 1970. Cuts off finer fractions. Raises `Misfit` for other values and outside the years 1 to 9999."""
    if type(value) is not str and type(value) not in NUMBERS:
        raise Misfit(f"a date is a text or a number of milliseconds, not {kind(value)}")
    try:
        return _form(_read(value) if type(value) is str else _EPOCH + timedelta(milliseconds=value // 1))
    except (ValueError, OverflowError):
        raise Misfit("this is not a date", "write it like 2026-01-31 or 2026-01-31T09:30:00Z") from None


def _read(text: str) -> datetime:
    moment = datetime.fromisoformat(text[:_MAX_CHARACTERS])
    return moment.astimezone(UTC) if moment.tzinfo else moment


def _form(moment: datetime) -> str:
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
