"""Checks the records that a store reads: every column or attribute has the type that was written.

A record with a part of another type is returned with a plain value in its place, and its content replaced by a stand-in that says
where the damage is (`model/stored/damage`): a list shows the other records, and a caller that decodes this one gets `Damaged`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, NamedTuple, TypeVar

from stepless.limits import NEVER_MS
from stepless.model.stored.damage import Damage, stand_in
from stepless.ports import (
    AuditEntry,
    Batch,
    DraftHead,
    Entity,
    Lease,
    Op,
    PublishedVersion,
    RunHead,
    Signal,
    StateAt,
    StoredVersion,
    Version,
)

T = TypeVar("T")
_LEAST_MS: Final = -62_135_596_800_000  # the beginning of the year 1
_MOST: Final = 2**62  # of counts
_EMPTY: Final[dict[type, Any]] = {str: "", int: 0, bytes: b"", bool: False}
_WORDS: Final[dict[type, str]] = {str: "text", int: "an integer", bytes: "bytes", float: "a fraction", type(None): "nothing"}


class Part(NamedTuple):
    """One column or attribute. `instant`: milliseconds, from the year 1 to 9999."""

    name: str
    type: type
    optional: bool = False
    instant: bool = False


class Shape(Generic[T]):
    """The parts of a record in the order of a row. The first `keys` of them name the record; `carrier` is the part that gets the
    stand-in. A record without one only gets plain values: no version has an empty hash, and no run an empty place."""

    def __init__(self, table: str, make: Callable[..., T], parts: Sequence[Part], *, keys: int, carrier: str | None) -> None:
        self.table = table
        self.parts = parts
        self._make = make
        self._keys = keys
        self._carriers = [place for place, part in enumerate(parts) if part.name == carrier]
        self._numbers = [(place, _most(part)) for place, part in enumerate(parts) if part.type is int]
        self._sound: set[tuple[type, ...]] = set()

    def read(self, row: Sequence[Any], named: str = "") -> T:
        """Returns the record of a row. `named` is what its place is called if the row does not have its own keys."""
        if tuple(map(type, row)) in self._sound and not self._is_beyond(row):
            return self._make(*row)
        return self._checked(row, named)

    def damage(self, row: Sequence[Any], named: str = "") -> list[Damage]:
        """Returns the damage to a row."""
        place = named or "/".join(map(shown_key, row[: self._keys]))
        return [
            Damage(f"{self.table}.{part.name} of {place}", why)
            for part, value in zip(self.parts, row, strict=True)
            if (why := _fault(part, value))
        ]

    def _is_beyond(self, row: Sequence[Any]) -> bool:
        for place, most in self._numbers:
            value = row[place]
            if value is not None and not _LEAST_MS <= value <= most:
                return True
        return False

    def _checked(self, row: Sequence[Any], named: str) -> T:
        found = self.damage(row, named)
        if not found:
            self._sound.add(tuple(map(type, row)))
            return self._make(*row)
        values = [value if not _fault(part, value) else _plain(part, value) for part, value in zip(self.parts, row, strict=True)]
        for place in self._carriers:
            values[place] = stand_in(found[0].place, found[0].why)
        return self._make(*values)


def _fault(part: Part, value: Any) -> str:
    if value is None and part.optional:
        return ""
    if type(value) is not part.type:
        if part.type is str and type(value) is bytes:
            return "it is not UTF-8"
        return f"it is {_WORDS.get(type(value), type(value).__name__)}, not {_WORDS[part.type]}"
    if isinstance(value, int) and not _LEAST_MS <= value <= _most(part):
        return "it is no instant before the year 10000" if part.instant else "it is out of range"
    return ""


def _most(part: Part) -> int:
    return NEVER_MS if part.instant else _MOST


def _plain(part: Part, value: Any) -> Any:
    """The value in a record for one of another type."""
    if part.type is str and type(value) is bytes:
        return value.decode("utf-8", "replace")
    return None if part.optional else _EMPTY[part.type]


def shown_key(key: Any) -> str:
    """Returns the key of a record as its place has it."""
    return ascii(key.decode("utf-8", "replace"))[1:-1] if isinstance(key, bytes) else f"{key}"


def _text(name: str, *, optional: bool = False) -> Part:
    return Part(name, str, optional)


def _number(name: str, *, optional: bool = False) -> Part:
    return Part(name, int, optional)


def _instant(name: str, *, optional: bool = False) -> Part:
    return Part(name, int, optional, True)


def _bytes(name: str, *, optional: bool = False) -> Part:
    return Part(name, bytes, optional)


HEAD: Final = Shape(
    "run", RunHead,
    [
        _text("run_id"), _text("workflow_id"), _text("version"), _text("status"), _instant("created_ms"), _instant("updated_ms"),
        _bytes("inputs"), _bytes("meta"), _number("sequence"), _number("due_ms", optional=True), _number("epoch"),
        _text("owner", optional=True), _number("lease_until_ms"), _bytes("spent"), _text("waits"), _text("exported"),
        _instant("expires_ms", optional=True),
    ],
    keys=1, carrier="meta",
)  # fmt: skip
_NAMED: Final = [_text("workflow_id"), _number("number"), _text("hash")]
VERSION: Final = Shape("version", Version, _NAMED, keys=2, carrier=None)
STORED_VERSION: Final = Shape(
    "version", StoredVersion, [*_NAMED, _bytes("document"), _instant("created_ms")], keys=2, carrier="document"
)
PUBLISHED_VERSION: Final = Shape(
    "version", PublishedVersion, [*_NAMED, _instant("created_ms"), _bytes("attached", optional=True)], keys=2, carrier="attached"
)
SIGNAL: Final = Shape(
    "inbox", Signal, [_text("kind"), _text("identity"), _bytes("body"), _instant("created_ms"), _number("taken")],
    keys=2, carrier="body",
)  # fmt: skip
AUDIT: Final = Shape("audit", AuditEntry, [_instant("at_ms"), _text("id"), _bytes("body")], keys=2, carrier="body")
BATCH: Final = Shape(
    "batch", Batch, [_number("first"), _number("last"), _bytes("data"), _number("epoch")], keys=1, carrier="data"
)
DRAFT: Final = Shape(
    "draft", DraftHead,
    [
        _text("workflow_id"), _number("epoch"), _bytes("origin"), _bytes("base"), _instant("created_ms"), _text("created_by"),
        _number("checked"), _number("is_open"), _number("former"),
    ],
    keys=1, carrier="origin",
)  # fmt: skip
OP: Final = Shape("op", Op, [_number("seq"), _bytes("data"), _instant("expires_ms")], keys=1, carrier="data")
ENTITY: Final = Shape(
    "entity", Entity, [_text("key"), _number("seq"), _bytes("value", optional=True), _instant("expires_ms", optional=True)],
    keys=1, carrier="value",
)  # fmt: skip
STATE: Final = Shape("state", StateAt, [_number("seq"), _bytes("data"), _instant("expires_ms")], keys=1, carrier="data")
LEASE: Final = Shape(
    "run", Lease, [_text("run_id"), _text("owner"), _number("epoch"), _number("until_ms"), _bytes("spent"), _text("exported")],
    keys=1, carrier=None,
)  # fmt: skip
CLAIM: Final[Shape[bytes]] = Shape("claim", lambda value: value, [_bytes("value")], keys=0, carrier="value")
BLOB: Final = Shape("blob", lambda data: data, [_bytes("data")], keys=0, carrier="data")
ATTACHED: Final = Shape("version", lambda attached: attached, [_bytes("attached", optional=True)], keys=0, carrier="attached")
SNAPSHOT: Final = Shape(
    "snapshot", lambda sequence, data: (sequence, data), [_number("sequence"), _bytes("data")], keys=0, carrier="data"
)
PLACE: Final = Shape("line", lambda place: place, [_text("place")], keys=0, carrier=None)
