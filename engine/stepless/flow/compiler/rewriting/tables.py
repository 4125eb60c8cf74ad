"""Writes tables of functions that stand in the module, such as `HANDLERS = {"paid": paid}`, into the workflow that looks them up:
there each of them is known by its name."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import replace
from enum import Enum
from typing import Any, Final

from stepless.flow.compiler.facts.functions import WORDS
from stepless.flow.compiler.origin import Origin
from stepless.flow.compiler.trees import copied
from stepless.flow.words import word_of

_LOOKUPS: Final = ("get", "values", "items")


def with_tables(origin: Origin) -> Origin:
    """Returns the function with an assignment of each table that it looks up, in front of its statements."""
    local = {one.arg for one in origin.parameters}
    local |= {part.id for part in ast.walk(origin.tree) if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)}
    tables = sorted(name for name in {*_looked_up(origin.tree)} - local if _is_table(origin.globals.get(name)))
    if not tables:
        return origin
    tree, named = copied(origin.tree), dict[str, Any]()
    made = [ast.Assign([ast.Name(name, ast.Store())], _written(name, origin.globals[name], named)) for name in tables]
    is_text = isinstance(tree.body[0], ast.Expr) and isinstance(tree.body[0].value, ast.Constant)
    first = tree.body[0]
    for part in (one for statement in made for one in ast.walk(statement)):
        ast.copy_location(part, first)
    tree.body = [*tree.body[:is_text], *made, *tree.body[is_text:]]
    return replace(origin, tree=tree, globals={**origin.globals, **named})


def _looked_up(tree: ast.AST) -> Iterator[str]:
    """The names of which an item is read."""
    for part in ast.walk(tree):
        match part:
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Load()) | ast.For(iter=ast.Name(id=name)):
                yield name
            case ast.Attribute(value=ast.Name(id=name), attr=method) if method in _LOOKUPS:
                yield name


def _is_table(value: Any) -> bool:
    if isinstance(value, dict):
        return bool(value) and all(map(_is_function, value.values())) and all(map(_is_key, value))
    return isinstance(value, list | tuple) and bool(value) and all(map(_is_function, value))


def _is_function(value: Any) -> bool:
    return word_of(value) in WORDS or inspect.iscoroutinefunction(value)


def _is_key(value: Any) -> bool:
    return type(value) is str or (isinstance(value, str) and isinstance(value, Enum))


def _written(name: str, table: Any, named: dict[str, Any]) -> ast.expr:
    """The display of a table, whose functions are given names."""

    def of(value: Any) -> ast.expr:
        if type(value) is str:
            return ast.Constant(value)
        chosen = f"__stepless_{name}_{len(named)}__"
        named[chosen] = value
        return ast.Name(chosen, ast.Load())

    if isinstance(table, dict):
        return ast.Dict([of(key) for key in table], [of(value) for value in table.values()])
    return ast.List(list(map(of, table)), ast.Load())
