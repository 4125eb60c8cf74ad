"""Reads what an approval shows with its question: rows of a label and a value.

A page with a script formats amounts and times in the language and zone of its reader. `text` is what others show: English
numbers, and instants in UTC.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NamedTuple

from stepless.limits import MAX_DETAIL_CHARACTERS, MAX_DETAILS
from stepless.model.texts.short_markdown import Block, blocks_of, is_safe_link, plain

_WHOLE_CURRENCIES: Final = frozenset({"BIF", "CLP", "ISK", "JPY", "KRW", "PYG", "UGX", "VND", "XAF", "XOF"})
_CURRENCY: Final = re.compile(r"[A-Z]{3}")
_LONGEST_NUMBER: Final = 60  # digits: longer ones are texts


class Detail(NamedTuple):
    """One row. `format` is text, number, amount, time, date or markdown. `value` is what a program formats: a decimal number, an
    instant or a day in ISO 8601, or the text. `link` is empty for none; `blocks` are those of a Markdown text."""

    label: str
    format: str
    value: str
    text: str
    currency: str = ""
    link: str = ""
    blocks: Sequence[Block] = ()


def details_of(details: Mapping[str, Any]) -> list[Detail]:
    """Returns the rows that are stored with a pause. A value that does not fit its format is a text."""
    rows = details.get("details")
    return [_detail(row) for row in rows[:MAX_DETAILS] if isinstance(row, dict)] if isinstance(rows, list) else []


def lines_of(details: Sequence[Detail]) -> list[str]:
    """Returns the rows as plain text."""
    return [f"{row.label}: {_linked(row)}" if row.label else _linked(row) for row in details]


def said(value: Any) -> str:
    """Returns a value as people read it, cut where it is too long."""
    if isinstance(value, bool):
        text = "Yes" if value else "No"
    elif value is None:
        text = ""
    else:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_DETAIL_CHARACTERS else f"{text[: MAX_DETAIL_CHARACTERS - 1]}…"


def instant_text(at: datetime) -> str:
    """Returns an instant like `31 January 2026, 12:00 UTC`."""
    return f"{_day(at)}, {at:%H:%M} UTC"


def _linked(row: Detail) -> str:
    return f"{row.text} ({row.link})" if row.link and row.link != row.text else row.text


def _detail(row: Mapping[str, Any]) -> Detail:
    label, link, value = said(row.get("label")), said(row.get("link")), row.get("value")
    made = _formatted(label, str(row.get("format") or "text"), value, said(row.get("currency")))
    return made._replace(link=link) if is_safe_link(link) else made


def _formatted(label: str, format: str, value: Any, currency: str) -> Detail:
    text = said(value)
    if format == "markdown":
        blocks = blocks_of(text)
        return Detail(label, format, text, plain(blocks), blocks=blocks)
    number = _number(value) if format == "number" or currency else None
    if number is not None and _CURRENCY.fullmatch(currency):
        places = 0 if currency in _WHOLE_CURRENCIES else 2
        return Detail(label, "amount", f"{number:f}", f"{_grouped(number, places)} {currency}", currency)
    if number is not None:
        return Detail(label, "number", f"{number:f}", _grouped(number, 0))
    at = _instant(text) if format in ("time", "date") else None
    if at is not None and format == "time" and isinstance(at, datetime):
        return Detail(label, format, _iso(at), instant_text(at))
    if at is not None:
        return Detail(label, "date", _iso(at) if isinstance(at, datetime) else at.isoformat(), _day(at))
    return Detail(label, "text", text, text)


def _number(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str) or len(str(value)) > _LONGEST_NUMBER:
        return None
    try:
        number = Decimal(str(value).strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) < _LONGEST_NUMBER else None


def _grouped(number: Decimal, places: int) -> str:
    exponent = number.as_tuple().exponent
    given = -exponent if isinstance(exponent, int) and exponent < 0 else 0
    return f"{number:,.{max(places, given)}f}"


def _instant(text: str) -> datetime | date | None:
    """An instant in UTC, or a day without a time."""
    try:
        if len(text) == 10:
            return date.fromisoformat(text)
        at = datetime.fromisoformat(text)
        return at.astimezone(UTC) if at.tzinfo is not None else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _iso(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S}Z"


def _day(at: datetime | date) -> str:
    return f"{at.day} {at:%B} {at.year}"
