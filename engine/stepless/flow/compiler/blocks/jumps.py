"""Finds the jumps that leave some statements."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Final

from stepless.flow.compiler.facts.block_nodes import Leave

_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_LOOPS: Final = (ast.For, ast.While, ast.AsyncFor)


def jumps_of(body: Sequence[ast.AST], *, looping: bool = False) -> Iterator[str]:
    """Yields the jumps that leave some statements, each as often as it stands there."""
    for node in body:
        if isinstance(node, ast.Return):
            yield "return"
        elif isinstance(node, Leave):
            yield node.kind
        elif isinstance(node, ast.Break | ast.Continue):
            if not looping:
                yield type(node).__name__.lower()
        elif isinstance(node, _LOOPS):
            yield from jumps_of(node.body, looping=True)
            yield from jumps_of(node.orelse, looping=looping)
        elif not isinstance(node, (*_SCOPES, ast.expr)):
            yield from jumps_of([*ast.iter_child_nodes(node)], looping=looping)
