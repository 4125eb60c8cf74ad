"""Describes damage to stored values, and decodes stored values so that damage is found.

A store that finds a column or an attribute of the wrong type returns the record with a plain value in its place, and a stand-in
for its content, which says what is damaged. To decode the content then raises `Damaged` with that place.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from stepless.errors import Damaged, LogUnreadable

_MARK: Final = b"\x00damaged\x00"  # begins neither JSON, nor packed JSON, nor the key of a blob
FAULTS: Final = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, zlib.error)
"""What decoding a damaged value raises: it is read without checks, so the first thing that does not fit decides."""
_WHY_CHARACTERS: Final = 120


class Damage(NamedTuple):
    """A stored value that cannot be used: where it is, what is wrong, and what to do."""

    place: str
    why: str
    mend: str = ""


def stand_in(place: str, why: str) -> bytes:
    """Returns the content of a record of which another part is damaged."""
    return _MARK + json.dumps([place, why]).encode()


def told_by(data: object) -> Damage | None:
    """Returns the text of a stand-in; None for any other value."""
    if not isinstance(data, bytes) or not data.startswith(_MARK):
        return None
    place, why = json.loads(data[len(_MARK) :])
    return Damage(place, why)


def damage_in(error: BaseException, place: str, mend: str = "") -> Damage:
    """Returns the text of an error that was raised while a stored value was decoded."""
    if isinstance(error, Damaged | LogUnreadable):
        return Damage(error.place or place, error.why, error.mend or mend)
    return Damage(place, why_of(error), mend)


def why_of(error: BaseException) -> str:
    text = str(error).partition("\n")[0][:_WHY_CHARACTERS]
    return f"it cannot be decoded ({type(error).__name__}{': ' if text else ''}{text})"


@contextmanager
def decoding(data: object, place: str, mend: str, *, code: str | None = None) -> Iterator[None]:
    """Opens a block in which `data` from the store is decoded, and nothing else is done. Raises `Damaged` for whatever does not
    fit."""
    try:
        yield
    except FAULTS as error:
        told = told_by(data) or Damage(place, why_of(error))
        raise Damaged(told.why, place=told.place, mend=mend, code=code) from error


def json_object(data: bytes, place: str, mend: str) -> dict[str, Any]:
    """Returns a stored JSON object. Raises `Damaged`, also for another JSON value."""
    with decoding(data, place, mend):
        found = json.loads(data.decode("utf-8", "surrogatepass"))
        if not isinstance(found, dict):
            raise ValueError(f"a JSON object was stored, and there is a {type(found).__name__}")
    return found
