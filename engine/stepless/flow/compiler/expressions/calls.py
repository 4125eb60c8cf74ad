"""Compiles calls inside expressions: Python's functions and methods that the expression language has too."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import Any, Final

from stepless.flow.compiler.expressions.naming import backwards, is_text_key, named, text_of_member
from stepless.flow.compiler.expressions.reading import among_others, calling, numeric, text
from stepless.flow.compiler.facts.carried_types import is_foreign
from stepless.flow.compiler.facts.functions import holds_named, is_named
from stepless.flow.compiler.facts.types import (
    CARRIED,
    UNKNOWN,
    is_carried,
    is_container,
    is_dict,
    is_list,
    is_number,
    is_plain,
    item_of,
    parts,
    solid,
)
from stepless.flow.compiler.refusals import Lift
from stepless.flow.compiler.unit import Unit
from stepless.flow.words import word_of

AWAITED: Final = ("step", "flow", "part", "gather", "race", "sleep", "approval", "callback", "receive", "send", "start",
                  "asyncio.sleep", "wait_for", "timeout", "task_group", "create_task", "wait")
_OF_TEXT: Final = {
    "lower": "lower", "upper": "upper", "strip": "trim", "split": "split", "startswith": "startswith", "endswith": "endswith",
}  # fmt: skip
_ARGUMENTS: Final = {
    "lower": (0, 0), "upper": (0, 0), "strip": (0, 0), "split": (0, 1), "startswith": (1, 1), "endswith": (1, 1),
}  # fmt: skip
PUT: Final = " put"
"""The function of an assignment to an item: no name of a source has a space."""
_OF_OBJECT: Final = ("keys", "values", "items")


def call(unit: Unit, node: ast.Call) -> ast.expr:
    function = node.func
    target = unit.static(function)
    word = word_of(target)
    if word in AWAITED or (isinstance(function, ast.Call) and _is_step(unit, function)):
        name = ast.unparse(function)
        unit.refuse(node, "not_awaited", f"`{name}` is a step, and nothing waits for it here", "Write await before it")
    if target is functools.partial and (found := named(unit, node)) is not None:
        return found
    if word == "now" and not node.args and not node.keywords:
        return calling("now")
    if any(isinstance(argument, ast.Starred | ast.GeneratorExp) for argument in node.args):
        raise Lift
    if isinstance(function, ast.Name) and function.id == PUT:
        return _put(unit, node)
    if isinstance(function, ast.Name) and unit.is_builtin(function, function.id):
        if function.id in ("list", "reversed") and len(node.args) == 1 and (turned := _turned(unit, function.id, node.args[0])):
            return turned
        rule = _BUILTINS.get(function.id)
        if rule is None or (node.keywords and function.id != "sorted"):
            raise Lift
        return rule(unit, node)
    if isinstance(function, ast.Attribute) and target is None and not node.keywords:
        return _method(unit, function, node.args)
    raise Lift


def _put(unit: Unit, node: ast.Call) -> ast.expr:
    """An assignment to an item, whose key JSON must have, too."""
    whole, place, value = node.args
    kind = solid(unit.infer(whole))
    if is_carried(kind) and (kind is CARRIED or is_foreign(unit.infer(value))):
        raise Lift
    if not (is_dict(kind) or is_list(kind) or kind is UNKNOWN):
        unit.refuse(node, "mutation", "only items of lists and objects can be assigned", "Assign a new value to the name")
    if is_carried(unit.infer(place)):
        unit.refuse(node, "mutation", "the key may be more than a text or a whole number", "Write it as a text: str(key)")
    unit.risk()
    return calling("put", unit.express(whole), unit.express(place), among_others(unit, value, unit.express(value)))


def _turned(unit: Unit, function: str, over: ast.expr) -> ast.expr | None:
    """`reversed(xs)` and `list(reversed(xs))` of a list of functions."""
    if function == "reversed":
        return backwards(unit, over)
    is_turned = isinstance(over, ast.Call) and unit.is_builtin(over.func, "reversed") and len(over.args) == 1
    return backwards(unit, over.args[0]) if is_turned and isinstance(over, ast.Call) else None


def _is_step(unit: Unit, node: ast.Call) -> bool:
    """Whether a call is `step.with_(…)`, maybe more than once."""
    function = node.func
    return isinstance(function, ast.Attribute) and function.attr == "with_" and (
        word_of(unit.static(function.value)) in AWAITED
        or (isinstance(function.value, ast.Call) and _is_step(unit, function.value))
    )


# -- functions --------------------------------------------------------------------------------------------------------


def _one(unit: Unit, node: ast.Call) -> tuple[ast.expr, Any]:
    if len(node.args) != 1:
        raise Lift
    return node.args[0], unit.infer(node.args[0])


def _len(unit: Unit, node: ast.Call) -> ast.expr:
    value, kind = _one(unit, node)
    if not (is_plain(kind) or is_container(kind)):
        raise Lift
    if not (kind is str or is_list(kind) or is_dict(kind)) or UNKNOWN in (kind,):
        unit.risk()
    return calling("len", unit.express(value))


def _extreme(name: str) -> Callable[[Unit, ast.Call], ast.expr]:
    def extreme(unit: Unit, node: ast.Call) -> ast.expr:
        kinds = [unit.infer(argument) for argument in node.args]
        kinds = [item_of(kind) if len(kinds) == 1 else kind for kind in kinds]
        if not kinds or any(not (is_number(kind) or kind in (str, UNKNOWN)) for kind in kinds):
            raise Lift
        if len(node.args) == 1:
            if not is_list(unit.infer(node.args[0])) and unit.infer(node.args[0]) is not UNKNOWN:
                raise Lift
            unit.risk()
            return calling(name, unit.express(node.args[0]))
        if not (all(is_number(kind) for kind in kinds) or set(kinds) == {str}):
            unit.risk()
        return calling(name, *(numeric(unit, argument) for argument in node.args))

    return extreme


def _sum(unit: Unit, node: ast.Call) -> ast.expr:
    """Only of whole numbers: how Python adds decimals hangs on its version."""
    value, kind = _one(unit, node)
    if not is_list(kind) or item_of(kind) is not int:
        raise Lift
    return calling("sum", unit.express(value))


def _number(name: str) -> Callable[[Unit, ast.Call], ast.expr]:
    def number(unit: Unit, node: ast.Call) -> ast.expr:
        kinds = [unit.infer(argument) for argument in node.args]
        if not 1 <= len(kinds) <= (2 if name == "round" else 1) or not all(is_plain(kind) for kind in kinds):
            raise Lift
        if kinds[0] is UNKNOWN or kinds[1:] not in ([], [int]):
            unit.risk()
        if not (is_number(kinds[0]) or kinds[0] in (bool, UNKNOWN)):
            raise Lift
        if len(kinds) == 2 and kinds[1] is not int:
            raise Lift
        return calling(name, numeric(unit, node.args[0]), *map(unit.express, node.args[1:]))

    return number


def _converted(name: str) -> Callable[[Unit, ast.Call], ast.expr]:
    def converted(unit: Unit, node: ast.Call) -> ast.expr:
        value, kind = _one(unit, node)
        if not (is_number(kind) or kind in (bool, str, UNKNOWN)):
            raise Lift
        if not (is_number(kind) or kind is bool):
            unit.risk()
        return calling(name, unit.express(value))

    return converted


def _bool(unit: Unit, node: ast.Call) -> ast.expr:
    value, kind = _one(unit, node)
    if not (is_plain(kind) or is_container(kind)):
        raise Lift
    return calling("bool", unit.express(value))


def _truth(name: str) -> Callable[[Unit, ast.Call], ast.expr]:
    def truth(unit: Unit, node: ast.Call) -> ast.expr:
        value, kind = _one(unit, node)
        if not is_list(kind) or not is_plain(kind):
            raise Lift
        return calling(name, unit.express(value))

    return truth


def _text(unit: Unit, node: ast.Call) -> ast.expr:
    return text(unit, _one(unit, node)[0])


def _sorted(unit: Unit, node: ast.Call) -> ast.expr:
    value, kind = _one(unit, node)
    backwards = [keyword.value for keyword in node.keywords if keyword.arg == "reverse"]
    if len(backwards) != len(node.keywords) or not is_list(kind) or parts(item_of(kind)) not in _SORTED:
        raise Lift
    if any(unit.infer(flag) is not bool for flag in backwards):
        raise Lift
    return calling("sort", unit.express(value), *map(unit.express, backwards))


_SORTED: Final = (frozenset({"text"}), frozenset({"number"}), frozenset({"number", "float"}))


def _made_list(unit: Unit, node: ast.Call) -> ast.expr:
    value, kind = _one(unit, node)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        if unit.is_builtin(value.func, "range") and not value.keywords and 1 <= len(value.args) <= 3:
            if any(unit.infer(end) is not int for end in value.args):
                raise Lift
            unit.risk()
            return calling("range", *map(unit.express, value.args))
        if unit.is_builtin(value.func, "zip") and not value.keywords and value.args:
            raise Lift  # its items are tuples
    if is_dict(kind):
        return calling("keys", unit.express(value))
    if not is_list(kind):
        raise Lift
    return unit.express(value)


_BUILTINS: Final[dict[str, Callable[[Unit, ast.Call], ast.expr]]] = {
    "len": _len, "min": _extreme("min"), "max": _extreme("max"), "sum": _sum, "abs": _number("abs"), "round": _number("round"),
    "int": _converted("int"), "float": _converted("float"), "bool": _bool, "any": _truth("any"), "all": _truth("all"),
    "str": _text, "sorted": _sorted, "list": _made_list,
}  # fmt: skip


# -- methods ----------------------------------------------------------------------------------------------------------


def _method(unit: Unit, function: ast.Attribute, arguments: list[ast.expr]) -> ast.expr:
    kind, name = solid(unit.infer(function.value)), function.attr
    if not (is_plain(kind) or is_dict(kind)) or not all(
        is_plain(unit.infer(argument)) or is_named(solid(unit.infer(argument))) for argument in arguments
    ):
        raise Lift
    if name in _OF_TEXT and kind in (str, UNKNOWN):
        least, most = _ARGUMENTS[name]
        if not least <= len(arguments) <= most:
            raise Lift
        if kind is not str or any(unit.infer(argument) is not str for argument in arguments) or name == "split":
            unit.risk()
        return calling(_OF_TEXT[name], unit.express(function.value), *map(unit.express, arguments))
    if name == "join" and kind is str and len(arguments) == 1:
        if not is_list(unit.infer(arguments[0])) or item_of(unit.infer(arguments[0])) is not str:
            raise Lift
        return calling("join", unit.express(arguments[0]), unit.express(function.value))
    if (is_dict(kind) or kind is UNKNOWN) and (name in _OF_OBJECT or name == "get"):
        if not is_dict(kind):
            unit.risk()
        if name == "get":
            return _get(unit, function.value, arguments)
        if not arguments:
            return calling(name, unit.express(function.value))
    raise Lift


def _get(unit: Unit, whole: ast.expr, arguments: list[ast.expr]) -> ast.expr:
    is_member = holds_named(unit.infer(whole)) and len(arguments) > 0 and is_text_key(unit, arguments[0])
    if len(arguments) not in (1, 2) or not (is_member or unit.infer(arguments[0]) is str):
        raise Lift
    base, key = unit.express(whole), text_of_member(unit, arguments[0]) or unit.express(arguments[0])
    if len(arguments) == 1:
        base = base if is_dict(unit.infer(whole)) and unit.infer(whole) == solid(unit.infer(whole)) else calling("merge", base)
        return ast.Subscript(base, key, ast.Load())
    otherwise = ast.Dict([key], [unit.express(arguments[1])])
    return ast.Subscript(calling("merge", otherwise, base), key, ast.Load())
