"""Checks what may be written under each key prefix of a draft, and with what shape.

    prefix    put                                              set, unset, splice                           del
    doc       never                                            all but `id`                                 never
    block     id, parent, order; type                          id, type, parent, order are set whole;       with what hangs on it
                                                               anything else at any depth
    edge      source, target, order; handle, param, key, form  order, param, key … whole; never the ends    yes
    subflow   an object                                        anything                                     if the body is empty
    place     x, y                                             x, y                                         yes
    note      x, y, w, h; text, colour, by                     the same                                     yes
    pin       output                                           anything                                     yes
    text      yaml                                             yaml                                         yes

`id type parent source target order` are neither unset nor written below, since every rule stands on them. Whether a value suits
the kind of a node is not asked here: a draft may be invalid at any time, and only publishing validates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from stepless.drafts.rules.effects import Delete, Put, Rename, Set, Splice, Unset, Write
from stepless.drafts.rules.fractional_index import is_order
from stepless.drafts.rules.state import DOC, TEXT, prefix_of, tail_of
from stepless.limits import MAX_DOCUMENT_DEPTH, MAX_KEY_CHARACTERS
from stepless.model.json import JSON

Shape: TypeAlias = Callable[[JSON], bool]

_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")


def _text(value: JSON) -> bool:
    return isinstance(value, str)


def _tail(value: JSON) -> bool:
    return isinstance(value, str) and len(value) <= MAX_KEY_CHARACTERS and _KEY.fullmatch(value) is not None


def _tail_or_null(value: JSON) -> bool:
    return value is None or _tail(value)


def _number(value: JSON) -> bool:
    if isinstance(value, dict):
        return value.keys() == {"#"} and isinstance(value["#"], str)
    return isinstance(value, int | float) and not isinstance(value, bool)


def _object(value: JSON) -> bool:
    return isinstance(value, dict)


def _anything(value: JSON) -> bool:
    return True


def _one_of(*words: str) -> Shape:
    return lambda value: isinstance(value, str) and value in words


_REQUIRED: Final[Mapping[str, Mapping[str, Shape]]] = {
    "block": {"id": _text, "parent": _tail_or_null, "order": is_order},
    "edge": {"source": _tail, "target": _tail, "order": is_order},
    "subflow": {},
    "place": {"x": _number, "y": _number},
    "note": {"x": _number, "y": _number},
    "pin": {"output": _anything},
    "text": {"yaml": _text},
}
_WHOLE: Final[Mapping[str, Mapping[str, Shape]]] = {
    "doc": {"rest": _object},
    "block": {
        "id": _text, "type": _text, "parent": _tail_or_null, "order": is_order, "after": _one_of("one", "list"), "rest": _object,
    },
    "edge": {
        "source": _tail, "target": _tail, "order": is_order, "handle": _text, "param": _text, "key": _text,
        "home": _one_of("after", "edges"), "form": _one_of("text"),
    },
    "subflow": {"body": _object, "rest": _object},
    "place": {"x": _number, "y": _number},
    "note": {"x": _number, "y": _number, "w": _number, "h": _number, "text": _text, "colour": _text, "by": _text},
    "pin": {},
    "text": {"yaml": _text},
}
_CLOSED: Final = frozenset({"place", "note", "text"})
_FIXED: Final[Mapping[str, frozenset[str]]] = {
    "doc": frozenset({"id"}),
    "edge": frozenset({"source", "target"}),
}
"""Fields that no `set` changes."""

_KEPT: Final = frozenset({"id", "type", "parent", "source", "target", "order", "x", "y", "output"})
_SPLICED: Final[Mapping[str, frozenset[str]]] = {"note": frozenset({"text", "colour"}), "text": frozenset({"yaml"})}


def fits(write: Write) -> bool:
    """Whether the table allows a write, whatever the state is."""
    prefix, tail = prefix_of(write.key), tail_of(write.key)
    if prefix not in _WHOLE or write.key != (f"{prefix}/{tail}" if prefix not in (DOC, TEXT) else prefix):
        return False
    if prefix not in (DOC, TEXT) and not _tail(tail):
        return False
    match write:
        case Put(entity=entity):
            return prefix != DOC and _entity(prefix, entity)
        case Delete():
            return prefix != DOC
        case Rename(id=id_):
            return prefix == "block" and _text(id_)
        case Set(path=path, value=value):
            return _path(prefix, path) and path[0] not in _FIXED.get(prefix, ()) and _set(prefix, path, value)
        case Unset(path=path):
            return _path(prefix, path) and path[0] not in _FIXED.get(prefix, ()) and path[0] not in _KEPT & _WHOLE[prefix].keys()
        case Splice(path=path, start=start, removed=removed):
            return _path(prefix, path) and _spliced(prefix, path) and start >= 0 and removed >= 0


def _path(prefix: str, path: tuple[str, ...]) -> bool:
    if not path or len(path) > MAX_DOCUMENT_DEPTH:
        return False
    shape = _WHOLE[prefix].get(path[0])
    if shape is None:
        return prefix not in _CLOSED
    return len(path) == 1 or shape is _object


def _spliced(prefix: str, path: tuple[str, ...]) -> bool:
    if path[0] in _FIXED.get(prefix, ()):
        return False
    return len(path) > 1 or path[0] not in _WHOLE[prefix] or path[0] in _SPLICED.get(prefix, ())


def _set(prefix: str, path: tuple[str, ...], value: JSON) -> bool:
    shape = _WHOLE[prefix].get(path[0]) if len(path) == 1 else None
    return shape is None or shape(value)


def _entity(prefix: str, entity: JSON) -> bool:
    if not isinstance(entity, dict) or not _REQUIRED[prefix].keys() <= entity.keys():
        return False
    if prefix in _CLOSED and not entity.keys() <= _WHOLE[prefix].keys():
        return False
    shapes = {**_WHOLE[prefix], **_REQUIRED[prefix]}
    return all(shapes[field](value) for field, value in entity.items() if field in shapes)
