"""Compiles subscripts, numbers and texts: they fail where Python fails, and texts are as Python writes them."""

from __future__ import annotations

import ast
import builtins
import inspect
import re
from typing import Any, Final, NoReturn

from stepless.flow.compiler.facts.types import (
    UNKNOWN,
    is_dict,
    is_failure,
    is_list,
    is_model,
    is_number,
    is_tuple,
    item_of,
    may_be_null,
    parts,
    solid,
)
from stepless.flow.compiler.refusals import Lift
from stepless.flow.compiler.unit import Unit
from stepless.flow.words import NodeError

_VARIABLE: Final = re.compile(r"workflow\.\w+")
"""A variable itself, which is set to a float. What it holds, such as the field of a model, is as it came."""


def check_failure(unit: Unit, node: ast.Attribute) -> None:
    """Refuses an attribute of an exception that is no failure of a node: only its text is recorded."""
    name = node.value.id if isinstance(node.value, ast.Name) else ""
    for handler in unit.names.values.get(name, ()):
        if not isinstance(handler, ast.ExceptHandler) or handler.type is None or not _is_inside(node, handler):
            continue
        for one in handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]:
            kind = unit.static(one) or getattr(builtins, ast.unparse(one), None)
            if inspect.isclass(kind) and not issubclass(kind, NodeError) and not issubclass(NodeError, kind):
                message = f"of `{kind.__name__}` no more than its text is recorded"
                mend = f"Write str({unit.shown.get(name, name)}), or derive {kind.__name__} from NodeError"
                unit.refuse(node, "no_such_field", message, mend)


def _is_inside(node: ast.AST, handler: ast.ExceptHandler) -> bool:
    return handler.lineno <= getattr(node, "lineno", 0) <= (handler.end_lineno or 0)


def calling(function: str, *arguments: ast.expr) -> ast.Call:
    """Returns a call of a function of the expression language."""
    return ast.Call(ast.Name(function, ast.Load()), list(arguments), [])


def at(unit: Unit, node: ast.Subscript) -> ast.expr:
    """Compiles `x[key]`, which fails where there is no such item; an item that is null is read."""
    base, key = unit.express(node.value), unit.express(node.slice)
    kind, named = solid(unit.infer(node.value)), unit.infer(node.slice)
    fixed = node.slice.value if isinstance(node.slice, ast.Constant) else None
    match node.slice:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as number)):
            fixed = -number
    if isinstance(fixed, str) or (type(fixed) is int and (is_list(kind) or is_tuple(kind))):
        strict = unit.texts.step(base, fixed, strict=True)
        if strict is not None:
            return strict
    item = ast.Subscript(base, key, ast.Load())
    if (is_list(kind) or is_dict(kind) or is_tuple(kind) or kind is str) and not may_be_null(item_of(kind)):
        return calling("need", item)
    if not (unit.texts.is_simple(base) and _repeatable(unit, key)):
        raise Lift
    nothing = calling("need", ast.Name("null", ast.Load()))
    if named is str:
        return ast.IfExp(ast.Compare(key, [ast.In()], [base]), item, nothing)
    if named is int:
        length = calling("len", base)
        inside = ast.Compare(ast.UnaryOp(ast.USub(), length), [ast.LtE(), ast.Lt()], [key, length])
        return ast.IfExp(inside, item, nothing)
    raise Lift


def _repeatable(unit: Unit, key: ast.expr) -> bool:
    return unit.texts.is_simple(key) or (isinstance(key, ast.UnaryOp) and unit.texts.is_simple(key.operand))


def numeric(unit: Unit, node: ast.expr) -> ast.expr:
    """Returns an operand of arithmetic. Python counts with booleans; and where a contract says float, JSON may hold a whole
    number."""
    kind, expressed = unit.infer(node), unit.express(node)
    if kind is bool:
        return calling("int", expressed)
    return calling("float", expressed) if kind is float and is_raw(unit, expressed) else expressed


def is_raw(unit: Unit, expressed: ast.expr) -> bool:
    """Returns whether JSON may hold a whole number for a value that is a float in Python: what comes from outside as it is."""
    match expressed:
        case ast.Name():
            path = unit.texts.path(expressed)
            return path is not None and path not in unit.floats and not _VARIABLE.fullmatch(path)
        case ast.IfExp():
            return is_raw(unit, expressed.body) or is_raw(unit, expressed.orelse)
        case ast.BoolOp():
            return any(is_raw(unit, one) for one in expressed.values)
        case ast.Call(func=ast.Name(id=function)):
            return function == "need" or (function in ("min", "max") and len(expressed.args) == 1)
    return isinstance(expressed, ast.Subscript)


def among_others(unit: Unit, node: ast.expr, expressed: ast.expr) -> ast.expr:
    """Returns a value that goes where its type may be forgotten: as a float, if it is one in Python."""
    return as_float(unit, unit.infer(node), expressed)


def as_float(unit: Unit, kind: Any, expressed: ast.expr) -> ast.expr:
    """Returns an expression of this type, where it does not matter whether JSON holds its float as a whole number."""
    if solid(kind) is not float or not is_raw(unit, expressed):
        return expressed
    if kind is float:
        return calling("float", expressed)
    if not unit.texts.is_simple(expressed):
        raise Lift
    null = ast.Name("null", ast.Load())
    return ast.IfExp(ast.Compare(expressed, [ast.Eq()], [null]), null, calling("float", expressed))


def text(unit: Unit, node: ast.expr) -> ast.expr:
    """Returns a value as Python's `str` writes it."""
    kind = unit.infer(node)
    if is_failure(kind):
        step = unit.texts.step(unit.express(node), "message", strict=False)
        if step is None:
            raise Lift
        return step
    found = parts(kind)
    if "foreign" in found or (("float" in found or "unknown" in found) and not is_number(kind) and kind is not UNKNOWN):
        raise Lift
    if kind is UNKNOWN:
        message = "the text of a model, a tuple or another class is not kept by JSON"
        unit.warn(node, "text_of_unknown", message, "Annotate it as str, int, float or bool")
    expressed = unit.express(node)
    if kind is str:
        return expressed
    if kind is float:
        _warn_of_default(unit, node)
        expressed = calling("float", expressed) if is_raw(unit, expressed) else expressed
    return calling("text", expressed)


def _warn_of_default(unit: Unit, node: ast.expr) -> None:
    """The default of a float may be written as a whole number, which pydantic leaves as it is."""
    name, default = "", None
    if isinstance(node, ast.Attribute) and is_model(kind := solid(unit.infer(node.value))):
        field = kind.model_fields.get(node.attr)
        name, default = node.attr, field and field.default
    elif isinstance(node, ast.Name) and isinstance(given := unit.origin.defaults.get(node.id), ast.Constant):
        name, default = node.id, given.value
    if type(default) is int:
        message = f"`{name}` is a float whose default is {default}, which Python writes without a fraction"
        unit.warn(node, "text_of_unknown", message, f"Write the default as {float(default)}")


def after_await(unit: Unit, node: ast.Await) -> NoReturn:
    """Refuses an await that was not taken out: Python may skip it."""
    message = "this step runs only on a condition inside an expression"
    unit.refuse(node, "conditional_await", message, "Write an if around it, or assign its result to a name first")
