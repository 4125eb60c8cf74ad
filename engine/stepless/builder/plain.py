"""Converts an author's values to JSON: references and steps become text, tuples become lists, and everything is copied."""

from __future__ import annotations

from collections.abc import Mapping

from stepless.builder.ref import Ref
from stepless.builder.steps import Exit, Step, Value, _Source
from stepless.errors import InvalidRequest
from stepless.limits import MAX_DOCUMENT_DEPTH
from stepless.model.json import JSON


def plain(value: Value, place: str, depth: int = 0) -> JSON:
    """Returns the JSON of a value. Texts and numbers are copied as they are; the check of the document validates them.

    Raises `InvalidRequest` with the place: not_json for a value that is not JSON, nested_too_deep.
    """
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Ref | Step):
        return str(value)
    if depth > MAX_DOCUMENT_DEPTH:
        message = f"values are nested deeper than {MAX_DOCUMENT_DEPTH} levels"
        raise InvalidRequest(message, code="nested_too_deep", place=place, mend="reduce the nesting")
    if isinstance(value, Mapping):
        return {_key(name, place): plain(item, f"{place}.{name}", depth + 1) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, f"{place}.{index}", depth + 1) for index, item in enumerate(value)]
    mend = "use an exit in `after`" if isinstance(value, Exit) else "write it as text, a number, a list or an object"
    raise InvalidRequest(f"{type(value).__name__} is not JSON", code="not_json", place=place, mend=mend)


def _key(name: object, place: str) -> str:
    if isinstance(name, str):
        return name
    message = f"the key {name!r:.100} is not text"
    raise InvalidRequest(message, code="not_json", place=place, mend="use text: JSON has no other keys")


def plain_after(after: Value, place: str) -> JSON:
    """Returns `after` in the form of the document: one edge or a list of edges."""
    if isinstance(after, _Source):
        return after.written
    if isinstance(after, list | tuple):
        return [plain_after(entry, f"{place}.{index}") for index, entry in enumerate(after)]
    return plain(after, place)
