"""Describes a registered function and its arguments, for a model that chooses the arguments."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from pydantic.errors import PydanticUserError

from stepless.model.json import JSON
from stepless.nodes.function.binding import Check
from stepless.nodes.function.registry import find


def describe(name: str) -> tuple[str, Mapping[str, JSON]]:
    """Returns the first paragraph of its docstring, and the JSON Schema of its arguments without those that the engine fills in.
    Raises `NodeFailure` (config) if no function of that name is registered, or if it cannot be called with named arguments."""
    entry = find(name)
    binding = entry.binding
    properties: dict[str, JSON] = {}
    definitions: dict[str, JSON] = {}
    for parameter in sorted(binding.accepted):
        schema = _schema(binding.checks.get(parameter))
        own = schema.pop("$defs", {})
        if any(definitions.get(word, rule) != rule for word, rule in own.items()):
            schema = {}  # two types with one name: the call itself reports invalid values of this one
        else:
            definitions |= own
        properties[parameter] = schema
    shape: dict[str, JSON] = {"type": "object", "properties": properties, "required": sorted(binding.required)}
    shape |= {"$defs": definitions} if definitions else {}
    shape |= {} if binding.takes_any else {"additionalProperties": False}
    return (inspect.getdoc(entry.callable) or "").partition("\n\n")[0], shape


def _schema(check: Check | None) -> dict[str, Any]:
    if check is None:
        return {}
    try:
        return dict(check.adapter.json_schema())
    except PydanticUserError:
        return {}  # JSON Schema cannot describe the type
