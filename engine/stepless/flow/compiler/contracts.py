"""Declares what the state of a compilation needs of what reads the source, and of the plan of what is lifted."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from stepless.flow.compiler.origin import Origin
from stepless.flow.compiler.refusals import Refusal

Unit: TypeAlias = Any
"""The state of a compilation, which holds these rules."""



@dataclass(frozen=True, slots=True)
class Rules:
    """What reads the statements, the expressions and the awaits of a function. `named` has the type of an expression that names
    a function, None for others. `expression` raises `Lift`; `evaluated`
    emits the node of a block. `outputs` has
    the types of what a block puts out. `further` finds what else is wrong with a statement that was refused."""

    statement: Callable[[Unit, ast.stmt], None]
    statements: Callable[[list[ast.stmt]], Iterable[ast.stmt]]
    expression: Callable[[Unit, ast.expr], ast.expr]
    lifted: Callable[[Unit, ast.expr], ast.expr]
    evaluated: Callable[[Unit, Any], ast.expr]
    infer: Callable[[Unit, ast.AST], Any]
    named: Callable[[Unit, ast.expr], Any]
    outputs: Callable[[Unit, Any], Mapping[str, Any]]
    further: Callable[[Unit, ast.stmt, Refusal], Iterable[Refusal]]


class MadeAgain(Protocol):
    """The statements that make the names of a function again that stand for no value."""

    def names(self) -> frozenset[str]: ...

    def found(self, name: str) -> Any: ...

    def of(self, names: Iterable[str]) -> tuple[Sequence[ast.stmt], frozenset[str]]: ...


class Planned(Protocol):
    """Which statements of a function are lifted: its body with blocks in their place, and the names that may be read without a
    value."""

    def body(self, origin: Origin) -> list[ast.stmt]: ...

    def strict(self, origin: Origin) -> frozenset[str]: ...

    def why(self, origin: Origin, statements: Iterable[ast.stmt]) -> str: ...

    def made_again(self, origin: Origin) -> MadeAgain: ...

    def objects(self, origin: Origin) -> frozenset[str]: ...
