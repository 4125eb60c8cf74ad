"""Copies syntax trees, and visits their nodes."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

_Node = TypeVar("_Node", bound=ast.AST)


def copied(node: _Node) -> _Node:
    """Returns a copy of a tree, which may be changed. Nodes without fields, such as `Load`, are shared, as the parser shares
    them. `copy.deepcopy` does the same in four times the time: it looks for cycles and for what is met twice."""
    if not node._fields:
        return node
    new = type(node).__new__(type(node))
    for name, value in vars(node).items():
        if type(value) is list:
            setattr(new, name, [copied(one) if isinstance(one, ast.AST) else one for one in value])
        else:
            setattr(new, name, copied(value) if isinstance(value, ast.AST) else value)
    return new


def _class(name: str) -> type[ast.AST]:
    """The class of this name: one of `ast`, or one that the compiler made of an expression."""
    made = (one for one in ast.expr.__subclasses__() if one.__name__ == name)
    return getattr(ast, name, None) or next(made)


class Visitor:
    """As `ast.NodeVisitor`, in half the time: the methods `visit_Name`, `visit_Call` and so on are found once, when the class is
    made, and nodes without fields, such as `Load`, are not visited."""

    _rules: ClassVar[dict[type[ast.AST], Callable[[Any, Any], None]]]

    def __init_subclass__(cls) -> None:
        named = [name for name in dir(cls) if name.startswith("visit_")]
        cls._rules = {_class(name.removeprefix("visit_")): getattr(cls, name) for name in named}

    def visit(self, node: ast.AST) -> None:
        rule = self._rules.get(type(node))
        if rule is None:
            self.generic_visit(node)
        else:
            rule(self, node)

    def generic_visit(self, node: ast.AST) -> None:
        """Visits the nodes below a node."""
        for name in node._fields:
            value = getattr(node, name, None)
            if type(value) is list:
                for one in value:
                    if isinstance(one, ast.AST):
                        self.visit(one)
            elif isinstance(value, ast.AST) and value._fields:
                self.visit(value)
