"""Compiles comparisons: exact where the types say that Python and JSON agree, else lifted. In Python `True == 1`; in JSON it is
not."""

from __future__ import annotations

import ast
from enum import Enum
from typing import Any, Final

from stepless.flow.compiler.facts.functions import holds_named
from stepless.flow.compiler.facts.types import UNKNOWN, is_dict, is_list, is_number, is_plain, item_of, parts, solid
from stepless.flow.compiler.refusals import Lift
from stepless.flow.compiler.unit import Unit

_AMBIGUOUS: Final = (0, 1)
_ORDERED: Final = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def compared(unit: Unit, node: ast.Compare) -> ast.expr:
    operands = [node.left, *node.comparators]
    operators: list[ast.cmpop] = []
    for operator, left, right in zip(node.ops, operands, operands[1:], strict=False):
        if isinstance(operator, ast.Is | ast.IsNot):
            if _is_single(unit, right) or _is_single(unit, left):
                raise Lift
            if not _is_null(right) and not _is_null(left):
                unit.refuse(node, "identity", "`is` compares identity, which values of JSON do not have", "Write ==")
            operators.append(ast.Eq() if isinstance(operator, ast.Is) else ast.NotEq())
        elif isinstance(operator, _ORDERED):
            _ordered(unit, left, right)
            operators.append(operator)
        elif isinstance(operator, ast.In | ast.NotIn):
            _contained(unit, left, right)
            operators.append(operator)
        elif _equal(unit, left, right):
            operators.append(operator)
        else:
            return _ambiguous(unit, node)
    return ast.Compare(unit.express(operands[0]), operators, [unit.express(operand) for operand in operands[1:]])


def _is_single(unit: Unit, node: ast.expr) -> bool:
    """Whether Python has one object of a value, wherever it is read: a boolean, and a member of an enumeration."""
    return isinstance(unit.static(node), Enum) or (isinstance(node, ast.Constant) and isinstance(node.value, bool))


def _is_null(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _ordered(unit: Unit, left: ast.expr, right: ast.expr) -> None:
    kinds = [unit.infer(left), unit.infer(right)]
    if any(not is_plain(kind) or is_list(kind) or kind is bool for kind in kinds):
        raise Lift
    if not (all(is_number(kind) for kind in kinds) or kinds == [str, str]):
        unit.risk()


def _equal(unit: Unit, left: ast.expr, right: ast.expr) -> bool:
    """Whether `==` means the same. Raises `Lift` for values that JSON does not keep."""
    if _is_null(left) or _is_null(right):
        return True
    one, other = unit.infer(left), unit.infer(right)
    if not is_plain(one) or not is_plain(other):
        raise Lift
    if _is_clear(left) or _is_clear(right):
        return True
    return _agree(one, other)


def _is_clear(node: ast.expr) -> bool:
    """Whether a literal number is equal to no boolean."""
    value = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    return isinstance(value, ast.Constant) and type(value.value) in (int, float) and value.value not in _AMBIGUOUS


def _agree(one: Any, other: Any) -> bool:
    """Whether no boolean of one type can meet a number of the other."""
    left, right = parts(one), parts(other)
    for some, against in ((left, right), (right, left)):
        if "unknown" in some and against & {"bool", "number", "unknown"}:
            return False
        if "bool" in some and "number" in against:
            return False
    return True


def _ambiguous(unit: Unit, node: ast.Compare) -> ast.expr:
    """`x == 1` of an unknown `x` is also true for `True`: one of the two."""
    if len(node.ops) == 1:
        for value, fixed in ((node.left, node.comparators[0]), (node.comparators[0], node.left)):
            if isinstance(fixed, ast.Constant) and isinstance(fixed.value, int | float) and unit.infer(value) is UNKNOWN:
                number, truth = int(fixed.value), "true" if fixed.value else "false"
                both = ast.List([ast.Constant(number), ast.Name(truth, ast.Load())], ast.Load())
                operator = ast.In() if isinstance(node.ops[0], ast.Eq) else ast.NotIn()
                return ast.Compare(unit.express(value), [operator], [both])
    raise Lift


def _contained(unit: Unit, left: ast.expr, right: ast.expr) -> None:
    sought, whole = unit.infer(left), unit.infer(right)
    if isinstance(right, ast.List | ast.Tuple):
        if not all(_equal(unit, left, item) for item in right.elts if not isinstance(item, ast.Starred)):
            raise Lift
        if any(isinstance(item, ast.Starred) for item in right.elts):
            raise Lift
        return
    if not is_plain(sought) or not (is_plain(whole) or (is_dict(whole) and holds_named(whole))):
        raise Lift
    if holds_named(whole) and sought is not str:
        raise Lift
    if whole is str or is_dict(whole):
        if sought is not str:
            unit.risk()
            if sought is not UNKNOWN:
                raise Lift
        return
    unit.risk()
    if is_list(whole):
        if not _is_clear(left) and not _agree(sought, item_of(whole)):
            raise Lift
        return
    if solid(whole) is not UNKNOWN or (sought is not str and not _is_clear(left)):
        raise Lift
