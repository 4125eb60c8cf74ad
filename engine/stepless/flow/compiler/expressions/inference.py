"""Infers the types of expressions, as far as the annotations of the module lead."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable
from enum import Enum
from typing import Any, Final

from stepless.flow.compiler.expressions.call_types import annotated, builtin, is_maker, joined, method, received, returned
from stepless.flow.compiler.expressions.carrying import Carrying, Leaving, is_no_text, is_open, touches_carried
from stepless.flow.compiler.facts.block_nodes import Evaluated, Output
from stepless.flow.compiler.facts.carried_types import carried, stored
from stepless.flow.compiler.facts.functions import is_named
from stepless.flow.compiler.facts.names import Changed, Comprehension, Item, Piece, Rest
from stepless.flow.compiler.facts.types import (
    ATOMS,
    CARRIED,
    REAL,
    SCALARS,
    UNKNOWN,
    UNSEEN,
    bare,
    dict_of,
    is_atom,
    is_carried,
    is_dict,
    is_failure,
    is_list,
    is_model,
    is_number,
    is_tuple,
    item_of,
    list_of,
    may_be_null,
    promised,
    solid,
    tuple_of,
    union,
)
from stepless.flow.compiler.unit import Unit
from stepless.flow.words import Answer, NodeError, Winner, results, word_of


def known(unit: Unit, node: ast.AST) -> Any:
    """Infers like `infer`, after every binding was read."""
    kind = infer(unit, node)
    if kind is UNSEEN:
        return list if isinstance(node, ast.List) else dict if isinstance(node, ast.Dict) else UNKNOWN
    return kind


def infer(unit: Unit, node: ast.AST) -> Any:
    """Returns the type of an expression's value; UNKNOWN where no annotation says it, UNSEEN where it depends on what is not read
    yet."""
    rule = _RULES.get(type(node))
    kind = UNKNOWN if rule is None else rule(unit, node)
    if kind is not UNSEEN and kind not in ATOMS and is_tuple(kind) and is_carried(kind):
        return CARRIED
    some = unit.carried or unit.plan.made_again(unit.origin).names()
    if some and kind is not UNSEEN and not isinstance(node, Leaving) and is_open(kind) and touches_carried(unit, node):
        return carried(kind)
    return kind if kind is UNSEEN or kind in ATOMS else bare(kind)


# -- expressions ------------------------------------------------------------------------------------------------------


def _name(unit: Unit, node: ast.Name) -> Any:
    if unit.is_local(node.id):
        return unit.kind_of(node.id)
    value = unit.origin.globals.get(node.id)
    if type(value) in SCALARS and value is not None:
        return type(value)
    return unit.rules.named(unit, node) or UNKNOWN


def _attribute(unit: Unit, node: ast.Attribute) -> Any:
    if isinstance(member := unit.static(node), Enum):
        return type(member)
    base = solid(infer(unit, node.value))
    if base is UNSEEN:
        return UNSEEN
    if is_model(base) and node.attr in base.model_fields:
        return base.model_fields[node.attr].annotation
    if is_failure(base) and node.attr in ("code", "message"):
        return str
    return unit.rules.named(unit, node) or UNKNOWN if base is UNKNOWN else UNKNOWN


def _subscript(unit: Unit, node: ast.Subscript) -> Any:
    base = infer(unit, node.value)
    if base is UNSEEN or isinstance(node.slice, ast.Slice):
        return base
    arguments = typing.get_args(solid(base))
    if is_tuple(base) and isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int) and ... not in arguments:
        return arguments[node.slice.value] if -len(arguments) <= node.slice.value < len(arguments) else UNKNOWN
    return item_of(base)


def _operation(unit: Unit, node: ast.BinOp) -> Any:
    left, right = infer(unit, node.left), infer(unit, node.right)
    if CARRIED in (left, right):
        return CARRIED
    if UNSEEN in (left, right):
        other = right if left is UNSEEN else left
        return other if isinstance(node.op, ast.Add) and is_list(other) else UNSEEN
    left, right = (int if kind is bool else kind for kind in (left, right))
    if is_number(left) and is_number(right):
        if isinstance(node.op, ast.Pow):
            return UNKNOWN  # 2 ** -1 is no whole number
        is_float = float in (left, right) or isinstance(node.op, ast.Div)
        return float if is_float else REAL if REAL in (left, right) else int
    if isinstance(node.op, ast.Add | ast.Sub) and float in (left, right) and UNKNOWN in (left, right):
        return float  # or it fails: nothing else adds to a float
    if isinstance(node.op, ast.Mod) and left is str:
        return str
    if isinstance(node.op, ast.Mult) and int in (left, right):
        other = right if left is int else left
        return other if other is str or is_list(other) else UNKNOWN
    if isinstance(node.op, ast.BitOr) and is_dict(left) and is_dict(right):
        return dict_of(union(item_of(left), item_of(right)))
    if isinstance(node.op, ast.Add):
        if is_list(left) and is_list(right):
            return joined(left, right)
        if is_tuple(left) and is_tuple(right):
            return tuple
        return left if left == right and left is str else UNKNOWN
    return UNKNOWN


def _list(unit: Unit, node: ast.List) -> Any:
    found: list[Any] = []
    for element in node.elts:
        found.append(item_of(infer(unit, element.value)) if isinstance(element, ast.Starred) else infer(unit, element))
    found = [kind for kind in found if kind is not UNSEEN]
    return list_of(union(*found)) if found else UNSEEN


def _tuple(unit: Unit, node: ast.Tuple) -> Any:
    if any(isinstance(element, ast.Starred) for element in node.elts) or not node.elts:
        return tuple
    kinds = [UNKNOWN if (kind := infer(unit, element)) is UNSEEN else kind for element in node.elts]
    return tuple_of(*kinds)


def _dict(unit: Unit, node: ast.Dict) -> Any:
    found = []
    for key, value in zip(node.keys, node.values, strict=True):
        found.append(item_of(infer(unit, value)) if key is None else infer(unit, value))
        if key is not None and is_no_text(infer(unit, key)):
            return CARRIED
    found = [kind for kind in found if kind is not UNSEEN]
    return dict_of(union(*found)) if found else UNSEEN


def _choice(unit: Unit, *branches: ast.expr) -> Any:
    kinds = [kind for branch in branches if (kind := infer(unit, branch)) is not UNSEEN]
    return union(*kinds) if kinds else UNSEEN


def _call(unit: Unit, node: ast.Call) -> Any:
    function = node.func
    if isinstance(function, ast.Name):
        if unit.is_builtin(function, function.id):
            return builtin(unit, function.id, node, infer, _iteration)
        if word_of(unit.static(function)) == "now":
            return str
    if isinstance(function, ast.Attribute) and unit.static(function) is None:
        return method(unit, function, node, infer)
    target = unit.static(function)
    if inspect.isclass(target) and (dataclasses.is_dataclass(target) or issubclass(target, Enum)):
        return target
    if inspect.isclass(target) and issubclass(target, tuple):
        return stored(target)
    if target is functools.partial:
        return unit.rules.named(unit, node) or UNKNOWN
    if target is results and isinstance(gathered := node.args[0], ast.Await) and isinstance(gathered.value, ast.Call):
        return _gathered(unit, ast.Call(gathered.value.func, gathered.value.args, []))
    if word_of(target) == "begin":
        return infer(unit, _awaited(node.args[0]))
    if is_maker(unit, function, target):
        return CARRIED
    if is_model(target):
        return target
    plain = callable(target) and hasattr(target, "__annotations__") and not isinstance(target, type)
    return stored(returned(target)) if plain else UNKNOWN


def _await(unit: Unit, node: ast.Await) -> Any:
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
            return received(unit, call)
    return _concurrent(unit, call, word_of(target))


def _returned(target: Any) -> Any:
    """The type that a step, a part or a workflow returns."""
    kind = returned(target.function)
    return stored(kind) if word_of(target) == "part" else kind


def _concurrent(unit: Unit, call: ast.Call, word: str) -> Any:
    match word:
        case "gather" | "group":
            return _gathered(unit, call)
        case "wait_for":
            return infer(unit, _awaited(call.args[0])) if call.args else UNKNOWN
        case "first":
            return tuple_of(int, CARRIED)
    return UNKNOWN


def _gathered(unit: Unit, call: ast.Call) -> Any:
    if any(word.arg == "return_exceptions" and getattr(word.value, "value", False) for word in call.keywords):
        return list_of(CARRIED)
    if len(call.args) == 1 and isinstance(call.args[0], ast.Starred):
        comprehension = call.args[0].value
        if isinstance(comprehension, ast.ListComp | ast.GeneratorExp):
            return list_of(infer(unit, _awaited(comprehension.elt)))
        return list
    return list_of(union(*[infer(unit, _awaited(one)) for one in call.args])) if call.args else list


def _awaited(call: ast.expr) -> ast.expr:
    return call if isinstance(call, ast.Await) else ast.copy_location(ast.Await(call), call)


def _comprehension(unit: Unit, node: Comprehension) -> Any:
    if isinstance(node, ast.ListComp | ast.GeneratorExp):
        kind = infer(unit, node.elt)
        return UNSEEN if kind is UNSEEN else list_of(kind)
    return UNKNOWN


# -- bindings ---------------------------------------------------------------------------------------------------------


def _iteration(unit: Unit, over: ast.expr) -> Any:
    """The type of what one iteration over a collection receives."""
    if isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and unit.is_builtin(over.func, over.func.id) and over.args:
        match over.func.id:
            case "range":
                return int
            case "enumerate":
                item = _iteration(unit, over.args[0])
                return UNSEEN if item is UNSEEN else tuple_of(int, item)
            case "reversed":
                return _iteration(unit, over.args[0])
            case "zip":
                items = tuple(_iteration(unit, one) for one in over.args)
                return UNSEEN if UNSEEN in items else tuple_of(*items)
    kind = infer(unit, over)
    if is_dict(kind):
        return str
    if kind is CARRIED:
        return CARRIED
    if kind is UNSEEN or is_list(kind) or is_tuple(kind) or kind is str:
        return UNSEEN if kind is UNSEEN else item_of(kind)
    return UNKNOWN


def _piece(unit: Unit, piece: Piece) -> Any:
    whole = piece.whole
    if isinstance(whole, ast.Tuple | ast.List) and piece.place < len(whole.elts):
        return infer(unit, whole.elts[piece.place])
    call = whole.value if isinstance(whole, ast.Await) else None
    if isinstance(whole, ast.Await) and isinstance(call, ast.Call) and word_of(unit.static(call.func)) in ("gather", "group"):
        calls = [] if call.keywords else call.args
        if not any(isinstance(one, ast.Starred) for one in calls) and piece.place < len(calls):
            return infer(unit, _awaited(calls[piece.place]))
    kind = infer(unit, whole)
    if kind is UNSEEN or kind is CARRIED:
        return kind
    arguments = typing.get_args(solid(kind))
    if is_tuple(kind) and ... not in arguments:
        return arguments[piece.place] if piece.place < len(arguments) else UNKNOWN
    return item_of(kind)


def _changed(unit: Unit, node: Changed) -> Any:
    whole, value = unit.kind_of(node.name), infer(unit, node.value)
    if node.key is not None and is_no_text(infer(unit, node.key)) and not is_list(whole) and whole is not UNKNOWN:
        made = unit.names.values.get(node.name, ())
        return CARRIED if any(isinstance(one, ast.Dict) for one in made) or is_dict(whole) or whole is CARRIED else whole
    if is_list(whole):
        return whole if value is UNSEEN else list_of(union(item_of(whole), value))
    if is_dict(whole) or whole is UNSEEN:
        other = [] if whole is UNSEEN else [item_of(whole)]
        return UNSEEN if value is UNSEEN else dict_of(union(*other, value))
    return UNKNOWN


def _declared(unit: Unit, node: ast.AnnAssign) -> Any:
    return promised(annotated(unit, node.annotation), UNSEEN if node.value is None else infer(unit, node.value))


def _rest(unit: Unit, node: Rest) -> Any:
    kind = _item(unit, node)
    return kind if kind is UNSEEN else list_of(kind)


def _item(unit: Unit, node: Item) -> Any:
    return _iteration(unit, node.whole) if isinstance(node.whole, ast.expr) else UNKNOWN


def _evaluated(unit: Unit, node: Evaluated) -> Any:
    """The output of a block: the value of its one name, or of its `return`; an object, if it has several."""
    if not node.block.is_plain or node.leaves:
        return UNKNOWN
    kinds = unit.rules.outputs(unit, node)
    key = "value" if node.block.exits == ["return"] else f"name.{node.block.outputs[0]}" if node.block.outputs else ""
    return kinds.get(key, type(None))


def _output(unit: Unit, node: Output) -> Any:
    if node.key == "exit":
        return str
    if node.key == "error":
        return NodeError
    assert isinstance(node.whole, ast.Name)
    whole = unit.names.values[node.whole.id][0]
    return unit.rules.outputs(unit, whole).get(node.key, UNKNOWN)


def _caught(unit: Unit, node: ast.ExceptHandler) -> Any:
    return NodeError


_RULES: Final[dict[type[ast.AST], Callable[[Unit, Any], Any]]] = {
    ast.Name: _name,
    ast.Constant: lambda unit, node: type(node.value) if type(node.value) in SCALARS else stored(type(node.value)),
    ast.Set: lambda unit, node: CARRIED,
    ast.SetComp: lambda unit, node: CARRIED,
    ast.JoinedStr: lambda unit, node: str,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.BinOp: _operation,
    ast.UnaryOp: lambda unit, node: bool if isinstance(node.op, ast.Not) else _negated(infer(unit, node.operand)),
    ast.Compare: lambda unit, node: bool,
    ast.BoolOp: lambda unit, node: _choice(unit, *node.values),
    ast.IfExp: lambda unit, node: _choice(unit, node.body, node.orelse),
    ast.List: _list,
    ast.Tuple: _tuple,
    ast.Dict: _dict,
    ast.Call: _call,
    ast.Await: _await,
    ast.ListComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.For: lambda unit, node: _iteration(unit, node.iter),
    ast.comprehension: lambda unit, node: _iteration(unit, node.iter),
    ast.AnnAssign: _declared,
    ast.ExceptHandler: _caught,
    Leaving: lambda unit, node: UNKNOWN if node.kind is None else node.kind,
    Carrying: lambda unit, node: CARRIED,
    Evaluated: _evaluated,
    Output: _output,
    Rest: _rest,
    Item: _item,
    Piece: _piece,
    Changed: _changed,
}


def _negated(kind: Any) -> Any:
    if kind is UNSEEN:
        return UNSEEN
    return int if kind is bool else kind if is_number(kind) else UNKNOWN


def is_scalar(unit: Unit, node: ast.expr) -> bool:
    """Returns whether a value is one that cannot be changed in place."""
    kind = known(unit, node)
    return is_atom(kind) or (is_tuple(kind) and may_be_null(kind) is False and is_atom(item_of(kind)))
