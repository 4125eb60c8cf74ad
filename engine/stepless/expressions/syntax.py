"""Builds a closure for each node of Python's syntax tree, by a closed table of the nodes that the language has.

All other nodes are refused by name. A closure takes only the scope. It is built once and called for every decision, so all
look-ups happen when it is built.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from stepless.errors import ExpressionError
from stepless.expressions.faults import (
    EVALUATION,
    FORBIDDEN,
    SYNTAX,
    TOO_LARGE,
    UNKNOWN_FUNCTION,
    UNKNOWN_REFERENCE,
    Misfit,
    fault,
)
from stepless.expressions.forbidden import FIXES, NAMES
from stepless.expressions.functions import FUNCTIONS, Function
from stepless.expressions.lexer import Binding
from stepless.expressions.texts import Evaluate, joined
from stepless.expressions.values import ARITHMETIC, ORDER, Operator, contains, item, negative, number, part, same
from stepless.limits import MAX_EXPRESSION_DEPTH
from stepless.model.json import JSON
from stepless.model.scope import Reference, Scope

_CONSTANTS: Final[dict[str, JSON]] = {"true": True, "false": False, "null": None}

_BINARY: Final[dict[type[ast.operator], Operator]] = {
    ast.Add: ARITHMETIC["+"],
    ast.Sub: ARITHMETIC["-"],
    ast.Mult: ARITHMETIC["*"],
    ast.Div: ARITHMETIC["/"],
    ast.FloorDiv: ARITHMETIC["//"],
    ast.Mod: ARITHMETIC["%"],
}
_UNARY: Final[dict[type[ast.unaryop], Callable[[JSON], JSON]]] = {
    ast.UAdd: number,
    ast.USub: negative,
    ast.Not: lambda value: not value,
}
_COMPARE: Final[dict[type[ast.cmpop], Operator]] = {
    ast.Eq: same,
    ast.NotEq: lambda left, right, payer: not same(left, right, payer),
    ast.Lt: ORDER["<"],
    ast.LtE: ORDER["<="],
    ast.Gt: ORDER[">"],
    ast.GtE: ORDER[">="],
    ast.In: contains,
    ast.NotIn: lambda left, right, payer: not contains(left, right, payer),
}


@dataclass(frozen=True, slots=True)
class Builder:
    """Builds closures for nodes. `offset` converts a column of the parsed text to a position in `source`."""

    source: str
    bindings: dict[int, Binding]
    offset: int

    def build(self, node: ast.expr, depth: int = 1) -> Evaluate:
        """Returns the closure of `node`. Raises `ExpressionError` when the node, or a node below it, is not in the language."""
        if depth > MAX_EXPRESSION_DEPTH:
            raise self.refusal(node, f"an expression nests at most {MAX_EXPRESSION_DEPTH} deep", TOO_LARGE)
        rule = _RULES.get(type(node))
        if rule is None:
            raise self.forbidden(node, node)
        return rule(self, node, depth + 1)

    def position(self, node: ast.expr) -> int:
        return node.col_offset + self.offset

    def error(self, node: ast.expr, misfit: Misfit, code: str = EVALUATION) -> ExpressionError:
        """Returns the author's error for a misfit at `node`."""
        return fault(misfit.message, self.source, self.position(node), code=misfit.code or code, mend=misfit.mend)

    def refusal(self, node: ast.expr, message: str, code: str, mend: str = "") -> ExpressionError:
        return fault(message, self.source, self.position(node), code=code, mend=mend)

    def forbidden(self, node: ast.expr, construct: ast.AST) -> ExpressionError:
        """Returns the error, at `node`, for a `construct` that the language does not have."""
        name = NAMES.get(type(construct), f"the construct {type(construct).__name__}")
        return self.refusal(node, f"{name} is not allowed in an expression", FORBIDDEN, FIXES.get(type(construct), ""))

    def fixed(self, node: ast.expr) -> str | None:
        """Returns the text of `node` if it is a quoted text without references, else None."""
        binding = self.bindings.get(self.position(node)) if isinstance(node, ast.Name) else None
        return binding[0] if isinstance(binding, tuple) and len(binding) == 1 and isinstance(binding[0], str) else None


def _read(reference: Reference) -> Evaluate:
    return lambda scope: scope.read(reference)


def _constant(value: JSON) -> Evaluate:
    return lambda scope: value


def _guarded(builder: Builder, node: ast.expr, compute: Evaluate) -> Evaluate:
    """`compute`, with its misfits converted to errors at `node`."""

    def guarded(scope: Scope) -> JSON:
        try:
            return compute(scope)
        except Misfit as misfit:
            raise builder.error(node, misfit) from None

    return guarded


def _name(builder: Builder, node: ast.Name, depth: int) -> Evaluate:
    binding = builder.bindings.get(builder.position(node))
    if isinstance(binding, Reference):
        return _read(binding)
    if binding is not None:
        fixed = builder.fixed(node)
        if fixed is not None:
            return _constant(fixed)
        return _guarded(builder, node, joined([_read(piece) if isinstance(piece, Reference) else piece for piece in binding]))
    if node.id in _CONSTANTS:
        return _constant(_CONSTANTS[node.id])
    if node.id in FUNCTIONS:
        raise builder.refusal(node, f"{node.id} is a function", SYNTAX, f"call it: {node.id}(…)")
    raise builder.refusal(node, f"{node.id} is not a value", UNKNOWN_REFERENCE, f"write <{node.id}.…> to read it, or quote it")


def _literal(builder: Builder, node: ast.Constant, depth: int) -> Evaluate:
    value = node.value
    if value is not None and type(value) not in (bool, int, float):
        raise builder.refusal(node, f"a literal of type {type(value).__name__} is not allowed in an expression", FORBIDDEN)
    try:
        return _constant(value if value is None or value is True or value is False else number(value))
    except Misfit as misfit:
        raise builder.error(node, misfit, TOO_LARGE) from None


def _list(builder: Builder, node: ast.List, depth: int) -> Evaluate:
    items = [builder.build(element, depth) for element in node.elts]
    return lambda scope: [evaluate(scope) for evaluate in items]


def _object(builder: Builder, node: ast.Dict, depth: int) -> Evaluate:
    entries = []
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            raise builder.refusal(value, "unpacking with ** is not allowed in an expression", FORBIDDEN)
        entries.append((builder.build(key, depth), builder.build(value, depth), key))

    def build(scope: Scope) -> JSON:
        built: dict[str, JSON] = {}
        for read_key, read_value, place in entries:
            name = read_key(scope)
            if type(name) is not str:
                raise builder.error(place, Misfit("the key of an object is a text", "write str(…) around it"))
            built[name] = read_value(scope)
        return built

    return build


def _both(builder: Builder, node: ast.BoolOp, depth: int) -> Evaluate:
    """`and`, `or`: evaluated from the left as far as needed. The value is the deciding operand, as in Python."""
    operands = [builder.build(operand, depth) for operand in node.values]
    first, rest = operands[0], operands[1:]
    until = isinstance(node.op, ast.Or)

    def evaluate(scope: Scope) -> JSON:
        value = first(scope)
        for operand in rest:
            if bool(value) is until:
                return value
            value = operand(scope)
        return value

    return evaluate


def _unary(builder: Builder, node: ast.UnaryOp, depth: int) -> Evaluate:
    operate = _UNARY.get(type(node.op))
    if operate is None:
        raise builder.forbidden(node, node.op)
    operand = builder.build(node.operand, depth)
    return _guarded(builder, node, lambda scope: operate(operand(scope)))


def _binary(builder: Builder, node: ast.BinOp, depth: int) -> Evaluate:
    operate = _BINARY.get(type(node.op))
    if operate is None:
        raise builder.forbidden(node, node.op)
    return _applied(builder, node, operate, builder.build(node.left, depth), builder.build(node.right, depth))


def _applied(builder: Builder, node: ast.expr, operate: Operator, left: Evaluate, right: Evaluate) -> Evaluate:
    def applied(scope: Scope) -> JSON:
        try:
            return operate(left(scope), right(scope), scope)
        except Misfit as misfit:
            raise builder.error(node, misfit) from None

    return applied


def _comparison(builder: Builder, node: ast.Compare, depth: int) -> Evaluate:
    for sign in node.ops:
        if type(sign) not in _COMPARE:
            raise builder.forbidden(node, sign)
    signs = [_COMPARE[type(sign)] for sign in node.ops]
    operands = [builder.build(operand, depth) for operand in (node.left, *node.comparators)]
    if len(signs) == 1:
        return _applied(builder, node, signs[0], *operands)
    first, links = operands[0], list(zip(signs, operands[1:], strict=True))

    def chained(scope: Scope) -> JSON:
        left = first(scope)
        for compare, operand in links:
            right = operand(scope)
            if not compare(left, right, scope):
                return False
            left = right
        return True

    return _guarded(builder, node, chained)


def _choice(builder: Builder, node: ast.IfExp, depth: int) -> Evaluate:
    test, yes, no = (builder.build(piece, depth) for piece in (node.test, node.body, node.orelse))
    return lambda scope: yes(scope) if test(scope) else no(scope)


def _subscript(builder: Builder, node: ast.Subscript, depth: int) -> Evaluate:
    whole = builder.build(node.value, depth)
    if not isinstance(node.slice, ast.Slice):
        return _applied(builder, node, item, whole, builder.build(node.slice, depth))
    if node.slice.step is not None:
        raise builder.refusal(node.slice.step, "a cut with a step is not allowed in an expression", FORBIDDEN)
    start, stop = (_constant(None) if end is None else builder.build(end, depth) for end in (node.slice.lower, node.slice.upper))
    return _guarded(builder, node, lambda scope: part(whole(scope), start(scope), stop(scope), scope))


def _call(builder: Builder, node: ast.Call, depth: int) -> Evaluate:
    name = node.func.id if isinstance(node.func, ast.Name) and builder.position(node.func) not in builder.bindings else None
    if name is None:
        if isinstance(node.func, ast.Attribute):
            raise builder.forbidden(node.func, node.func)
        raise builder.refusal(node, "a call of anything but a named function is not allowed in an expression", FORBIDDEN)
    function = FUNCTIONS.get(name)
    if function is None:
        raise builder.refusal(node, f"there is no function {name}", UNKNOWN_FUNCTION, "there are " + " ".join(FUNCTIONS))
    if node.keywords:
        raise builder.refusal(node, "an argument by name is not allowed in an expression", FORBIDDEN)
    if not function.least <= len(node.args) <= function.most:
        wanted = str(function.least) if function.least == function.most else f"{function.least} to {function.most}"
        raise builder.refusal(node, f"{name} takes {wanted} argument(s), not {len(node.args)}", SYNTAX)
    return _guarded(builder, node, _bound(builder, node, function, [builder.build(argument, depth) for argument in node.args]))


def _bound(builder: Builder, node: ast.Call, function: Function, arguments: list[Evaluate]) -> Evaluate:
    call = function.call
    if function.clocked:
        return lambda scope: call(scope.now_ms)
    if function.prepare is not None:
        written = builder.fixed(node.args[1])
        if written is not None:
            try:
                call = function.prepare(written)
            except Misfit as misfit:
                raise builder.error(node.args[1], misfit, SYNTAX) from None
            arguments = arguments[:1]
    if len(arguments) == 1:
        only = arguments[0]
        if function.paid:
            return lambda scope: call(only(scope), scope)
        return lambda scope: call(only(scope))
    if function.paid:
        return lambda scope: call(*[evaluate(scope) for evaluate in arguments], scope)
    return lambda scope: call(*[evaluate(scope) for evaluate in arguments])


_RULES: Final[dict[type[ast.AST], Callable[[Builder, Any, int], Evaluate]]] = {
    ast.Name: _name,
    ast.Constant: _literal,
    ast.List: _list,
    ast.Dict: _object,
    ast.BoolOp: _both,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
    ast.Compare: _comparison,
    ast.IfExp: _choice,
    ast.Subscript: _subscript,
    ast.Call: _call,
}
