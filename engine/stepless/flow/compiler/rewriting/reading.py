"""Reads and makes syntax trees for what rewrites a source."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final

_LOAD: Final = ast.Load()
_JUMPS: Final = (ast.Return, ast.Break, ast.Continue, ast.Raise)


def split(body: list[ast.stmt], group: str) -> tuple[list[ast.stmt], list[ast.stmt] | None]:
    """Splits the statements of a group: those in front of its tasks, and those that create them; None for anything else."""
    first = next((place for place, one in enumerate(body) if uses(one, group)), len(body))
    front, created = body[:first], body[first:]
    plain = not created or any(isinstance(part, ast.Await | _JUMPS) for one in front for part in ast.walk(one))
    fails = any(not isinstance(one, ast.Pass) for one in front)
    return ([], None) if plain or fails else (front, created)


def created_by(statement: ast.stmt, group: str) -> tuple[str, ast.expr] | None:
    """Returns the name of a task of a group, if it has one, and its call."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            inner = task_of(value, group)
        case ast.Expr(value=value):
            name, inner = "", task_of(value, group)
        case _:
            return None
    return None if inner is None or any(isinstance(part, ast.Await) for part in ast.walk(inner)) else (name, inner)


def task_of(value: ast.expr, group: str) -> ast.expr | None:
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="create_task"), args=[ast.Call() as inner]):
            return inner if name == group else None
    return None


def creates(statement: ast.stmt, name: str, word: Callable[[ast.AST], str]) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Name(id=found)], value=ast.Call(args=[_]) as call):
            return found == name and word(call) == "create_task"
    return False


def before_rebound(body: list[ast.stmt], names: set[str]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """Returns the statements before the first of a suite that binds one of these names again, and the others."""
    for place, one in enumerate(body):
        if any(binds_name(one, name) for name in names):
            return body[:place], body[place:]
    return body, []


def stored(body: Iterable[ast.stmt]) -> Iterator[str]:
    parts = (part for one in body for part in ast.walk(one))
    return (part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))


def names_in(body: Iterable[ast.stmt]) -> Counter[str]:
    """Returns how often names are used."""
    return Counter(part.id for one in body for part in ast.walk(one) if isinstance(part, ast.Name))


def uses(node: ast.AST, name: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node))


def reads(node: ast.AST, name: str) -> int:
    return sum(isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load) for part in ast.walk(node))


def binds_name(node: ast.AST, name: str) -> int:
    return sum(isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store) for part in ast.walk(node))


def binds(statement: ast.stmt, listed: ast.expr) -> bool:
    """Returns whether a statement binds, or may change, a name that an expression reads."""
    read = {part.id for part in ast.walk(listed) if isinstance(part, ast.Name)}
    return any(isinstance(part, ast.Name) and part.id in read for part in ast.walk(statement))


def awaits(statement: ast.stmt, name: str, word: Callable[[ast.AST], str]) -> bool:
    for part in ast.walk(statement):
        if isinstance(part, ast.Await):
            value = part.value
            if isinstance(value, ast.Name) and value.id == name:
                return True
            if isinstance(value, ast.Call) and word(value) == "gather" and not value.keywords:
                return any(isinstance(one, ast.Name) and one.id == name for one in value.args)
    return False


def spread(statement: ast.stmt, name: str, word: Callable[[ast.AST], str]) -> ast.stmt:
    """Writes `await gather(t, u)` of tasks as `[await t, await u]`."""

    class _Gathers(ast.NodeTransformer):
        def visit_Await(self, node: ast.Await) -> ast.AST:
            call = node.value
            if isinstance(call, ast.Call) and word(call) == "gather" and all(isinstance(one, ast.Name) for one in call.args):
                return ast.copy_location(ast.List([ast.copy_location(ast.Await(one), one) for one in call.args], _LOAD), node)
            return node

    changed: ast.stmt = _Gathers().visit(statement)
    return changed


def calling(name: str, arguments: list[ast.expr]) -> ast.Call:
    return ast.Call(ast.Name(name, _LOAD), arguments, [])


def placed(statement: ast.stmt, former: ast.stmt) -> ast.stmt:
    for part in ast.walk(statement):
        if isinstance(part, ast.expr | ast.stmt) and not hasattr(part, "lineno"):
            ast.copy_location(part, former)
    return statement




def placed_at(node: ast.expr, former: ast.AST) -> ast.expr:
    for part in ast.walk(node):
        if isinstance(part, ast.expr) and not hasattr(part, "lineno"):
            ast.copy_location(part, former)
    return node
