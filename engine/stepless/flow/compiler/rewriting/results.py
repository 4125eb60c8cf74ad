"""Rewrites what is done with the tasks of a group that has ended."""

from __future__ import annotations

import ast
from collections import Counter

from stepless.flow.compiler.trees import copied


class Foreign(Exception):
    """A task is used as nothing that is rewritten."""


class Results(ast.NodeTransformer):
    """Writes `t.result()` and `await t` as the value of a task that has ended. `values` are the names of tasks, `lists` those of
    lists of tasks."""

    def __init__(self, values: set[str], lists: set[str], bound: Counter[str]) -> None:
        self._bound = bound
        self._values = values
        self._lists = lists
        self._items: set[str] = set()

    def rewrite(self, body: list[ast.stmt]) -> list[ast.stmt] | None:
        try:
            return [self.visit(copied(statement)) for statement in body]
        except Foreign:
            return None

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(func=ast.Attribute(value=task, attr="result"), args=[], keywords=[]) if self._is_task(task):
                return task
            case ast.Call(func=ast.Attribute(value=task, attr="done" | "cancelled"), args=[], keywords=[]) if self._is_task(task):
                return ast.copy_location(ast.Constant(node.func.attr == "done"), node)  # type: ignore[attr-defined]
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]) if name in self._lists:
                return node
        return self.generic_visit(node)

    def visit_Await(self, node: ast.Await) -> ast.AST:
        return node.value if self._is_task(node.value) else self.generic_visit(node)

    def _is_task(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(id=name):
                return name in self._values or name in self._items
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=int()) | ast.UnaryOp()):
                return name in self._lists
        return False

    def visit_Name(self, node: ast.Name) -> ast.AST:
        known = node.id in self._values or node.id in self._lists or node.id in self._items
        if known and isinstance(node.ctx, ast.Load):
            raise Foreign
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        if isinstance(node.iter, ast.Name) and node.iter.id in self._lists and isinstance(node.target, ast.Name):
            self._items.add(node.target.id)
            node.body = [self.visit(one) for one in node.body]
            node.orelse = [self.visit(one) for one in node.orelse]
            if self._bound[node.target.id] > 1:  # bound to something else elsewhere
                self._items.discard(node.target.id)
            return node
        return self.generic_visit(node)

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> ast.AST:
        outer = set(self._items)
        for generator in node.generators:
            over, target = generator.iter, generator.target
            if isinstance(over, ast.Name) and over.id in self._lists and isinstance(target, ast.Name):
                self._items.add(target.id)
            else:
                generator.iter = self.visit(over)
            generator.ifs = [self.visit(one) for one in generator.ifs]
        for name in ("key", "value", "elt"):
            if hasattr(node, name):
                setattr(node, name, self.visit(getattr(node, name)))
        self._items = outer
        return node

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp  # named by `ast`


