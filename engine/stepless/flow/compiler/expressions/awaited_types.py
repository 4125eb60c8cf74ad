"""Infers the types of what is awaited."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, TypeAlias

from stepless.flow.compiler.facts.functions import is_named
from stepless.flow.compiler.facts.types import CARRIED, UNKNOWN, bare, believed, list_of, solid, stored, tuple_of, union
from stepless.flow.compiler.origin import hints_of
from stepless.flow.compiler.unit import Unit
from stepless.flow.words import Answer, Winner, word_of

Infer: TypeAlias = Callable[[Unit, ast.AST], Any]


def returned(function: Callable[..., Any]) -> Any:
    """Returns the type that a function or coroutine returns."""
    return believed(bare(hints_of(function).get("return", UNKNOWN)))


def of_await(unit: Unit, node: ast.Await, infer: Infer) -> Any:
    """Returns the type of what an await returns. `infer` has the type of an expression."""
    call = node.value
    if isinstance(call, ast.Name):  # a task
        return infer(unit, call)
    if not isinstance(call, ast.Call):
        return UNKNOWN
    if unit.static(call.func) is None and is_named(named := solid(infer(unit, call.func))):
        return union(*(_returned(one.target) for one in named.members)) if named.members else UNKNOWN
    function = call.func
    while isinstance(function, ast.Call) and isinstance(function.func, ast.Attribute) and function.func.attr == "with_":
        function = function.func.value
    target = unit.static(function)
    match word_of(target):
        case "step" | "flow" | "part":
            return _returned(target)
        case "approval":
            return Answer
        case "now" | "start":
            return str
        case "send":
            return list[str]
        case "race":
            return Winner
        case "receive":
            return _received(unit, call)
    return _concurrent(unit, call, word_of(target), infer)


def _returned(target: Any) -> Any:
    """What a step, a part or a workflow returns."""
    kind = returned(target.function)
    return stored(kind) if word_of(target) == "part" else kind


def _concurrent(unit: Unit, call: ast.Call, word: str, infer: Infer) -> Any:
    match word:
        case "gather" | "group":
            return _gathered(unit, call, infer)
        case "wait_for":
            return infer(unit, awaited(call.args[0])) if call.args else UNKNOWN
        case "first":
            return tuple_of(int, CARRIED)
    return UNKNOWN


def _received(unit: Unit, call: ast.Call) -> Any:
    """The type of the data of a message."""
    name = call.args[0] if call.args else next((word.value for word in call.keywords if word.arg == "name"), None)
    value = name.value if isinstance(name, ast.Constant) else None if name is None else unit.static(name)
    return unit.messages.get(value, UNKNOWN) if isinstance(value, str) else UNKNOWN


def _gathered(unit: Unit, call: ast.Call, infer: Infer) -> Any:
    if any(word.arg == "return_exceptions" and getattr(word.value, "value", False) for word in call.keywords):
        return list_of(CARRIED)
    if len(call.args) == 1 and isinstance(call.args[0], ast.Starred):
        comprehension = call.args[0].value
        if isinstance(comprehension, ast.ListComp | ast.GeneratorExp):
            return list_of(infer(unit, awaited(comprehension.elt)))
        return list
    return list_of(union(*[infer(unit, awaited(one)) for one in call.args])) if call.args else list


def awaited(call: ast.expr) -> ast.expr:
    return call if isinstance(call, ast.Await) else ast.copy_location(ast.Await(call), call)
