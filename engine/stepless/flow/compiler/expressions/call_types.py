"""Infers the types of what functions and methods return."""

from __future__ import annotations

import ast
import uuid
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from pydantic import BaseModel

from stepless.flow.compiler.facts.carried_types import FOREIGN
from stepless.flow.compiler.facts.types import (
    CARRIED,
    REAL,
    UNKNOWN,
    UNSEEN,
    bare,
    believed,
    is_dict,
    is_list,
    is_model,
    item_of,
    list_of,
    solid,
    tuple_of,
    union,
)
from stepless.flow.compiler.origin import hints_of
from stepless.flow.compiler.unit import Unit

Infer: TypeAlias = Callable[[Unit, Any], Any]
_TEXTS: Final = (
    "lower", "upper", "strip", "lstrip", "rstrip", "replace", "title", "join", "format", "capitalize", "removeprefix",
    "removesuffix", "isoformat",
)  # fmt: skip
_CALLS: Final[dict[str, Any]] = {
    "len": int, "int": int, "str": str, "float": float, "bool": bool, "any": bool, "all": bool, "range": list[int],
    "isinstance": bool, "repr": str, "ord": int, "chr": str,
}


def returned(function: Callable[..., Any]) -> Any:
    """Returns the type that a function or coroutine returns."""
    return believed(bare(hints_of(function).get("return", UNKNOWN)))


_MAKERS: Final = ("now", "utcnow", "today", "fromisoformat", "fromtimestamp", "strptime", "combine", "fromordinal", "fromhex")
_OF_UUID: Final = (uuid.uuid1, uuid.uuid3, uuid.uuid4, uuid.uuid5)


def is_maker(unit: Unit, function: ast.expr, target: Any) -> bool:
    """Whether a call returns a value of a class that JSON does not have."""
    if isinstance(function, ast.Attribute) and function.attr in _MAKERS:
        return unit.static(function.value) in FOREIGN
    return any(target is one for one in (*FOREIGN, *_OF_UUID))


def builtin(unit: Unit, name: str, node: ast.Call, infer: Infer, iteration: Infer) -> Any:
    """Returns the type of what a function of Python returns."""
    if name in _CALLS:
        return _CALLS[name]
    if name in ("set", "frozenset", "bytes"):
        return CARRIED
    kinds = [infer(unit, argument) for argument in node.args if not isinstance(argument, ast.Starred)]
    if UNSEEN in kinds:
        return UNSEEN
    if name in ("abs", "round") and kinds:
        return int if kinds[0] in (int, bool) or (name == "round" and len(node.args) == 1) else kinds[0]
    if name in ("min", "max") and kinds:
        others = [infer(unit, word.value) for word in node.keywords if word.arg == "default"]
        return union(item_of(kinds[0]), *others) if len(node.args) == 1 and UNSEEN not in others else union(*kinds)
    if name == "sum" and len(node.args) == 1 and item_of(kinds[0]) in (int, float):
        return int if item_of(kinds[0]) is int else REAL  # 0 of an empty list
    if name in ("sorted", "list") and len(kinds) == 1:
        item = iteration(unit, node.args[0])
        return UNSEEN if item is UNSEEN else list_of(item)
    if name == "dict" and len(kinds) == 1 and is_dict(kinds[0]):
        return kinds[0]
    return UNKNOWN


def method(unit: Unit, function: ast.Attribute, node: ast.Call, infer: Infer) -> Any:  # noqa: C901  # a table of methods
    """Returns the type of what a method returns."""
    base = solid(infer(unit, function.value))
    if base is UNSEEN:
        return UNSEEN
    if is_model(base) and function.attr in ("model_copy", "copy"):
        return base
    if is_model(base):
        method = getattr(base, function.attr, None)
        return returned(method) if callable(method) and not hasattr(BaseModel, function.attr) else UNKNOWN
    match function.attr:
        case "encode" if base is str:
            return CARRIED
        case "split" | "keys":
            return list[str]
        case "startswith" | "endswith" | "isdigit" | "isalpha":
            return bool
        case "values":
            return list_of(item_of(base))
        case "items":
            return list_of(tuple_of(str, item_of(base)))
        case "get":
            return union(item_of(base), infer(unit, node.args[1]) if len(node.args) == 2 else type(None))
        case "copy" if is_list(base) or is_dict(base):
            return base
        case "pop" if is_list(base) or (is_dict(base) and len(node.args) == 1):
            return item_of(base)
        case "pop" | "setdefault" if is_dict(base) and len(node.args) == 2:
            return union(item_of(base), infer(unit, node.args[1])) if infer(unit, node.args[1]) is not UNSEEN else UNSEEN
        case "popitem" if is_dict(base):
            return tuple_of(str, item_of(base))
        case "index" | "count" | "find" if is_list(base) or base is str:
            return int
    return str if function.attr in _TEXTS and base in (str, UNKNOWN) else UNKNOWN


def annotated(unit: Unit, node: ast.expr) -> Any:
    """Returns the type that an annotation in the text names. Nothing but names, unions and subscripts is looked up."""
    allowed = (ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.BinOp, ast.BitOr, ast.Constant, ast.Load)
    if not all(isinstance(part, allowed) for part in ast.walk(node)):
        return UNKNOWN
    try:
        kind = eval(compile(ast.Expression(node), unit.origin.file, "eval"), dict(unit.origin.globals))
    except Exception:  # an annotation that names nothing says nothing
        return UNKNOWN
    return bare(kind)


def joined(left: Any, right: Any) -> Any:
    """The type of two lists, one after the other; an empty display says nothing about its items."""
    if right in (list, _EMPTY):
        return left
    return right if left in (list, _EMPTY) else list_of(union(item_of(left), item_of(right)))


_EMPTY: Final = list_of(UNSEEN)


def received(unit: Unit, call: ast.Call) -> Any:
    """The type of the data of a message."""
    name = call.args[0] if call.args else next((word.value for word in call.keywords if word.arg == "name"), None)
    value = name.value if isinstance(name, ast.Constant) else None if name is None else unit.static(name)
    return unit.messages.get(value, UNKNOWN) if isinstance(value, str) else UNKNOWN
