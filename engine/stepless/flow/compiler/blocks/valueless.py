"""Finds what has no value that could be recorded: open files, locks, generators, clients, functions and modules."""

from __future__ import annotations

import ast
import dataclasses
import inspect
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any, Final

from stepless.flow.compiler.facts.block_nodes import Block
from stepless.flow.compiler.facts.carried_types import FOREIGN
from stepless.flow.compiler.facts.types import is_model
from stepless.flow.compiler.facts.uses import uses_of
from stepless.flow.compiler.unit import Unit

_MAKERS: Final = ("open", "iter", "map", "filter", "zip", "reversed", "enumerate", "memoryview", "super", "object")
_VALUES: Final = (str, int, float, bool, list, dict, tuple, type(None), BaseException, Enum, *FOREIGN)


_OF_OBJECTS: Final = frozenset({
    "group", "groups", "groupdict", "span", "read", "readline", "readlines", "close", "cursor", "execute", "commit", "rollback",
    "acquire", "release", "recv", "fetchone", "fetchall", "flush", "seek", "submit", "shutdown", "hexdigest",
})
"""Attributes that no value has which can be recorded."""


def objects_in(body: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """Yields the names that are bound to what a call returns, and used as no value is, with the statements that bind them."""
    parts = [part for statement in body for part in ast.walk(statement)]
    used = {
        part.value.id for part in parts
        if isinstance(part, ast.Attribute) and part.attr in _OF_OBJECTS and isinstance(part.value, ast.Name)
    }  # fmt: skip
    for part in parts if used else ():
        match part:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call()) if name in used:
                yield name, part


def valueless_in(statement: ast.stmt) -> set[str]:
    """Returns the names that a statement binds to something that has no value, as far as its form tells."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_valueless(value):
            return {name}
        case ast.FunctionDef() | ast.ClassDef() | ast.Import() | ast.ImportFrom():
            return uses_of(statement).bound
        case ast.With(items=items):
            return {
                one.optional_vars.id for one in items
                if isinstance(one.optional_vars, ast.Name) and _is_valueless(one.context_expr)
            }  # fmt: skip
    return set()


def _is_valueless(value: ast.expr) -> bool:
    match value:
        case ast.GeneratorExp() | ast.Lambda():
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in _MAKERS
        case ast.Call(func=ast.Attribute(attr=method)):
            return method == "getLogger"
    return False


def maker_of(inner: Unit, block: Block, name: str) -> ast.stmt | None:
    """Returns the statement of a block that binds a name to something without a value."""
    objects = inner.plan.objects(inner.origin)
    classes = {one.name for one in _statements(block.statements) if isinstance(one, ast.ClassDef)}
    for statement in _statements(block.statements):
        if name in valueless_in(statement):
            return statement
        match statement:
            case ast.Assign(targets=[ast.Name(id=bound)], value=ast.Call(func=function)) if bound == name:
                if name in objects or (isinstance(function, ast.Name) and function.id in classes):
                    return statement
        called = statement.value if isinstance(statement, ast.Assign) and name in uses_of(*statement.targets).bound else None
        if isinstance(called, ast.Call) and makes_an_object(inner.static(called.func)):
            return statement
    return None


def makes_an_object(target: Any) -> bool:
    """Returns whether something is a class whose objects are no values, or Python's function that makes a lock."""
    if getattr(target, "__module__", "") in ("_thread", "threading") or getattr(target, "__name__", "") == "allocate_lock":
        return True
    if not inspect.isclass(target) or is_model(target) or dataclasses.is_dataclass(target):
        return False
    return not issubclass(target, _VALUES)


def _statements(body: Any) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
            yield from _statements(ast.iter_child_nodes(node))
