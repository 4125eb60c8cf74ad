"""Converts the values that Python code returns to JSON, and reports the path of a value that cannot be converted."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from enum import Enum
from math import isfinite
from typing import Any, Final

from pydantic import BaseModel

from stepless.limits import MAX_DOCUMENT_DEPTH, MAX_INTEGER_BITS
from stepless.model.json import JSON


class NotJson(Exception):
    """A value that JSON cannot represent. `path` is its place (`$.items[3].when`), `mend` says what to return instead."""

    def __init__(self, what: str, mend: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.mend = mend
        self._steps: list[str] = []

    def within(self, step: object) -> NotJson:
        self._steps.append(f"[{step}]" if isinstance(step, int) else f".{step}")
        return self

    @property
    def path(self) -> str:
        return "$" + "".join(reversed(self._steps))

    def __str__(self) -> str:
        return f"{self.path}: {self.what}"


def to_json(value: object) -> JSON:
    """Returns a JSON value that shares no list or object with `value`. Tuples become lists; pydantic models, dataclasses and
    mappings become objects; enums become their values. Raises `NotJson` for other types, NaN, lone surrogates, and values nested
    deeper than MAX_DOCUMENT_DEPTH, as circular ones are."""
    rule = _RULES.get(type(value))
    return _foreign(value, MAX_DOCUMENT_DEPTH) if rule is None else rule(value, MAX_DOCUMENT_DEPTH)


def copied(value: JSON) -> JSON:
    """Returns a JSON value that shares no list or object with `value`."""
    kind = type(value)
    if kind is dict:
        return {name: copied(item) for name, item in value.items()}
    return [copied(item) for item in value] if kind is list else value


def as_text(value: JSON) -> str:
    """Returns text unchanged, null as the empty text, any other value as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _convert(value: Any, depth: int) -> JSON:
    rule = _RULES.get(type(value))
    return _foreign(value, depth) if rule is None else rule(value, depth)


def _itself(value: JSON, depth: int) -> JSON:
    return value


def _text(value: str, depth: int) -> JSON:
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise NotJson("text with a lone surrogate, which UTF-8 cannot hold", "decode it with errors='replace'") from None
    return value


def _integer(value: int, depth: int) -> JSON:
    if value.bit_length() > MAX_INTEGER_BITS:
        raise NotJson(f"an integer of more than {MAX_INTEGER_BITS} bits", "return it as text")
    return value


def _number(value: float, depth: int) -> JSON:
    if not isfinite(value):
        raise NotJson(f"the number {value}, which JSON does not have", "return None or text")
    return value


def _list(value: list[Any] | tuple[Any, ...], depth: int) -> JSON:
    _not_too_deep(depth)
    items = []
    for index, item in enumerate(value):
        try:
            items.append(_convert(item, depth - 1))
        except NotJson as found:
            raise found.within(index) from None
    return items


def _object(value: Mapping[Any, Any], depth: int) -> JSON:
    _not_too_deep(depth)
    fields = {}
    for name, item in value.items():
        if not isinstance(name, str):
            raise NotJson(f"the key {name!r:.60} is {type(name).__name__}, not text", "use text keys")
        try:
            fields[_text(str(name), 0)] = _convert(item, depth - 1)
        except NotJson as found:
            raise found.within(name) from None
    return fields


def _not_too_deep(depth: int) -> None:
    if depth <= 0:
        raise NotJson(f"nested deeper than {MAX_DOCUMENT_DEPTH} levels, or circular")


_RULES: Final[Mapping[type, Callable[[Any, int], JSON]]] = {
    str: _text, int: _integer, float: _number, bool: _itself, type(None): _itself,
    list: _list, tuple: _list, dict: _object,
}

_FIXES: Final[Mapping[str, str]] = {
    "datetime": "return value.isoformat()", "date": "return value.isoformat()", "time": "return value.isoformat()",
    "timedelta": "return value.total_seconds()", "Decimal": "return str(value) or float(value)", "UUID": "return str(value)",
    "bytes": "decode it, or return it as base64 text", "set": "return sorted(value)", "frozenset": "return sorted(value)",
    "generator": "return list(value)", "coroutine": "await it", "PosixPath": "return str(value)",
}


def _foreign(value: Any, depth: int) -> JSON:
    """Converts values of types other than JSON's own, if their contents are unambiguous."""
    if isinstance(value, Enum):
        return _convert(value.value, depth)
    if isinstance(value, BaseModel):
        return _convert(_dumped(value), depth)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _object({field.name: getattr(value, field.name) for field in dataclasses.fields(value)}, depth)
    if isinstance(value, Mapping):
        return _object(value, depth)
    for base in (str, int, float, list, tuple):
        if isinstance(value, base):
            plain: Callable[[Any], Any] = base
            return _convert(plain(value), depth)
    name = type(value).__name__
    raise NotJson(f"{name} is not JSON", _FIXES.get(name, "return text, numbers, lists and objects"))


def _dumped(model: BaseModel) -> JSON:
    try:
        return model.model_dump(mode="json")
    except (ValueError, TypeError) as error:  # includes pydantic's serialization error
        raise NotJson(f"{type(model).__name__} cannot be written as JSON: {error}") from error
