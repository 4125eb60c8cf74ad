"""Checks what may be written under each key prefix of a draft, and with what shape.

`SHAPES` has a row for each prefix. `put` and `del` are for all but `doc`. A field that a row names is set whole, and an `object`
at any depth; a field that it does not name is written at any depth, unless the row is closed. Deleting a block deletes what hangs
on it; a subflow is deleted only if its body is empty. Whether a value suits the kind of a node is not asked here: a draft may be
invalid at any time, and only publishing validates.

The console has the same rules in TypeScript. contract/draft_tables.py writes its tables from those of this package.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

from stepless.drafts.rules.effects import Delete, Put, Rename, Set, Splice, Unset, Write
from stepless.drafts.rules.fractional_index import is_order
from stepless.drafts.rules.state import DOC, TEXT, prefix_of, tail_of
from stepless.limits import MAX_DOCUMENT_DEPTH, MAX_KEY_CHARACTERS
from stepless.model.json import JSON

ShapeName: TypeAlias = Literal["text", "tail", "tail or null", "order", "number", "object"]
Shape: TypeAlias = ShapeName | tuple[str, ...]
"""The value of a field: of the named shape, or one of these words."""


class EntityShape(NamedTuple):
    """What may be written under one prefix."""

    fields: Mapping[str, Shape]
    required: tuple[str, ...] = ()
    """What a `put` must give."""
    kept: tuple[str, ...] = ()
    """Fields that no `unset` takes away, since rules stand on them."""
    fixed: tuple[str, ...] = ()
    """Fields that nothing changes but a `put`."""
    spliced: tuple[str, ...] = ()
    """Which of the fields take a splice; all others that a row names are set."""
    closed: bool = False
    """There are no other fields."""
    replaced: bool = False
    """A `put` over an entity replaces it, and an addition is undone whatever others have made of it since."""
    hanging: bool = False
    """The entity is one of the block with the same tail, and goes with it."""


SHAPES: Final[Mapping[str, EntityShape]] = {
    "doc": EntityShape({"rest": "object"}, fixed=("id",)),
    "block": EntityShape(
        {"id": "text", "type": "text", "parent": "tail or null", "order": "order", "after": ("one", "list"), "rest": "object"},
        required=("id", "parent", "order"), kept=("id", "type", "parent", "order"),
    ),
    "edge": EntityShape(
        {
            "source": "tail", "target": "tail", "order": "order", "handle": "text", "param": "text", "key": "text",
            "home": ("after", "edges"), "form": ("text",),
        },
        required=("source", "target", "order"), kept=("order",), fixed=("source", "target"),
    ),
    "subflow": EntityShape({"body": "object", "rest": "object"}, hanging=True),
    "place": EntityShape(
        {"x": "number", "y": "number"}, required=("x", "y"), kept=("x", "y"), closed=True, replaced=True, hanging=True,
    ),
    "note": EntityShape(
        {"x": "number", "y": "number", "w": "number", "h": "number", "text": "text", "colour": "text", "by": "text"},
        required=("x", "y"), kept=("x", "y"), spliced=("text", "colour"), closed=True,
    ),
    "pin": EntityShape({}, required=("output",), replaced=True, hanging=True),
    "text": EntityShape({"yaml": "text"}, required=("yaml",), spliced=("yaml",), closed=True, replaced=True),
}

REPLACED: Final = frozenset(prefix for prefix, shape in SHAPES.items() if shape.replaced)
HANGING: Final = tuple(prefix for prefix, shape in SHAPES.items() if shape.hanging)

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


_CHECKS: Final[Mapping[ShapeName, Callable[[JSON], bool]]] = {
    "text": _text, "tail": _tail, "tail or null": _tail_or_null, "order": is_order, "number": _number, "object": _object,
}


def _suits(shape: Shape | None, value: JSON) -> bool:
    if isinstance(shape, tuple):
        return isinstance(value, str) and value in shape
    return shape is None or _CHECKS[shape](value)


def fits(write: Write) -> bool:
    """Returns whether the table allows a write, whatever the state is."""
    prefix, tail = prefix_of(write.key), tail_of(write.key)
    shape = SHAPES.get(prefix)
    if shape is None or not (write.key == prefix if prefix in (DOC, TEXT) else _tail(tail)):
        return False
    match write:
        case Put(entity=entity):
            return prefix != DOC and _entity(shape, entity)
        case Delete():
            return prefix != DOC
        case Rename(id=id_):
            return prefix == "block" and _text(id_)
        case Set(path=path, value=value):
            return _path(shape, path) and (len(path) > 1 or _suits(shape.fields.get(path[0]), value))
        case Unset(path=path):
            return _path(shape, path) and path[0] not in shape.kept
        case Splice(path=path, start=start, removed=removed):
            return _path(shape, path) and _spliced(shape, path) and start >= 0 and removed >= 0


def _path(shape: EntityShape, path: tuple[str, ...]) -> bool:
    if not path or len(path) > MAX_DOCUMENT_DEPTH or path[0] in shape.fixed:
        return False
    field = shape.fields.get(path[0])
    if field is None:
        return not shape.closed
    return len(path) == 1 or field == "object"


def _spliced(shape: EntityShape, path: tuple[str, ...]) -> bool:
    return len(path) > 1 or path[0] not in shape.fields or path[0] in shape.spliced


def _entity(shape: EntityShape, entity: JSON) -> bool:
    if not isinstance(entity, dict) or any(field not in entity for field in shape.required):
        return False
    if shape.closed and not entity.keys() <= shape.fields.keys():
        return False
    return all(_suits(shape.fields.get(field), value) for field, value in entity.items())
