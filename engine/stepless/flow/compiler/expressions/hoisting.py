"""Hoists awaits out of expressions: they become nodes before the statement, in the order in which Python evaluates them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from stepless.flow.compiler.expressions.choosing import both, choice, collected, compared
from stepless.flow.compiler.facts.names import Comprehension
from stepless.flow.compiler.refusals import Lift
from stepless.flow.compiler.trees import copied
from stepless.flow.compiler.unit import Unit
from stepless.flow.words import word_of

Await: TypeAlias = Callable[[Unit, ast.Await, str | None], ast.expr]
Each: TypeAlias = Callable[[Unit, ast.ListComp, str | None], ast.expr]

_SIMPLE: Final = (ast.Name, ast.Constant, ast.Lambda)
"""Expressions whose evaluation cannot fail; a lambda is read where it is used."""
_SKIPPING: Final = (ast.NamedExpr, ast.BoolOp, ast.IfExp, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_NONE: Final = "without_awaits"


def has_await(node: ast.AST) -> bool:
    """Returns whether a node awaits anywhere. A node without awaits is asked often, and never gets one: this is noted in it."""
    if isinstance(node, ast.Await):
        return True
    noted = node.__dict__
    if _NONE in noted:
        return False
    for name in node._fields:
        value = noted.get(name)
        if isinstance(value, list):
            if any(isinstance(one, ast.AST) and has_await(one) for one in value):
                return True
        elif isinstance(value, ast.AST) and value._fields and has_await(value):
            return True
    noted[_NONE] = True
    return False


def _is_plain_list(node: ast.ListComp) -> bool:
    """Whether a list of awaits has its awaits in the element alone, one for each item of one collection."""
    awaits = (has_await(test) for test in node.generators[0].ifs)
    return len(node.generators) == 1 and not any(awaits)


def _is_loop(node: Comprehension) -> bool:
    """Whether a comprehension awaits elsewhere than in its first collection."""
    parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    tests = [test for generator in node.generators for test in generator.ifs]
    return any(map(has_await, [*parts, *tests, *(generator.iter for generator in node.generators[1:])]))


def _copied(node: ast.expr) -> ast.expr:
    """A node that may be changed: its awaits are replaced. One without awaits stays as it is."""
    return copied(node) if has_await(node) else node


def _is_lifted(unit: Unit, node: ast.expr) -> bool:
    """Whether an expression becomes a node of its own, which runs before what is evaluated with the next one."""
    if isinstance(node, (*_SIMPLE, ast.Starred)) or word_of(unit.static(node)):
        return False
    before = unit.risks
    try:
        unit.express(node)
    except Lift:
        return True
    finally:
        unit.risks = before
    return False


class Hoist:
    """Takes awaits out of expressions. `await_` and `each` emit the node of an await and of a list of awaits."""

    def __init__(self, await_: Await, each: Each) -> None:
        self._await = await_
        self._each = each

    def expression(self, unit: Unit, node: ast.expr) -> ast.expr:
        """Returns the expression without the awaits that are certain to run. The others stay, and are refused where they are
        read."""
        return self._taken(unit, copied(node)) if has_await(node) else node

    def expressions(self, unit: Unit, nodes: Sequence[ast.expr]) -> list[ast.expr]:
        """Compiles several expressions that Python evaluates from the left."""
        nodes = [_copied(node) for node in nodes]
        apart = (place for place, node in enumerate(nodes) if has_await(node) or (place > 0 and _is_lifted(unit, node)))
        last = max(apart, default=-1)
        return [self._before(unit, node, later=place < last) for place, node in enumerate(nodes)]

    def list_of_awaits(self, unit: Unit, node: ast.expr, hint: str) -> ast.expr | None:
        """Returns the output of `[await f(x) for x in xs]`, in a node named by the hint; None for any other expression."""
        if isinstance(node, ast.ListComp) and isinstance(node.elt, ast.Await) and _is_plain_list(node):
            return self._each(unit, node, hint)
        return None

    def settled(self, unit: Unit, nodes: Sequence[ast.expr]) -> list[ast.expr]:
        """Compiles like `expressions`; all of them are evaluated before the next node."""
        return [self._before(unit, _copied(node), later=True) for node in nodes]

    def _before(self, unit: Unit, node: ast.expr, *, later: bool) -> ast.expr:
        """A part of an expression; if a node follows it, what may fail in it is evaluated first."""
        if has_await(node):
            node = self._taken(unit, node)
        return self._spilled(unit, node) if later else node

    def _spilled(self, unit: Unit, node: ast.expr) -> ast.expr:
        if isinstance(node, (*_SIMPLE, ast.Starred)) or word_of(unit.static(node)):
            return node
        before = unit.risks
        try:
            unit.express(node)
        except Lift:
            unit.risk()
        if unit.risks == before:
            return node
        kind = unit.infer(node)
        expressed = unit.value(node)
        if unit.texts.path(expressed) is None or unit.texts.is_strict(expressed):
            id = unit.emit(unit.new_id("value"), "transform", {"value": unit.texts.template(expressed)})
            unit.may_fail(id, pure=True)
            expressed = unit.texts.reference(id)
        return unit.temporary(expressed, kind, node)

    def _taken(self, unit: Unit, node: ast.expr) -> ast.expr:  # a table of expressions
        match node:
            case ast.Await():
                kind = unit.infer(node)
                return unit.temporary(self._await(unit, node, None), kind, node)
            case ast.ListComp(elt=ast.Await()) if _is_plain_list(node):
                kind = unit.infer(node)
                return unit.temporary(self._each(unit, node, None), kind, node)
            case ast.Compare():
                first = [node.left, node.comparators[0]]
                node.left, node.comparators[0] = self._in_order(unit, first)
                return self._skipping(unit, node)
            case _ if isinstance(node, _SKIPPING):
                return self._skipping(unit, node)
            case ast.BinOp():
                node.left, node.right = self._in_order(unit, [node.left, node.right])
            case ast.Dict():
                self._dict(unit, node)
            case ast.List() | ast.Tuple() | ast.Set():
                node.elts = self._in_order(unit, node.elts)
            case ast.Call():
                self._call(unit, node)
            case ast.Subscript() if not isinstance(node.slice, ast.Slice):
                node.value, node.slice = self._in_order(unit, [node.value, node.slice])
            case ast.Subscript(slice=ast.Slice() as ends):
                parts = [part for part in (node.value, ends.lower, ends.upper, ends.step) if part is not None]
                taken = iter(self._in_order(unit, parts))
                node.value = next(taken)
                ends.lower, ends.upper, ends.step = (end and next(taken) for end in (ends.lower, ends.upper, ends.step))
            case ast.JoinedStr():
                node.values = self._in_order(unit, node.values)
            case _:
                self._single(unit, node)
        return node

    def _bound(self, unit: Unit, node: ast.NamedExpr) -> ast.expr:
        """`(x := await f())`: an assignment, and then the name."""
        unit.rules.statement(unit, ast.copy_location(ast.Assign([node.target], node.value), node))
        return ast.copy_location(ast.Name(node.target.id, ast.Load()), node)

    def _skipping(self, unit: Unit, node: ast.expr) -> ast.expr:
        """Expressions of which Python may skip a part that awaits."""
        match node:
            case ast.NamedExpr():
                return self._bound(unit, node)
            case ast.Compare() if any(map(has_await, node.comparators[1:])):
                return compared(unit, node, self._sure, has_await)
            case ast.BoolOp() if any(map(has_await, node.values[1:])):
                return both(unit, node, self._sure, has_await)
            case ast.IfExp() if has_await(node.body) or has_await(node.orelse):
                return choice(unit, node, self._sure)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp() if _is_loop(node):
                return collected(unit, node)
        self._single(unit, node)
        return node

    def _single(self, unit: Unit, node: ast.expr) -> None:
        """Expressions of which one part is certain to be evaluated first."""
        match node:
            case ast.BoolOp():
                node.values[0] = self._sure(unit, node.values[0])
            case ast.IfExp():
                node.test = self._sure(unit, node.test)
            case ast.Subscript() | ast.Attribute() | ast.Starred() | ast.FormattedValue():
                node.value = self._sure(unit, node.value)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                node.generators[0].iter = self._sure(unit, node.generators[0].iter)
            case ast.UnaryOp():
                node.operand = self._sure(unit, node.operand)

    def _sure(self, unit: Unit, node: ast.expr) -> ast.expr:
        return self._taken(unit, node) if has_await(node) else node

    def _in_order(self, unit: Unit, nodes: Sequence[ast.expr]) -> list[ast.expr]:
        last = max((place for place, node in enumerate(nodes) if has_await(node)), default=-1)
        return [
            self._before(unit, node, later=place < last and not isinstance(node, ast.FormattedValue))
            for place, node in enumerate(nodes)
        ]

    def _dict(self, unit: Unit, node: ast.Dict) -> None:
        order = [part for pair in zip(node.keys, node.values, strict=True) for part in pair if part is not None]
        taken = iter(self._in_order(unit, order))
        for place, key in enumerate(node.keys):
            node.keys[place] = None if key is None else next(taken)
            node.values[place] = next(taken)

    def _call(self, unit: Unit, node: ast.Call) -> None:
        has_base = isinstance(node.func, ast.Attribute) and unit.static(node.func) is None
        base = [node.func.value] if has_base and isinstance(node.func, ast.Attribute) else []
        taken = self._in_order(unit, [*base, *node.args, *(keyword.value for keyword in node.keywords)])
        if base and isinstance(node.func, ast.Attribute):
            node.func.value = taken.pop(0)
        node.args = taken[: len(node.args)]
        for keyword, value in zip(node.keywords, taken[len(node.args) :], strict=True):
            keyword.value = value
