"""Copies of syntax trees."""

from __future__ import annotations

import ast
from typing import TypeVar

_Node = TypeVar("_Node", bound=ast.AST)


def copied(node: _Node) -> _Node:
    """A copy of a tree, which may be changed. Nodes without fields, such as `Load`, are shared, as the parser shares them.
    `copy.deepcopy` does the same in four times the time: it looks for cycles and for what is met twice."""
    if not node._fields:
        return node
    new = type(node).__new__(type(node))
    for name, value in vars(node).items():
        if type(value) is list:
            setattr(new, name, [copied(one) if isinstance(one, ast.AST) else one for one in value])
        else:
            setattr(new, name, copied(value) if isinstance(value, ast.AST) else value)
    return new
