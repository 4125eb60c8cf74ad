"""Describes values for an editor that completes them: a JSON Schema of bounded size, whose leaves have a short example."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from stepless.limits import MAX_SHAPE_CHARACTERS, MAX_SHAPE_DEPTH, MAX_SHAPE_EXAMPLE, MAX_SHAPE_VALUES
from stepless.model.json import JSON

_TYPES: Final = {bool: "boolean", int: "integer", float: "number", str: "string", dict: "object", list: "array"}
Shape = dict[str, Any]


def shape_of(value: JSON) -> Shape:
    """Returns the shape of a value: at most MAX_SHAPE_VALUES values of it, to MAX_SHAPE_DEPTH levels; of a list, that of its
    first item."""
    return _Shaper().shape(value, 1)


def contract_shape(schema: Mapping[str, JSON]) -> Shape:
    """Returns a contract as a shape: itself, or only its type if it is longer than MAX_SHAPE_CHARACTERS."""
    if len(json.dumps(schema, ensure_ascii=False)) <= MAX_SHAPE_CHARACTERS:
        return dict(schema)
    return {"type": schema["type"]} if isinstance(schema.get("type"), str) else {}


class _Shaper:
    def __init__(self) -> None:
        self._left = MAX_SHAPE_VALUES

    def shape(self, value: JSON, depth: int) -> Shape:
        self._left -= 1
        if value is None:
            return {"type": "null"}
        made: Shape = {"type": _TYPES.get(type(value), "string")}
        if isinstance(value, dict):
            if depth < MAX_SHAPE_DEPTH:
                made["properties"] = {key: self.shape(one, depth + 1) for key, one in value.items() if self._left > 0}
        elif isinstance(value, list):
            made["description"] = f"{len(value):,} item{'' if len(value) == 1 else 's'}"
            if value and depth < MAX_SHAPE_DEPTH and self._left > 0:
                made["items"] = self.shape(value[0], depth + 1)
        elif isinstance(value, str):
            made["examples"] = [value if len(value) <= MAX_SHAPE_EXAMPLE else f"{value[:MAX_SHAPE_EXAMPLE]}…"]
        else:
            made["examples"] = [value]
        return made
