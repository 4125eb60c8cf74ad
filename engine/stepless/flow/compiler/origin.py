"""Holds the function that is being compiled: its syntax tree, and the module that its names belong to."""

from __future__ import annotations

import ast
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from stepless.flow.compiler.facts.types import UNKNOWN, bare
from stepless.limits import MAX_CACHED_SIGNATURES

Function: typing.TypeAlias = ast.AsyncFunctionDef | ast.FunctionDef


@dataclass(frozen=True, slots=True)
class Origin:
    """One function. `first` is added to the line of a node of `tree` to give its line in the file; `globals` are the names of
    its module and of enclosing functions; `text` is the source of the function."""

    name: str
    file: str
    tree: Function
    first: int
    text: str
    globals: Mapping[str, Any] = field(repr=False)
    hints: Mapping[str, Any] = field(repr=False)
    path: str = ""
    """The file, as tracebacks name it."""

    def line(self, node: ast.AST) -> int:
        line: int = getattr(node, "lineno", 1)
        return line + self.first

    def last_line(self, node: ast.AST) -> int:
        last: int | None = getattr(node, "end_lineno", None)
        return self.line(node) if last is None else last + self.first

    @property
    def key(self) -> tuple[str, str, int]:
        return self.file, self.name, self.first

    def is_beside(self, other: Origin) -> bool:
        """Returns whether another function stands in the same file."""
        return (self.file, self.globals.get("__name__")) == (other.file, other.globals.get("__name__"))

    @property
    def parameters(self) -> list[ast.arg]:
        arguments = self.tree.args
        return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]

    @property
    def defaults(self) -> dict[str, ast.expr]:
        arguments = self.tree.args
        placed = [*arguments.posonlyargs, *arguments.args]
        given = dict(zip(reversed([one.arg for one in placed]), reversed(arguments.defaults), strict=False))
        by_name = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        named = {one.arg: value for one, value in by_name if value is not None}
        return given | named

    def hint(self, name: str) -> Any:
        return bare(self.hints.get(name, UNKNOWN))


@lru_cache(MAX_CACHED_SIGNATURES)
def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Returns the type hints of a function; none if they cannot be read, as those of names that only a type checker imports."""
    try:
        return typing.get_type_hints(function)
    except Exception:  # an annotation may be any expression: then its types are not known
        return {}


@lru_cache(MAX_CACHED_SIGNATURES)
def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(function)
