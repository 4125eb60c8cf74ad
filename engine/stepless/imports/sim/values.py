"""Reads values in Sim's formats: JSON text with references, typed text, tables of rows, lists of fields."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from stepless.compile.canonical import json_findings
from stepless.limits import MAX_IMPORT_FIELD_DEPTH
from stepless.model.json import JSON

_JSON_PIECE: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|<[^<>\n]{1,300}>|\{\{[^{}"]*\}\}', re.DOTALL)
_NUMBER: Final = re.compile(r"\s*-?[0-9]{1,15}(\.[0-9]{1,15})?\s*", re.ASCII)
JSON_TYPES: Final[Mapping[str, JSON]] = {
    "string": {"type": "string"}, "number": {"type": "number"}, "boolean": {"type": "boolean"}, "object": {"type": "object"},
    "array": {"type": "array"}, "files": {"type": "array"}, "file[]": {"type": "array"},
}  # fmt: skip


class Unreadable(ValueError):
    """A value that does not have the format of its field; the message says why."""


def deeper_than(value: JSON, levels: int) -> bool:
    layer = [value]
    for _ in range(levels + 1):
        if not layer:
            return False
        layer = [
            inner for outer in layer if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]  # fmt: skip
    return bool(layer)


def read_json(value: JSON) -> JSON:
    """Returns a value that may be given as JSON text, in which a reference may be used for any value. Raises `Unreadable`."""
    if not isinstance(value, str):
        return value
    quoted = _JSON_PIECE.sub(lambda piece: piece[0] if piece[0].startswith('"') else json.dumps(piece[0]), value)
    try:
        read = json.loads(quoted, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"it is not JSON: {error}") from None
    if deeper_than(read, MAX_IMPORT_FIELD_DEPTH) or next(iter(json_findings(read)), None) is not None:
        raise Unreadable("it is nested too deeply, or contains a value that is not JSON")
    return read


def read_list(value: JSON) -> list[Mapping[str, JSON]]:
    """Returns a list of objects, which may be given as JSON text. Raises `Unreadable`."""
    read = read_json(value)
    if not isinstance(read, list) or not all(isinstance(item, dict) for item in read):
        raise Unreadable("it is not a list of objects")
    return read


def rows(value: JSON) -> dict[str, JSON]:
    """Converts a table with the columns Key and Value to an object; returns an object unchanged. Raises `Unreadable`."""
    read = read_json(value)
    if isinstance(read, dict):
        return read
    table: dict[str, JSON] = {}
    for row in read_list(read):
        cells = row.get("cells")
        key = cells.get("Key") if isinstance(cells, dict) else None
        if isinstance(cells, dict) and isinstance(key, str) and key.strip():
            table[key.strip()] = cells.get("Value") if cells.get("Value") is not None else ""
    return table


def built(value: JSON) -> dict[str, JSON]:
    """Returns the object of a response builder's fields, which have name, type and value and may be nested. Raises
    `Unreadable`."""
    made: dict[str, JSON] = {}
    for field in read_list(value):
        name, inner = field.get("name"), field.get("value")
        if not isinstance(name, str) or not name.strip():
            continue
        if field.get("type") == "object" and isinstance(inner, list):
            made[name.strip()] = built(inner)
        else:
            made[name.strip()] = typed(inner, str(field.get("type") or "string"))[0]
    return made


def named_fields(value: JSON) -> Iterator[Mapping[str, JSON]]:
    """Yields the fields of an input format that have a name. Raises `Unreadable`."""
    for field in read_list(value):
        if isinstance(field.get("name"), str) and field["name"].strip():
            yield field


def typed(value: JSON, sort: str) -> tuple[JSON, str]:
    """Returns a value as its declared type, and an error text (empty: none). A text that contains a reference is not changed."""
    if not isinstance(value, str) or sort in ("string", "plain"):
        return value, ""
    if sort in ("number", "boolean") and ("<" in value or "{{" in value):
        return value, ""
    return _TYPED.get(sort, _as_it_is)(value)


def _as_it_is(text: str) -> tuple[JSON, str]:
    return text, ""


def _as_number(text: str) -> tuple[JSON, str]:
    if not _NUMBER.fullmatch(text):
        return text, "" if not text else f"{text!r} is not a number"
    return (float(text) if "." in text else int(text)), ""


def _as_boolean(text: str) -> tuple[JSON, str]:
    known: dict[str, JSON] = {"true": True, "1": True, "false": False, "0": False, "": False}
    return (known[text.strip().lower()], "") if text.strip().lower() in known else (text, f"{text!r} is neither true nor false")


def _as_json(text: str) -> tuple[JSON, str]:
    if not text.strip():
        return None, ""
    try:
        return read_json(text), ""
    except Unreadable as error:
        return text, str(error)


_TYPED: Final[Mapping[str, Callable[[str], tuple[JSON, str]]]] = {
    "number": _as_number, "boolean": _as_boolean, "object": _as_json, "array": _as_json, "json": _as_json,
}  # fmt: skip


def whole_number(value: JSON) -> int | None:
    """Returns an integer of at least 1, which may be given as text; None for any other value."""
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdecimal() and len(value.strip()) < 10:
        value = int(value.strip())
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 1 else None


def _no_constant(name: str) -> JSON:
    raise ValueError(f"{name} is not a number in JSON")
