"""Represents a block in the syntax tree of its function: one expression, and the parts of its output."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

NEXT = "next"
RAISE = "raise"


@dataclass(eq=False, slots=True)
class Block:
    """Statements of one suite that Python evaluates together. `inputs` are the names that it reads from outside, `optional` those
    of them that it only hands on if it does not bind them, `outputs` the names that are read behind it. `exits` are the ways out
    of it; `certain` has the outputs that have a value on each. `changed` are names of which it may change the value in place,
    `deleted` those that it may leave without one."""

    statements: Sequence[ast.stmt]
    inputs: Sequence[str]
    optional: frozenset[str]
    outputs: Sequence[str]
    exits: Sequence[str]
    certain: Mapping[str, frozenset[str]]
    changed: frozenset[str]
    deleted: frozenset[str]
    kept: dict[Any, Any] = field(default_factory=dict)
    """Its types, by the types of its inputs, as they were found."""

    @property
    def is_plain(self) -> bool:
        """Whether the output is the value of its one name, or of its `return`, and not an object of several values."""
        return len(self.exits) == 1 and (self.exits[0] == "return" or len(self.outputs) <= 1)


class Leave(ast.stmt):
    """Leaves a block by an exit of its own, for the statements `body`, which are none of the block's."""

    _fields: ClassVar[tuple[str, ...]] = ()

    def __init__(self, kind: str, body: list[ast.stmt]) -> None:
        super().__init__()
        self.kind = kind
        self.body = body


class Evaluated(ast.expr):
    """The output of a block. `arguments` are its inputs, as the function names them."""

    _fields: ClassVar[tuple[str, ...]] = ("arguments",)
    _field_types: ClassVar[dict[str, Any]] = {"arguments": list}

    def __init__(self, arguments: list[ast.expr], block: Block) -> None:
        super().__init__(arguments=arguments)  # type: ignore[call-arg]  # a field of this class
        self.arguments = arguments
        self.block = block
        self.leaves = False  # the workflow with what the block returns: as JSON


class Output(ast.expr):
    """One part of the output of a block, which the name `whole` stands for: `exit`, `value`, `error`, or the value of a name, by
    `name.` and its name."""

    _fields: ClassVar[tuple[str, ...]] = ("whole",)
    _field_types: ClassVar[dict[str, Any]] = {"whole": ast.expr}

    def __init__(self, whole: ast.expr, key: str) -> None:
        super().__init__(whole=whole)  # type: ignore[call-arg]  # a field of this class
        self.whole = whole
        self.key = key
