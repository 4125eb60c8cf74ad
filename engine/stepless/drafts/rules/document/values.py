"""Converts values of a document to values of entities, and back.

    a list of objects or texts   {"[]": {k: {order, is}}}, so that paths lead into it and two people can add to it at once
    any other list               a list, changed as a whole
    1.0, 1e99, 2**80             {"#": "1.0"}: a number that JavaScript would write in another way
    the keys `[]` and `#`        with a backslash in front, and one more for each that they have already

Entities escape the names of their own fields in the same way, where a document has one that means something else.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from math import isfinite
from typing import Final

from stepless.drafts.rules.document.keys import derived_key
from stepless.drafts.rules.fractional_index import spread
from stepless.drafts.rules.values import Object, Path
from stepless.limits import MAX_INTEGER_BITS
from stepless.model.json import JSON

LIST: Final = "[]"
NUMBER: Final = "#"
_RESERVED: Final = frozenset({LIST, NUMBER})
_MAX_SAFE_INTEGER: Final = 2**53 - 1
_INTEGER: Final = re.compile(r"-?(0|[1-9][0-9]*)")
_FRACTION: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_MAX_DIGITS: Final = MAX_INTEGER_BITS // 3


class Encoder:
    """Makes the values of one entity; derives the keys of list items from its epoch, its key and the path."""

    def __init__(self, epoch: str, entity: str) -> None:
        self._epoch = epoch
        self._entity = entity

    def value(self, value: JSON, path: Path = ()) -> JSON:
        if isinstance(value, dict):
            return self.fields(value, path)
        if isinstance(value, list):
            if all(isinstance(item, str | dict) for item in value):
                return {LIST: self.items(value, path)}
            return [self.value(item, (*path, str(place))) for place, item in enumerate(value)]
        return number(value)

    def fields(self, value: Object, path: Path = (), reserved: Collection[str] = ()) -> Object:
        """Returns an object's entries, those named like `reserved` escaped."""
        return {escaped(key, reserved): self.value(held, (*path, key)) for key, held in value.items()}

    def items(self, value: list[JSON], path: Path) -> Object:
        """Returns the items of a list by key, in their order."""
        return {
            key: {"order": order, "is": self.value(item, (*path, key))}
            for key, order, item in self.placed(value, path)
        }

    def placed(self, value: list[JSON], path: Path) -> Iterator[tuple[str, str, JSON]]:
        for place, (order, item) in enumerate(zip(spread(len(value)), value, strict=True)):
            yield derived_key(self._epoch, "item", self._entity, path, place), order, item


def number(value: JSON) -> JSON:
    """Returns a number in the form that Python and JavaScript write alike; other values as they are."""
    if isinstance(value, float):
        text = repr(value)
        return {NUMBER: text} if text.endswith(".0") or "e" in text else value
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _MAX_SAFE_INTEGER:
        return {NUMBER: str(value)}
    return value


def decoded(value: JSON) -> JSON:
    """Returns the value of a document that `Encoder.value` was given."""
    if isinstance(value, list):
        return [decoded(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        items, digits = value.get(LIST), value.get(NUMBER)
        if isinstance(items, dict):
            return [decoded(item.get("is")) for _, item in ordered(items)]
        if isinstance(digits, str):
            return _number(digits)
    return {unescaped(key): decoded(held) for key, held in value.items()}


def ordered(items: Object) -> list[tuple[str, Object]]:
    """Returns the items of a list, by their order and then by key. What is no item is left out."""
    return sorted(
        ((key, item) for key, item in items.items() if isinstance(item, dict)),
        key=lambda pair: (str(pair[1].get("order", "")), pair[0]),
    )


def escaped(key: str, reserved: Collection[str] = ()) -> str:
    bare = key.lstrip("\\")
    return f"\\{key}" if bare in _RESERVED or bare in reserved else key


def unescaped(key: str, reserved: Collection[str] = ()) -> str:
    bare = key.lstrip("\\")
    return key[1:] if key != bare and (bare in _RESERVED or bare in reserved) else key


def _number(digits: str) -> JSON:
    """The number that `number` keeps as digits. Other digits, which no client of ours writes, are no number."""
    if _INTEGER.fullmatch(digits) and len(digits) <= _MAX_DIGITS:
        whole = int(digits)
        if whole.bit_length() <= MAX_INTEGER_BITS:
            return whole
    elif _FRACTION.fullmatch(digits) and isfinite(held := float(digits)):
        return held
    return {NUMBER: digits}
