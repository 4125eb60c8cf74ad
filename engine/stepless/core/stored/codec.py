"""Encodes batches of events as bytes and decodes them: the only module that knows their stored format.

A batch is a JSON array: the instant of its first event, then one array per event,
`[type code, ms since the previous event, instance, parent, data]`, without empty elements at the end. Sequence numbers are not
stored: the store keeps the first one of each batch. The engine's own payload keys are shortened; user data is unchanged.
Batches above 1 KB are compressed when that makes them smaller. The first byte distinguishes them (`[` is plain, else zlib).

A batch has format 1 unless its first event has a sixth element: the format number. A format is a row of `WORDS`: its codes of
types and its short keys. Which formats a release reads, and which one it writes, is declared in `formats.py`. A release refuses a
format or a type of event that it does not know.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stepless.core.events import ROWS, Event, EventType
from stepless.core.stored.formats import FORMATS
from stepless.errors import DamagedLog, NewerLog
from stepless.model.stored.packing import dump, unpack

_FORMAT_AT = 5  # the position of the format number in the first event of a batch
_UNMARKED = 1  # the format of a batch without a number

_CODES: Mapping[EventType, str] = {type: row.code for type, row in ROWS.items()}
_SHORT = {"output": "o", "index": "i", "attempt": "a", "handle": "h", "reason": "r", "error": "e", "variables": "v", "total": "t"}


class Words:
    """The codes of the types and the short keys of one format, in both directions."""

    def __init__(self, codes: Mapping[EventType, str], short: Mapping[str, str]) -> None:
        self.codes = codes
        self.short = short
        self.types = {code: type for type, code in codes.items()}
        self.long = {short: key for key, short in short.items()}


WORDS: Mapping[int, Words] = {_UNMARKED: Words(_CODES, _SHORT)}  # of every format that this release reads


def encode_batch(
    events: Iterable[Event], format: int = FORMATS.log.writes, formats: Mapping[int, Words] = WORDS, *, writer: str = ""
) -> bytes:
    """Encodes consecutive events as one batch, not yet compressed. A `writer` makes its bytes differ from those of another writer
    of the same events; it is not read back. Raises ValueError or TypeError for data that is not JSON."""
    words = formats[format]
    codes, short = words.codes, words.short
    rows: list[Any] = []
    former_ms: int | None = None
    for event in events:
        at_ms, data = event.at_ms, event.data
        if former_ms is None:
            former_ms = at_ms
            rows.append(former_ms)
        row: list[Any] = [codes[event.type], at_ms - former_ms, event.instance, event.parent]
        if data:
            row.append({short.get(key, key): value for key, value in data.items()})
        elif not event.parent:
            del row[3 if event.instance else 2 :]
        rows.append(row)
        former_ms = at_ms
    if rows and (format != _UNMARKED or writer):
        _mark(rows[1], format)
    if rows and writer:
        rows[1].append(writer)
    return dump(rows)


def _mark(row: list[Any], format: int) -> None:
    """Puts the format number into the first event of a batch."""
    row += ("", 0, {})[len(row) - 2 :]
    row.append(format)


def decode_batch(data: bytes, first: int, formats: Mapping[int, Words] = WORDS) -> list[Event]:
    """Returns the events of a batch that starts at sequence number `first`. Raises `DamagedLog` and `NewerLog`."""
    try:
        at_ms, *rows = unpack(data)
        format = rows[0][_FORMAT_AT] if len(rows[0]) > _FORMAT_AT else _UNMARKED
        words = formats.get(format)
        if words is None:
            raise _unknown(format, first, max(formats))
        events = []
        for sequence, row in enumerate(rows, first):
            at_ms += row[1]
            events.append(_event(sequence, row, at_ms, first, words))
        return events
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise DamagedLog(f"its bytes are not a valid batch ({error})", sequence=first) from error


def _unknown(format: int, first: int, newest: int) -> Exception:
    newer = format > newest
    return NewerLog(f"it has format {format}", sequence=first) if newer else ValueError(f"there is no format {format}")


def _event(sequence: int, row: list[Any], at_ms: int, first: int, words: Words) -> Event:
    size, type = len(row), words.types.get(row[0])
    if type is None and isinstance(row[0], str):
        raise NewerLog(f"event {sequence:,} has the unknown type {row[0]!r:.40}", sequence=first)
    if type is None:
        raise TypeError(f"event {sequence:,} has no type")
    long = words.long
    data = {long.get(key, key): value for key, value in row[4].items()} if size > 4 else {}
    return Event(sequence, type, at_ms, row[2] if size > 2 else "", row[3] if size > 3 else 0, data)
