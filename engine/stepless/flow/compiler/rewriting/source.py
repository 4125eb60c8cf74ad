"""Rewrites the source of a function."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from stepless.flow.compiler.origin import Origin
from stepless.flow.compiler.rewriting.limits import with_limits
from stepless.flow.compiler.rewriting.lists import with_lists
from stepless.flow.compiler.rewriting.nested import moved_out
from stepless.flow.compiler.rewriting.tables import with_tables
from stepless.flow.compiler.rewriting.tasks import Tasks
from stepless.flow.compiler.rewriting.words import WORDS
from stepless.flow.compiler.trees import copied

_SIGNS: Final = ("create_task", "TaskGroup", "ensure_future", ".wait", "gather")
"""One of these stands in every text that is rewritten: most are not."""


def rewritten(origin: Origin, part_of: Callable[[Any], Any]) -> Origin:
    """Returns the function with the forms that the compiler knows. `part_of` says which part a coroutine stands for."""
    origin = with_tables(origin)
    if origin.text.count("async def ") > 1:
        origin = moved_out(origin)
    local = {one.arg for one in origin.parameters}
    local |= {part.id for part in ast.walk(origin.tree) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}

    def static(node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            return None if node.id in local else origin.globals.get(node.id)
        if isinstance(node, ast.Attribute):
            base = static(node.value)
            return getattr(base, node.attr, None) if inspect.ismodule(base) else None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "with_":
            return static(node.func.value)
        return None

    return with_limits(with_lists(_with_tasks(origin, static), static), static, part_of)


def _with_tasks(origin: Origin, static: Callable[[ast.expr], Any]) -> Origin:
    if not any(sign in origin.text for sign in _SIGNS):
        return origin
    tasks = Tasks(list(origin.tree.body), static)
    body = tasks.rewritten()
    if not tasks.changed:
        return origin
    tree = copied(origin.tree)
    tree.body = body
    return replace(origin, tree=tree, globals={**origin.globals, **WORDS})
