"""A compiled graph as plain values, to be compared."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from stepless.model.kind import Kind


def plain(value: Any, without: Collection[str] = ("warnings",)) -> Any:
    """All of a graph but its closures, and the fields named in `without`."""
    if isinstance(value, Kind):
        return value.name
    if hasattr(value, "evaluate") or hasattr(value, "render"):
        return [getattr(value, "source", None), getattr(value, "value", None), plain(value.references)]
    if hasattr(value, "violations"):
        return value.schema
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name), without) for field in fields(value) if field.name not in without}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {name: plain(item, without) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, without) for item in value]
    return sorted(value) if isinstance(value, frozenset) else value
