"""Compiles awaits that Python may skip: in `a if c else b`, `and`, `or`, chained comparisons, and in comprehensions. Each becomes
a condition, or a loop, in Python's order of evaluation; what Python skips is skipped."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final, TypeAlias

from stepless.flow.compiler.expressions.expression import truth
from stepless.flow.compiler.expressions.json_values import json_value
from stepless.flow.compiler.facts.names import Comprehension, names_of
from stepless.flow.compiler.refusals import Ended, Lift
from stepless.flow.compiler.unit import Unit

Taken: TypeAlias = Callable[[Unit, ast.expr], ast.expr]
Awaits: TypeAlias = Callable[[ast.AST], bool]
_LOAD: Final = ast.Load()


def choice(unit: Unit, node: ast.IfExp, sure: Taken) -> ast.expr:
    """Returns the value of `a if c else b`, in a variable that one of two branches writes. `sure` takes out the awaits of an
    expression."""
    name, kind = unit.made_name("value"), unit.infer(node)
    before = unit.risks
    which = unit.texts.source(_tested(unit, sure(unit, node.test)))
    id = unit.emit(unit.new_id("choose"), "condition", {"cases": {"then": which, "else": "else"}})
    if unit.risks > before:
        unit.may_fail(id, pure=True)
    ends: list[str] = []
    for exit, branch in (("then", node.body), ("else", node.orelse)):
        unit.frontier = [f"{id}.{exit}"]
        try:
            taken = sure(unit, branch)
            risks = unit.risks
            unit.set("set_value", {name: json_value(unit, taken)}, risky=unit.risks > risks)
            ends += unit.frontier or []
        except Ended:
            continue
    unit.frontier = ends or None
    if not ends:
        raise Ended
    return unit.temporary(unit.texts.reference(f"workflow.{name}"), kind, node)


def _tested(unit: Unit, node: ast.expr) -> ast.expr:
    """The expression of a test; one whose truth a class decides is lifted."""
    try:
        truth(unit, node)
    except Lift:
        node = ast.copy_location(ast.Call(ast.Name("bool", _LOAD), [node], []), node)
    return unit.value(node)


def both(unit: Unit, node: ast.BoolOp, sure: Taken, awaits: Awaits) -> ast.expr:
    """Returns the value of `a and b`, `a or b`, of which `b` awaits."""
    first = max(1, next(place for place, value in enumerate(node.values) if place > 0 and awaits(value)))
    known = sure(unit, _joined(node, node.values[:first]))
    held = unit.temporary(unit.value(known), unit.infer(known), known)
    rest = _joined(node, node.values[first:])
    then, otherwise = (rest, held) if isinstance(node.op, ast.And) else (held, rest)
    return choice(unit, ast.copy_location(ast.IfExp(held, then, otherwise), node), sure)


def _joined(node: ast.BoolOp, values: list[ast.expr]) -> ast.expr:
    return values[0] if len(values) == 1 else ast.copy_location(ast.BoolOp(node.op, values), node)


def compared(unit: Unit, node: ast.Compare, sure: Taken, awaits: Awaits) -> ast.expr:
    """Returns a chain of comparisons of which a later value awaits. The awaits of its first two values were taken out."""
    middle = node.comparators[0]
    held = unit.temporary(unit.value(middle), unit.infer(middle), middle)
    one = ast.copy_location(ast.Compare(node.left, node.ops[:1], [held]), node)
    rest = ast.copy_location(ast.Compare(held, node.ops[1:], node.comparators[1:]), node)
    return both(unit, ast.copy_location(ast.BoolOp(ast.And(), [one, rest]), node), sure, awaits)


def as_statement(value: ast.expr, awaits: Awaits) -> ast.If | None:
    """Returns the `if` that has the effect of an expression whose value is not used; None for one that has no such form."""
    match value:
        case ast.IfExp() if awaits(value.body) or awaits(value.orelse):
            found = ast.If(value.test, [_effect(value.body)], [_effect(value.orelse)])
        case ast.BoolOp() if any(map(awaits, value.values[1:])):
            rest = _joined(value, value.values[1:])
            test = value.values[0]
            test = test if isinstance(value.op, ast.And) else ast.copy_location(ast.UnaryOp(ast.Not(), test), value)
            found = ast.If(test, [_effect(rest)], [])
        case _:
            return None
    return ast.copy_location(found, value)


def _effect(value: ast.expr) -> ast.stmt:
    if isinstance(value, ast.Constant | ast.Name):
        return ast.copy_location(ast.Pass(), value)
    return ast.copy_location(ast.Expr(value), value)


def as_returns(value: ast.expr, awaits: Awaits) -> ast.If | None:
    """Returns the `if` with two returns for `return a if c else b`, of which one awaits."""
    if not isinstance(value, ast.IfExp) or not (awaits(value.body) or awaits(value.orelse)):
        return None
    returns = [ast.copy_location(ast.Return(branch), value) for branch in (value.body, value.orelse)]
    return ast.copy_location(ast.If(value.test, [returns[0]], [returns[1]]), value)


# -- comprehensions ---------------------------------------------------------------------------------------------------


def collected(unit: Unit, node: Comprehension) -> ast.expr:
    """Returns a comprehension as the loop that Python makes of it."""
    if isinstance(node, ast.GeneratorExp) or any(generator.is_async for generator in node.generators):
        message = "an async generator has no counterpart in a graph"
        unit.refuse(node, "no_such_construct", message, "Write a list: [… for … in …]")
    made = unit.made_name("collected")
    kind = unit.infer(node)
    statements = _loop(unit, node, made)
    for statement in statements:
        for part in ast.walk(statement):
            if isinstance(part, ast.expr | ast.stmt) and not hasattr(part, "lineno"):
                ast.copy_location(part, node)
    names = names_of(statements)
    unit.names.adopt(names)
    unit.kinds[made] = kind if not isinstance(node, ast.SetComp) else list
    unit.block(statements)
    if unit.frontier is None:
        raise Ended
    read = ast.copy_location(ast.Name(made, _LOAD), node)
    return read if not isinstance(node, ast.SetComp) else ast.copy_location(ast.Call(ast.Name("set", _LOAD), [read], []), node)


def _loop(unit: Unit, node: Comprehension, made: str) -> list[ast.stmt]:
    target, read = ast.Name(made, ast.Store()), ast.Name(made, _LOAD)
    if isinstance(node, ast.DictComp):
        key = unit.made_name("key")
        unit.kinds[key] = unit.infer(node.key)
        put = ast.Subscript(read, ast.Name(key, _LOAD), ast.Store())
        body: list[ast.stmt] = [ast.Assign([ast.Name(key, ast.Store())], node.key), ast.Assign([put], node.value)]
        start: ast.expr = ast.Dict([], [])
    else:
        body = [ast.Expr(ast.Call(ast.Attribute(read, "append", _LOAD), [node.elt], []))]
        start = ast.List([], _LOAD)
    for generator in reversed(node.generators):
        for test in reversed(generator.ifs):
            body = [ast.If(test, body, [])]
        body = [ast.For(generator.target, generator.iter, body, [])]
    return [ast.Assign([target], start), *body]
