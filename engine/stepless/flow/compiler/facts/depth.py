"""How deep a source is nested. Everything else reads it recursively, so this comes first."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from stepless.limits import MAX_SOURCE_DEPTH


def too_deep(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that hold an expression nested deeper than MAX_SOURCE_DEPTH."""
    stack: list[tuple[ast.AST, ast.stmt, int]] = [(statement, statement, 0) for statement in body]
    found: dict[ast.stmt, None] = {}
    while stack:
        node, statement, depth = stack.pop()
        if isinstance(node, ast.stmt):
            statement, depth = node, 0
        elif isinstance(node, ast.expr):
            depth += 1
        if depth > MAX_SOURCE_DEPTH:
            found[statement] = None
            continue
        stack += [(child, statement, depth) for child in ast.iter_child_nodes(node)]
    yield from sorted(found, key=lambda statement: statement.lineno)
