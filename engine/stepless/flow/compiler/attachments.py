"""Records what a version stores next to its nodes: lifted expressions, and the source positions of inlined parts."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stepless.flow.compiler.facts.types import UNKNOWN
from stepless.flow.compiler.origin import Origin
from stepless.model.json import JSON


@dataclass(frozen=True, slots=True)
class LiftedExpression:
    """An expression that a function of the process evaluates: its source, its arguments with their types, and its module."""

    name: str
    source: str
    arguments: Mapping[str, Any]
    globals: Mapping[str, Any]
    result: Any = UNKNOWN
    unsure: frozenset[str] = frozenset()
    """The arguments that may be names without a value."""
    leaves: Any = None
    """The type of what takes the value as JSON, where that is another form than that of the name."""
    made_again: Sequence[ast.stmt] = ()
    """The statements that make the names that stand for no value."""
    file: str = ""
    line: int = 1
    """Where the source stands, as tracebacks say it."""


@dataclass(frozen=True, slots=True)
class LiftedBlock:
    """Statements that a function of the process evaluates. `tree` is that function, with the lines that its statements have in
    `file`: it returns the exit that it took, and what it returned. `arguments` are the types of its inputs, `names` what it calls
    them; `outputs` are the types of what it puts out, by `name.` and the name of each, and `value`. `changed` are the inputs that
    it may change in place. `whole`: the output is the value alone; `leaves`: it is what the workflow returns, as JSON."""

    name: str
    tree: ast.FunctionDef
    file: str
    arguments: Mapping[str, Any]
    outputs: Mapping[str, Any]
    exits: Sequence[str]
    changed: frozenset[str]
    unsure: frozenset[str]
    globals: Mapping[str, Any]
    whole: bool
    leaves: bool = False


@dataclass(frozen=True, slots=True)
class PartSource:
    """A part that was inlined, and the lines of its nodes in its own file, if that is another one."""

    origin: Origin
    nodes: dict[str, JSON]
