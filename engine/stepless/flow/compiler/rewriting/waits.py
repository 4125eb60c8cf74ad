"""Rewrites what is done with the tasks of a wait for the first that ends."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Final

from stepless.flow.compiler.rewriting.reading import calling, placed, placed_at
from stepless.flow.compiler.rewriting.results import Foreign
from stepless.flow.compiler.rewriting.words import RESULT, RESULT_OF
from stepless.flow.compiler.trees import copied

_LOAD: Final = ast.Load()


class Waited(ast.NodeTransformer):
    """Writes what is done with the tasks of a wait: of those that have ended, which is one, and of the others, which are
    cancelled."""

    def __init__(self, done: str, pending: str, names: Mapping[str, int], place: str, value: str, count: int) -> None:
        self._done, self._pending, self._names = done, pending, names
        self._place, self._value, self._count = place, value, count
        self._winners: set[str] = set()

    def rewrite(self, body: list[ast.stmt]) -> list[ast.stmt] | None:
        try:
            return [found for statement in body for found in self._statement(copied(statement))]
        except Foreign:
            return None

    def _statement(self, statement: ast.stmt) -> Iterator[ast.stmt]:
        if self._cancels(statement):
            return
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if self._is_done(value):
                self._winners.add(name)
                yield ast.copy_location(ast.Assign(statement.targets, ast.Name(self._value, _LOAD)), statement)
                return
            case ast.Assign(targets=[ast.Tuple(elts=[ast.Name(id=name) as target])
                                     | ast.List(elts=[ast.Name(id=name) as target])],
                            value=ast.Name(id=done)) if done == self._done:
                self._winners.add(name)
                yield ast.copy_location(ast.Assign([target], ast.Name(self._value, _LOAD)), statement)
                return
        for field in ("body", "orelse", "finalbody"):
            inner = getattr(statement, field, None)
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                if isinstance(statement, ast.For) and field == "body":
                    self._loop(statement)
                new = [found for one in inner for found in self._statement(one)]
                setattr(statement, field, new or [ast.copy_location(ast.Pass(), inner[0])])
        for handler in getattr(statement, "handlers", ()):
            new = [found for one in handler.body for found in self._statement(one)]
            handler.body = new or [ast.copy_location(ast.Pass(), handler)]
        yield self._expressions(statement)

    def _loop(self, loop: ast.For) -> None:
        if isinstance(loop.iter, ast.Name) and loop.iter.id == self._done and isinstance(loop.target, ast.Name):
            self._winners.add(loop.target.id)
            loop.iter = ast.copy_location(ast.List([ast.Name(self._value, _LOAD)], _LOAD), loop.iter)

    def _expressions(self, statement: ast.stmt) -> ast.stmt:
        for name, value in ast.iter_fields(statement):
            if isinstance(value, ast.expr):
                setattr(statement, name, self.visit(value))
            elif isinstance(value, list) and value and isinstance(value[0], ast.expr):
                setattr(statement, name, [self.visit(one) for one in value])
        return placed(statement, statement)

    def _cancels(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.For(target=ast.Name(id=name), iter=ast.Name(id=over), body=[ast.Expr(value=value)]):
                return over == self._pending and _is_cancel(value, {name})
            case ast.Expr(value=ast.ListComp(
                elt=value, generators=[ast.comprehension(target=ast.Name(id=name), iter=ast.Name(id=over))],
            )):  # fmt: skip
                return over == self._pending and _is_cancel(value, {name})
            case ast.Expr(value=ast.Await(value=ast.Call(args=[ast.Starred(value=ast.Name(id=name)) | ast.Name(id=name), *_]))):
                return name == self._pending
            case ast.Expr(value=value):
                return _is_cancel(value, set(self._names))
        return False

    def _is_done(self, node: ast.expr) -> bool:
        """Whether an expression is the task that has ended."""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="pop"), args=[]):
                return name == self._done
            case ast.Call(func=ast.Name(id="next"), args=[ast.Call(func=ast.Name(id="iter"), args=[ast.Name(id=name)])]):
                return name == self._done
            case ast.Subscript(value=ast.Call(func=ast.Name(id="list"), args=[ast.Name(id=name)]), slice=ast.Constant(value=0)):
                return name == self._done
        return False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(func=ast.Attribute(value=task, attr="result"), args=[], keywords=[]):
                if self._is_done(task):
                    return placed_at(calling(RESULT, [ast.Name(self._value, _LOAD)]), node)
                if isinstance(task, ast.Name) and task.id in self._winners:
                    return placed_at(calling(RESULT, [task]), node)
                if isinstance(task, ast.Name) and task.id in self._names:
                    wanted = ast.Constant(self._names[task.id])
                    found = [ast.Name(self._place, _LOAD), wanted, ast.Name(self._value, _LOAD)]
                    return placed_at(calling(RESULT_OF, list[ast.expr](found)), node)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="done"), args=[]) if name in self._names:
                return self._is_first(name, node, ast.Eq())
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]) if name in (self._done, self._pending):
                return ast.copy_location(ast.Constant(1 if name == self._done else self._count - 1), node)
        return self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        match node:
            case ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[ast.Name(id=other)]) if name in self._names:
                if other in (self._done, self._pending) and isinstance(op, ast.In | ast.NotIn):
                    is_equal = (other == self._done) is isinstance(op, ast.In)
                    return self._is_first(name, node, ast.Eq() if is_equal else ast.NotEq())
            case ast.Compare(left=ast.Name(id=name), ops=[ast.Is() | ast.Eq() | ast.IsNot() | ast.NotEq() as op],
                             comparators=[ast.Name(id=other)]) if name in self._winners and other in self._names:
                return self._is_first(other, node, ast.Eq() if isinstance(op, ast.Is | ast.Eq) else ast.NotEq())
        return self.generic_visit(node)

    def _is_first(self, name: str, node: ast.AST, op: ast.cmpop) -> ast.expr:
        compared = ast.Compare(ast.Name(self._place, _LOAD), [op], [ast.Constant(self._names[name])])
        return placed_at(compared, node)

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        first = node.generators[0]
        if isinstance(first.iter, ast.Name) and first.iter.id == self._done and isinstance(first.target, ast.Name):
            self._winners.add(first.target.id)
            first.iter = placed_at(ast.List([ast.Name(self._value, _LOAD)], _LOAD), first.iter)
            node.elt = self.visit(node.elt)
            first.ifs = [self.visit(one) for one in first.ifs]
            return node
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        known = {self._done, self._pending, *self._names, *self._winners}
        if node.id in known and isinstance(node.ctx, ast.Load):
            raise Foreign
        return node


def _is_cancel(value: ast.expr, names: set[str]) -> bool:
    match value:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="cancel"), args=[]):
            return name in names
    return False
