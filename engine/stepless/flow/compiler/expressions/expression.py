"""Compiles expressions of the source to expressions of the document, which mean exactly the same, or lifts them."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, Final, NoReturn

from typing_extensions import is_typeddict

from stepless.flow.compiler.expressions.calls import call
from stepless.flow.compiler.expressions.carrying import check_mixed, is_mixed
from stepless.flow.compiler.expressions.comparisons import compared
from stepless.flow.compiler.expressions.naming import backwards, named, text_of_member
from stepless.flow.compiler.expressions.reading import after_await, among_others, at, check_failure, numeric, text
from stepless.flow.compiler.facts.block_nodes import Output
from stepless.flow.compiler.facts.functions import holds_named, is_named
from stepless.flow.compiler.facts.scopes import spelled
from stepless.flow.compiler.facts.types import (
    UNKNOWN,
    is_container,
    is_dict,
    is_failure,
    is_list,
    is_model,
    is_number,
    is_plain,
    is_tuple,
    item_of,
    may_be_null,
    solid,
)
from stepless.flow.compiler.refusals import Lift, Refusal
from stepless.flow.compiler.unit import Unit
from stepless.flow.words import Answer

WITHOUT_COUNTERPART: Final[dict[type[ast.AST], str]] = {
    ast.Lambda: "a lambda", ast.Yield: "yield", ast.YieldFrom: "yield", ast.NamedExpr: "an assignment inside an expression",
}  # fmt: skip
_FLAT: Final = 16
_CONSTANTS: Final = {True: "true", False: "false", None: "null"}


def express(unit: Unit, node: ast.expr) -> ast.expr:
    """Returns the expression of the document for `node`. Raises `Lift` where the closed language cannot say it exactly, `Refusal`
    where nothing can."""
    rule = _RULES.get(type(node))
    if rule is not None:
        try:
            return rule(unit, node)
        except Lift as unsaid:
            unit.unsaid = unsaid.part = unsaid.part or node
            raise
    if type(node) in WITHOUT_COUNTERPART:
        what = WITHOUT_COUNTERPART[type(node)]
        unit.refuse(node, "no_such_construct", f"{what} has no counterpart in a graph", "Write a statement, or a step")
    raise Lift


def _constant(unit: Unit, node: ast.Constant) -> ast.expr:
    if isinstance(node.value, str):
        return unit.texts.quoted(node.value)
    if node.value is None or isinstance(node.value, bool):
        return ast.Name(_CONSTANTS[node.value], ast.Load())
    if isinstance(node.value, int | float):
        return ast.Constant(node.value)
    raise Lift


def _name(unit: Unit, node: ast.Name) -> ast.expr:
    name = node.id
    if unit.is_local(name):
        if name not in unit.bound:
            if unit.is_strict(name):
                raise Lift
            shown = unit.shown.get(name, name)
            mend = f"Assign `{shown}` in front of this line, whatever branch, loop or try comes between"
            raise Refusal(node, "unbound", f"`{shown}` may have no value here", mend, name=shown)
        return unit.values.get(name) or unit.texts.reference(f"workflow.{name}")
    if unit.is_made_again(name):
        raise Lift
    if name in unit.origin.globals:
        value = unit.origin.globals[name]
        if value is None or type(value) in (bool, int, float, str):
            return _constant(unit, ast.Constant(value))
        if (found := named(unit, node)) is not None:
            return found
        raise Lift
    if unit.is_known(name):
        raise Lift
    return unknown_name(unit, node, name)


def unknown_name(unit: Unit, node: ast.AST, name: str) -> NoReturn:
    near = get_close_matches(name, [*unit.bound, *unit.origin.globals], 1)
    unit.refuse(node, "unknown_name", f"there is no `{name}`", f"Did you mean `{near[0]}`?" if near else "Import or assign it")


def _attribute(unit: Unit, node: ast.Attribute) -> ast.expr:
    if unit.static(node) is not None:
        return _name_of_module(unit, node)
    kind = solid(unit.infer(node.value))
    if kind is Answer:
        return _below(unit, node, node.attr, strict=node.attr not in Answer.model_fields)
    if is_model(kind):
        if node.attr in kind.model_fields:
            may_be_missing = may_be_null(unit.infer(node.value)) or bool(kind.model_fields[node.attr].exclude)
            return _below(unit, node, node.attr, strict=may_be_missing)
        if inspect.getattr_static(kind, node.attr, None) is not None or kind.model_config.get("extra") == "allow":
            raise Lift
        near = get_close_matches(node.attr, kind.model_fields, 1)
        mend = f"Did you mean `{near[0]}`?" if near else f"It has {', '.join(kind.model_fields)}"
        unit.refuse(node, "no_such_field", f"{kind.__name__} has no field `{node.attr}`", mend)
    if is_failure(kind):
        check_failure(unit, node)
        if node.attr in ("code", "message"):
            return _below(unit, node, node.attr, strict=False)
        unit.refuse(node, "no_such_field", f"an error has no `{node.attr}` here", "It has code and message")
    if is_dict(kind) or is_typeddict(kind):
        unit.refuse(node, "no_such_field", f"an object of JSON has no attribute `{node.attr}`", f'Write ["{node.attr}"]')
    if kind is not UNKNOWN:
        raise Lift
    return _below(unit, node, node.attr, strict=True)


def _name_of_module(unit: Unit, node: ast.Attribute) -> ast.expr:
    value = unit.static(node)
    if type(value) in (bool, int, float, str):
        return _constant(unit, ast.Constant(value))
    if (found := named(unit, node)) is not None:
        return found
    raise Lift


def _below(unit: Unit, node: ast.Attribute, key: str, *, strict: bool) -> ast.expr:
    base = unit.express(node.value)
    if strict:
        unit.risk()
    step = unit.texts.step(base, key, strict=strict)
    if step is not None:
        return step
    if strict:
        raise Lift
    return ast.Subscript(base, unit.texts.quoted(key), ast.Load())


def _subscript(unit: Unit, node: ast.Subscript) -> ast.expr:
    kind = solid(unit.infer(node.value))
    if is_model(kind) or is_failure(kind):
        unit.refuse(node, "no_such_field", f"{kind.__name__} has attributes, no keys", "Write a dot and the name of the field")
    if not is_plain(kind) and not is_container(kind):
        raise Lift
    if isinstance(node.slice, ast.Slice):
        if node.slice.step is not None and ast.unparse(node.slice) == "::-1" and (turned := backwards(unit, node.value)):
            return turned
        if node.slice.step is not None or is_dict(kind):
            raise Lift
        ends = [end and unit.express(end) for end in (node.slice.lower, node.slice.upper)]
        if not (is_list(kind) or kind is str or is_tuple(kind)):
            unit.risk()
        return ast.Subscript(unit.express(node.value), ast.Slice(*ends), ast.Load())
    unit.risk()
    return at(unit, node)


def _both(unit: Unit, node: ast.BoolOp) -> ast.expr:
    kind = unit.infer(node)
    for operand in node.values[:-1]:
        truth(unit, operand)
    return ast.BoolOp(node.op, [_one_of(unit, kind, operand) for operand in node.values])


def truth(unit: Unit, node: ast.expr) -> None:
    """Raises `Lift` where Python asks a class of the author's whether its value is true."""
    kind = unit.infer(node)
    one = solid(kind)
    if is_plain(kind) or is_container(kind) or is_named(one):
        return
    if is_model(one) and one.model_fields and not any(hasattr(one, name) for name in ("__bool__", "__len__")):
        return
    raise Lift


def _operation(unit: Unit, node: ast.BinOp) -> ast.expr:
    left, right = unit.infer(node.left), unit.infer(node.right)
    check_mixed(unit, unit.infer(node), [node.left, node.right])
    if not (_is_operand(left) and _is_operand(right)):
        raise Lift
    match node.op:
        case ast.Add():
            if (is_tuple(left) or is_tuple(right)) and not (is_tuple(left) and is_tuple(right)):
                raise Lift
            if _mixes_floats(left, right) or (is_list(left) and right is str):
                raise Lift
        case ast.Mult():
            if repeated := _repeated(unit, node, left, right):
                return repeated
        case ast.Mod():
            if left is str:
                raise Lift
        case ast.Sub() | ast.Div() | ast.FloorDiv():
            pass
        case _:
            raise Lift
    known = all(is_number(kind) or kind is bool for kind in (left, right)) or (
        isinstance(node.op, ast.Add) and (left is right is str or (is_list(left) and is_list(right)))
    )
    divides = isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod)
    if not known or (divides and not (isinstance(node.right, ast.Constant) and node.right.value)):
        unit.risk()
    return ast.BinOp(numeric(unit, node.left), node.op, numeric(unit, node.right))


def _mixes_floats(left: Any, right: Any) -> bool:
    """Whether two lists are joined of which one alone is known to have floats, maybe with whole numbers for them."""
    items = [solid(item_of(kind)) for kind in (left, right) if is_list(kind)]
    return len(items) == 2 and items.count(float) == 1 and left is not list and right is not list


def _is_operand(kind: Any) -> bool:
    return is_plain(kind) or is_container(kind)


def _repeated(unit: Unit, node: ast.BinOp, left: Any, right: Any) -> ast.expr | None:
    for value, times, kind, count in ((node.left, node.right, left, right), (node.right, node.left, right, left)):
        if kind is str or is_list(kind):
            if count is not int:
                raise Lift
            return ast.Call(ast.Name("repeat", ast.Load()), [unit.express(value), unit.express(times)], [])
    if is_tuple(left) or is_tuple(right):
        raise Lift
    return None


def _unary(unit: Unit, node: ast.UnaryOp) -> ast.expr:
    if isinstance(node.op, ast.Not):
        truth(unit, node.operand)
        return ast.UnaryOp(node.op, unit.express(node.operand))
    if not isinstance(node.op, ast.USub | ast.UAdd) or not is_plain(unit.infer(node.operand)):
        raise Lift
    if not is_number(unit.infer(node.operand)):
        unit.risk()
    return ast.UnaryOp(node.op, numeric(unit, node.operand))


def _choice(unit: Unit, node: ast.IfExp) -> ast.expr:
    truth(unit, node.test)
    kind = unit.infer(node)
    branches = [_one_of(unit, kind, branch) for branch in (node.body, node.orelse)]
    return ast.IfExp(unit.express(node.test), *branches)


def _one_of(unit: Unit, kind: Any, node: ast.expr) -> ast.expr:
    """One of several values, whose type together is `kind`."""
    check_mixed(unit, kind, [node])
    expressed = unit.express(node)
    return expressed if solid(kind) is float else among_others(unit, node, expressed)


def _list(unit: Unit, node: ast.List | ast.Tuple) -> ast.expr:
    """A display; with `*xs` in it, lists one after the other."""
    if is_mixed(unit, node):
        raise Lift
    pieces: list[ast.expr] = []
    run: list[ast.expr] = []
    for element in node.elts:
        if isinstance(element, ast.Starred):
            kind = unit.infer(element.value)
            if not (is_list(kind) or is_tuple(kind)) or (item_of(kind) is float and item_of(unit.infer(node)) is not float):
                raise Lift
            pieces += [ast.List(run, ast.Load())] if run else []
            pieces.append(unit.express(element.value))
            run = []
        else:
            run.append(among_others(unit, element, unit.express(element)))
    pieces += [ast.List(run, ast.Load())] if run or not pieces else []
    whole = pieces[0]
    for piece in pieces[1:]:
        whole = ast.BinOp(whole, ast.Add(), piece)
    return whole


def _dict(unit: Unit, node: ast.Dict) -> ast.expr:
    """A display; with `**other` in it, objects merged in order."""
    if is_mixed(unit, node):
        raise Lift
    pieces: list[ast.expr] = []
    run: list[tuple[ast.expr, ast.expr]] = []
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            if not (is_dict(unit.infer(value)) or unit.infer(value) is UNKNOWN):
                raise Lift
            if not is_dict(unit.infer(value)):
                unit.risk()
            pieces += [_object(run)] if run else []
            pieces.append(unit.express(value))
            run = []
        else:
            member = text_of_member(unit, key) if holds_named(unit.infer(value)) else None
            if member is None and unit.infer(key) is not str:
                raise Lift
            run.append((member or unit.express(key), among_others(unit, value, unit.express(value))))
    pieces += [_object(run)] if run or not pieces else []
    return pieces[0] if len(pieces) == 1 and None not in node.keys else ast.Call(ast.Name("merge", ast.Load()), pieces, [])


def _object(entries: list[tuple[ast.expr, ast.expr]]) -> ast.Dict:
    return ast.Dict([key for key, _ in entries], [value for _, value in entries])


def _joined(unit: Unit, node: ast.JoinedStr) -> ast.expr:
    pieces: list[ast.expr] = []
    for piece in node.values:
        if isinstance(piece, ast.FormattedValue):
            if piece.format_spec is not None or piece.conversion not in (-1, ord("s")):
                raise Lift
            pieces.append(text(unit, piece.value))
        else:
            pieces.append(unit.express(piece))
    return _concatenated(pieces) if pieces else unit.texts.quoted("")


def _concatenated(pieces: list[ast.expr]) -> ast.expr:
    """Texts one after the other, nested as little as possible: an f-string has any number of them."""
    if len(pieces) == 1:
        return pieces[0]
    half = len(pieces) // 2 if len(pieces) > _FLAT else len(pieces) - 1
    return ast.BinOp(_concatenated(pieces[:half]), ast.Add(), _concatenated(pieces[half:]))


def _output(unit: Unit, node: Output) -> ast.expr:
    """A part of the output of a block."""
    step: ast.expr | None = unit.express(node.whole)
    for key in node.key.split("."):
        step = step and unit.texts.step(step, spelled(key), strict=False)
    if step is None:
        raise Lift
    return step


_RULES: Final[dict[type[ast.AST], Callable[[Unit, Any], ast.expr]]] = {
    Output: _output,
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.BoolOp: _both,
    ast.BinOp: _operation,
    ast.UnaryOp: _unary,
    ast.Compare: compared,
    ast.IfExp: _choice,
    ast.List: _list,
    ast.Tuple: _list,
    ast.Dict: _dict,
    ast.JoinedStr: _joined,
    ast.Call: call,
    ast.Await: after_await,
}

