"""Events and snapshots as bytes. The only place that knows how they are written down.

A batch is a JSON array: the instant of its first event, then one array per event,
`[type code, ms since the former, instance, parent, data]` with trailing emptiness cut off. Sequence numbers are not stored:
a batch knows its first. Keys that the engine itself puts into payloads are shortened; what users put in is not touched.
Batches above 1 KB are compressed when that makes them smaller; the first byte tells (`[` is plain, else zlib).

A batch is of format 1 unless its first event has a sixth element, which is then the number of its format. Releases before the one
that first wrote the number look at no more than five, so a release may write a format that they read as well; one that would
mislead them gets the next number, and they refuse it. An event of a type that this release does not know is refused alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stepless.core.events import Event, EventType
from stepless.errors import DamagedLog, NewerLog
from stepless.model.packing import dump, unpack

FORMAT = 1  # the newest that is read; all that are written are of it
_FORMAT_AT = 5  # in the first event of a batch

_CODES: Mapping[EventType, str] = {
    EventType.RUN_STARTED: "R",
    EventType.RUN_STATUS_CHANGED: "S",
    EventType.RUN_COMPLETED: "C",
    EventType.RUN_FAILED: "F",
    EventType.RUN_CANCELLED: "X",
    EventType.RUN_TIMED_OUT: "T",
    EventType.RUN_RECOVERED: "V",
    EventType.RUN_CONTINUED: "N",
    EventType.HEARTBEAT: "H",
    EventType.NODE_QUEUED: "q",
    EventType.NODE_STARTED: "s",
    EventType.NODE_WAITING: "w",
    EventType.NODE_RESUMED: "a",
    EventType.NODE_DELTA: "d",
    EventType.NODE_LOG: "g",
    EventType.NODE_RETRIED: "r",
    EventType.NODE_COMPLETED: "c",
    EventType.NODE_FAILED: "f",
    EventType.NODE_CANCELLED: "x",
    EventType.NODE_SKIPPED: "k",
    EventType.NODE_TIMED_OUT: "t",
    EventType.NODE_BLOCKED: "b",
    EventType.NODE_INVALIDATED: "i",
    EventType.LOOP_STARTED: "l",
    EventType.LOOP_NEXT: "n",
    EventType.LOOP_COMPLETED: "e",
    EventType.MODERATION_FLAGGED: "m",
    EventType.CONTRACT_VIOLATED: "v",
}
_TYPES = {code: type for type, code in _CODES.items()}
_SHORT = {"output": "o", "index": "i", "attempt": "a", "handle": "h", "reason": "r", "error": "e", "variables": "v", "total": "t"}
_LONG = {short: long for long, short in _SHORT.items()}


def encode_batch(events: Iterable[Event]) -> bytes:
    """Consecutive events as one batch, not compressed yet. Raises ValueError or TypeError for what is not JSON."""
    rows: list[Any] = []
    former_ms: int | None = None
    for event in events:
        if former_ms is None:
            former_ms = event.at_ms
            rows.append(former_ms)
        rows.append(_row(event, former_ms))
        former_ms = event.at_ms
    return dump(rows)


def _row(event: Event, former_ms: int) -> list[Any]:
    """One event as it stands in a batch."""
    data = event.data
    row: list[Any] = [_CODES[event.type], event.at_ms - former_ms, event.instance, event.parent]
    if data:
        row.append({_SHORT.get(key, key): value for key, value in data.items()})
    elif not event.parent:
        del row[3 if event.instance else 2 :]
    return row


def decode_batch(data: bytes, first: int) -> list[Event]:
    """The events of a batch that starts at sequence number `first`. Raises `DamagedLog` and `NewerLog`."""
    try:
        at_ms, *rows = unpack(data)
        if len(rows[0]) > _FORMAT_AT and rows[0][_FORMAT_AT] > FORMAT:
            raise NewerLog(f"it is of format {rows[0][_FORMAT_AT]}", sequence=first)
        events = []
        for sequence, row in enumerate(rows, first):
            at_ms += row[1]
            events.append(_event(sequence, row, at_ms, first))
        return events
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise DamagedLog(f"its bytes are no batch ({error})", sequence=first) from error


def _event(sequence: int, row: list[Any], at_ms: int, first: int) -> Event:
    size, type = len(row), _TYPES.get(row[0])
    if type is None and isinstance(row[0], str):
        raise NewerLog(f"event {sequence:,} is of the unknown type {row[0]!r:.40}", sequence=first)
    if type is None:
        raise TypeError(f"event {sequence:,} has no type")
    data = {_LONG.get(key, key): value for key, value in row[4].items()} if size > 4 else {}
    return Event(sequence, type, at_ms, row[2] if size > 2 else "", row[3] if size > 3 else 0, data)
