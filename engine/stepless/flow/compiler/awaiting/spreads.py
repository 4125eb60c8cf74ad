"""Compiles `*` and `**` in the arguments of a call: those of displays are written out, and others are bound to the signature by
Python, in a node of its own."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

from stepless.flow.compiler.origin import signature_of
from stepless.flow.compiler.unit import Unit


def written_out(call: ast.Call) -> ast.Call:
    """Returns a call with the items of `*[a, b]` and `**{"x": c}` as arguments of their own."""
    args: list[ast.expr] = []
    for one in call.args:
        display = isinstance(one, ast.Starred) and isinstance(one.value, ast.List | ast.Tuple)
        args += one.value.elts if display else [one]  # type: ignore[attr-defined]
    words: list[ast.keyword] = []
    for word in call.keywords:
        value = word.value
        fixed = word.arg is None and isinstance(value, ast.Dict) and all(
            isinstance(key, ast.Constant) and isinstance(key.value, str) for key in value.keys
        )
        if fixed and isinstance(value, ast.Dict):
            pairs = zip(value.keys, value.values, strict=True)
            words += [ast.keyword(str(key.value), item) for key, item in pairs if isinstance(key, ast.Constant)]
        else:
            words.append(word)
    if args == call.args and words == call.keywords:
        return call
    return ast.copy_location(ast.Call(call.func, args, words), call)


def is_spread(call: ast.Call) -> bool:
    return any(isinstance(one, ast.Starred) for one in call.args) or any(word.arg is None for word in call.keywords)


def bound_by_python(unit: Unit, call: ast.Call, name: str, function: Callable[..., Any]) -> ast.Call:
    """Returns the call with each parameter by its name, where Python binds the arguments. Refuses a function that takes any
    number of them."""
    parameters = signature_of(function).parameters
    if any(one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD, one.POSITIONAL_ONLY) for one in parameters.values()):
        message = f"{name} takes any number of arguments, and these are not known"
        unit.refuse(call, "spread_arguments", message, "Name them one by one")
    helper = f"__stepless_bind_{re.sub(r'[^A-Za-z0-9]', '_', name)}__"
    names = unit.origin.globals
    assert isinstance(names, dict)  # of this compilation
    names[helper] = _binder(function)
    bind = ast.copy_location(ast.Call(ast.copy_location(ast.Name(helper, ast.Load()), call), call.args, call.keywords), call)
    whole = unit.temporary(unit.value(bind), dict, call)
    words = [ast.keyword(one, _item(whole, one)) for one in parameters]
    return ast.copy_location(ast.Call(call.func, [], words), call)


def _item(whole: ast.Name, name: str) -> ast.expr:
    return ast.copy_location(ast.Subscript(whole, ast.copy_location(ast.Constant(name), whole), ast.Load()), whole)


def _binder(function: Callable[..., Any]) -> Callable[..., Any]:
    def bind(*args: Any, **named: Any) -> dict[str, Any]:
        bound = signature_of(function).bind(*args, **named)
        bound.apply_defaults()
        return dict(bound.arguments)

    return bind
