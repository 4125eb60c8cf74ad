"""Expresses values that name functions, and refuses to let them out of the workflow."""

from __future__ import annotations

import ast
import functools
import inspect
from enum import Enum
from typing import Any, Final

from stepless.flow.compiler.expressions.reading import among_others, calling
from stepless.flow.compiler.facts.functions import ARGS, CALL, NAMED, WORDS, Member, holds_named, member_of, tag_of
from stepless.flow.compiler.facts.functions import named as named_kind
from stepless.flow.compiler.unit import Unit
from stepless.flow.words import word_of

_MEND: Final = "Await it here, or pass the name of it as a text"


def function_of(unit: Unit, node: ast.expr) -> Any:
    """Returns the step, part or workflow that an expression stands for; None for others."""
    target = unit.static(node)
    return target if word_of(target) in WORDS else None


def bound_member(unit: Unit, node: ast.Call) -> Member | None:
    """The function that `functools.partial(f, …)` names; None for any other call."""
    if unit.static(node.func) is not functools.partial or not node.args or any(isinstance(one, ast.Starred) for one in node.args):
        return None
    target = function_of(unit, node.args[0])
    if target is None or any(word.arg is None for word in node.keywords):
        return None
    given = tuple(unit.infer(one) for one in node.args[1:])
    return member_of(target, given, tuple((str(word.arg), unit.infer(word.value)) for word in node.keywords))


def kind_of(unit: Unit, node: ast.expr) -> Any:
    """Returns the type of an expression that names a function; None for others."""
    if isinstance(node, ast.Call):
        member = bound_member(unit, node)
        return None if member is None else named_kind((member,))
    target = function_of(unit, node)
    return None if target is None else named_kind((member_of(target),))


def named(unit: Unit, node: ast.expr) -> ast.expr | None:
    """Returns the object that stands for a function; None for other expressions."""
    if isinstance(node, ast.Call):
        member = bound_member(unit, node)
        return None if member is None else _bound(unit, node, member)
    target = function_of(unit, node)
    return None if target is None else ast.Dict([unit.texts.quoted(CALL)], [unit.texts.quoted(tag_of(target))])


def _bound(unit: Unit, node: ast.Call, member: Member) -> ast.expr:
    quoted = unit.texts.quoted
    args = ast.List([among_others(unit, one, unit.express(one)) for one in node.args[1:]], ast.Load())
    words = ast.Dict(
        [quoted(str(word.arg)) for word in node.keywords],
        [among_others(unit, word.value, unit.express(word.value)) for word in node.keywords],
    )
    return ast.Dict([quoted(CALL), quoted(ARGS), quoted(NAMED)], [quoted(member.tag), args, words])


def backwards(unit: Unit, whole: ast.expr) -> ast.expr | None:
    """Returns a list of functions from its end; None for other lists, which Python turns."""
    if not holds_named(unit.infer(whole)):
        return None
    return calling("query", unit.express(whole), unit.texts.quoted("reverse(@)"))


def is_lookup(node: ast.expr) -> bool:
    """Returns whether an expression reads a name, or an item of an object or a list."""
    match node:
        case ast.Name() | ast.Subscript() | ast.Call(func=ast.Attribute(attr="get")):
            return True
    return False


def is_item(node: ast.expr, name: str) -> bool:
    """Returns whether an expression does nothing with what a name stands for but take an item, or ask whether there is one."""
    match node:
        case ast.Subscript(value=value, slice=key):
            return is_item(value, name) and not any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(key))
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[whole]):
            return is_item(whole, name) and not any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(left))
        case ast.Call(func=ast.Attribute(value=value, attr="get"), args=[key, *rest], keywords=[]):
            alone = not any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(key))
            return is_item(value, name) and alone and all(isinstance(one, ast.Constant) for one in rest)
        case ast.Name():
            return node.id == name
    return False


def is_text_key(unit: Unit, node: ast.expr) -> bool:
    """Returns whether the key of an object of functions is a member of an enumeration of texts: it equals its text."""
    kind = unit.infer(node)
    return (inspect.isclass(kind) and issubclass(kind, str) and issubclass(kind, Enum)) or text_of_member(unit, node) is not None


def text_of_member(unit: Unit, node: ast.expr) -> ast.expr | None:
    """Returns the text of a member of an enumeration of texts that the source names."""
    member = unit.static(node)
    return unit.texts.quoted(str(member.value)) if isinstance(member, str) and isinstance(member, Enum) else None


def without_others(unit: Unit, node: ast.expr) -> ast.expr:
    """Returns an expression that holds functions, with everything else in it evaluated before, from the left. Refuses one of
    which more than a display, a sum of lists, a bound function or a choice is asked."""
    match node:
        case ast.List() | ast.Tuple():
            return _like(node, type(node)([_part(unit, one) for one in node.elts], ast.Load()))
        case ast.Dict():
            pairs = [(key and _part(unit, key), _part(unit, value)) for key, value in zip(node.keys, node.values, strict=True)]
            return _like(node, ast.Dict([key for key, _ in pairs], [value for _, value in pairs]))
        case ast.BinOp(op=ast.Add()):
            return _like(node, ast.BinOp(_part(unit, node.left), node.op, _part(unit, node.right)))
        case ast.Call() if bound_member(unit, node) is not None:
            words = [ast.keyword(word.arg, _part(unit, word.value)) for word in node.keywords]
            return _like(node, ast.Call(node.func, [node.args[0], *(_part(unit, one) for one in node.args[1:])], words))
        case ast.IfExp():
            return _like(node, ast.IfExp(_part(unit, node.test), node.body, node.orelse))
    check_stays(unit, node, unit.infer(node))
    return node


def _part(unit: Unit, node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Starred):
        return _like(node, ast.Starred(_part(unit, node.value), ast.Load()))
    if isinstance(node, ast.Name | ast.Constant):
        return node
    kind = unit.infer(node)
    if not holds_named(kind) or is_lookup(node):
        return unit.temporary(unit.value(node), kind, node)
    return without_others(unit, node)


def _like(node: ast.expr, made: ast.expr) -> ast.expr:
    return ast.copy_location(made, node)


def check_stays(unit: Unit, node: ast.expr, kind: Any) -> None:
    """Refuses a value that names functions where it would leave the workflow: JSON does not have it."""
    if holds_named(kind):
        message = f"`{ast.unparse(node)}` names a function, which no document can pass on"
        unit.refuse(node, "not_awaited", message, _MEND)
