"""Records what a version stores next to its nodes: lifted expressions, and the source positions of inlined parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stepless.flow.compiler.origin import Origin
from stepless.model.json import JSON


@dataclass(frozen=True, slots=True)
class LiftedExpression:
    """An expression that a function of the process evaluates: its source, its arguments with their types, and its module."""

    name: str
    source: str
    arguments: Mapping[str, Any]
    globals: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PartSource:
    """A part that was inlined, and the lines of its nodes in its own file, if that is another one."""

    origin: Origin
    nodes: dict[str, JSON]
