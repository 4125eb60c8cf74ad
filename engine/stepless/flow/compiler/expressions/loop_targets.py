"""Compiles the iterable and the targets of a `for`."""

from __future__ import annotations

import ast
import typing
from typing import Final, TypeAlias

from stepless.flow.compiler.expressions.reading import as_float, calling
from stepless.flow.compiler.facts.functions import holds_named
from stepless.flow.compiler.facts.names import bindings
from stepless.flow.compiler.facts.types import CARRIED, UNKNOWN, is_carried, is_dict, is_list, is_tuple, item_of, solid
from stepless.flow.compiler.unit import Unit
from stepless.limits import MAX_ITERATIONS
from stepless.model.json import JSON

Targets: TypeAlias = dict[str, ast.expr]


_OF_ITERATORS: Final = ("groupby", "tee")  # of itertools


def check_values(unit: Unit, over: ast.expr) -> None:
    """Refuses a loop over items that hold iterators: its body waits, so they would have to be recorded."""
    called = unit.static(over.func) if isinstance(over, ast.Call) else None
    name = getattr(called, "__name__", "")
    if name in _OF_ITERATORS and getattr(called, "__module__", "") == "itertools":
        mend = f"Make lists of them first: for key, group in [(key, list(group)) for key, group in {name}(…)]"
        unit.refuse(over, "no_value", f"the items of `{name}` hold iterators, which cannot be recorded", mend)


def check_items(unit: Unit, id: str, over: ast.expr, target: ast.expr) -> None:
    """Emits, at the beginning of an iteration, the node that fails if an item has not as many values as the target has names."""
    unsure = unsure_target(unit, over, target)
    if unsure is None:
        return
    if any(isinstance(element, ast.Tuple | ast.List) for element in unsure.elts):
        unit.refuse(unsure, "mutation", "items of which the form is not known", "Unpack into names, in two statements")
    whole = unit.texts.reference(f"{id}.item")
    test = ast.Compare(calling("len", whole), [ast.Eq()], [ast.Constant(len(unsure.elts))])
    value = ast.IfExp(test, whole, calling("need", ast.Name("null", ast.Load())))
    unit.may_fail(unit.emit(unit.new_id("unpacked"), "transform", {"value": unit.texts.template(value)}), pure=True)


def unsure_target(unit: Unit, over: ast.expr, target: ast.expr) -> ast.Tuple | ast.List | None:
    """Returns the names of a target that take one item apart, if the item may have another number of values."""
    if isinstance(over, ast.Call) and unit.is_builtin(over.func, "enumerate"):
        if not (isinstance(target, ast.Tuple) and len(target.elts) == 2 and over.args):
            return None
        over, target = over.args[0], target.elts[1]
    if not isinstance(target, ast.Tuple | ast.List):
        return None
    if isinstance(over, ast.Call) and unit.is_builtin(over.func, "zip") and len(over.args) == len(target.elts):
        return None
    kind = unit.infer(over)
    item = item_of(kind) if is_list(kind) or is_tuple(kind) else UNKNOWN
    arguments = typing.get_args(solid(item))
    fits = is_tuple(item) and ... not in arguments and len(arguments) == len(target.elts)
    return None if fits else target


ITERATIONS = min(100_000, MAX_ITERATIONS)


def iterations(unit: Unit, id: str, over: ast.expr, target: ast.expr) -> tuple[dict[str, JSON], Targets]:
    """Returns the parameters of the container `id` for `for target in over`, and the value of each name of the target in an
    iteration."""
    params, targets = _iterations(unit, id, over, target)
    iteration = ast.comprehension(target, over, [], 0)
    kinds = {name: unit.infer(value) for name, value in bindings(target, iteration)}
    return params, {
        name: value if unit.kind_of(name) is float and not unit.names.is_variable(name) else as_float(unit, kinds[name], value)
        for name, value in targets.items()
    }


def _iterations(unit: Unit, id: str, over: ast.expr, target: ast.expr) -> tuple[dict[str, JSON], Targets]:
    match over:
        case ast.Call(func=ast.Name(id=function), args=arguments, keywords=[]) if unit.is_builtin(over.func, function):
            if function == "range" and isinstance(target, ast.Name) and 1 <= len(arguments) <= 3:
                return _range(unit, id, arguments, target.id)
            if function == "zip" and arguments and all(is_list(unit.infer(one)) for one in arguments):
                pairs = calling("zip", *(unit.value(one) for one in arguments))
                return {"items": unit.texts.source(pairs)}, _targets(unit, id, "item", target)
    counted = _counted(unit, over, target)
    if counted is not None:
        counter, start, inner, over = counted
        params = _items(unit, _opened(unit, over, inner))
        index: ast.expr = unit.texts.reference(f"{id}.index")
        index = ast.BinOp(index, ast.Add(), ast.Constant(start)) if start else index
        return params, {counter.id: index, **_targets(unit, id, "item", inner)}
    return _items(unit, _opened(unit, over, target)), _targets(unit, id, "item", target)


def _opened(unit: Unit, over: ast.expr, target: ast.expr) -> ast.expr:
    """Returns a collection with its items as lists, if a target takes them apart and they may be tuples, which JSON lacks."""
    if not isinstance(target, ast.Tuple | ast.List) or not is_carried(item_of(unit.infer(over))):
        return over
    name = unit.made_name("item")
    one: ast.expr = ast.Name(name, ast.Load())
    whole = ast.Call(ast.Name("list", ast.Load()), [one], [])
    taken = ast.Call(ast.Name("hasattr", ast.Load()), [one, ast.Constant("__iter__")], [])
    each = ast.comprehension(ast.Name(name, ast.Store()), over, [], 0)
    found = ast.ListComp(ast.IfExp(taken, whole, one), [each])
    for part in ast.walk(found.elt):
        ast.copy_location(part, over)
    return ast.copy_location(found, over)


def _counted(unit: Unit, over: ast.expr, target: ast.expr) -> tuple[ast.Name, int, ast.expr, ast.expr] | None:
    """The parts of `for i, x in enumerate(xs, start)`."""
    if not (isinstance(over, ast.Call) and unit.is_builtin(over.func, "enumerate") and isinstance(target, ast.Tuple)):
        return None
    if len(target.elts) != 2 or not isinstance(target.elts[0], ast.Name) or not over.args or len(over.args) > 2:
        return None
    starts = [*over.args[1:], *(keyword.value for keyword in over.keywords if keyword.arg == "start")]
    if len(starts) != len(over.args) - 1 + len(over.keywords) or len(starts) > 1:
        return None
    start = starts[0].value if starts and isinstance(starts[0], ast.Constant) else None if starts else 0
    if type(start) is not int:
        return None
    return target.elts[0], start, target.elts[1], over.args[0]


def listed(over: ast.expr) -> ast.expr:
    """Returns a range as the list of its numbers: iterations side by side have items."""
    if isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id == "range":
        return ast.copy_location(ast.Call(ast.Name("list", ast.Load()), [over], []), over)
    return over


def _range(unit: Unit, id: str, arguments: list[ast.expr], name: str) -> tuple[dict[str, JSON], Targets]:
    known = all(unit.infer(argument) is int for argument in arguments)
    if known and (len(arguments) == 1 or (len(arguments) == 2 and isinstance(arguments[0], ast.Constant))):
        end = unit.value(arguments[-1])
        start = arguments[0] if len(arguments) == 2 else ast.Constant(0)
        begins = start.value if isinstance(start, ast.Constant) else 0
        index: ast.expr = unit.texts.reference(f"{id}.index")
        if isinstance(end, ast.Constant) and isinstance(end.value, int) and isinstance(begins, int):
            count: JSON = max(0, end.value - begins)
        else:
            count = unit.texts.source(calling("max", ast.Constant(0), ast.BinOp(end, ast.Sub(), start) if begins else end))
        return {"times": count}, {name: ast.BinOp(ast.Constant(begins), ast.Add(), index) if begins else index}
    listed = ast.Call(ast.Name("list", ast.Load()), [ast.Call(ast.Name("range", ast.Load()), arguments, [])], [])
    value = unit.value(ast.copy_location(listed, arguments[0]))
    return {"items": unit.texts.source(value)}, {name: unit.texts.reference(f"{id}.item")}


def _items(unit: Unit, over: ast.expr) -> dict[str, JSON]:
    kind = unit.infer(over)
    if is_dict(kind):
        return {"items": unit.texts.source(calling("keys", unit.value(over)))}
    if isinstance(over, ast.Call) and _is_turned(unit, over) and holds_named(unit.infer(over.args[0])):
        return {"items": unit.texts.source(unit.value(over))}
    if kind is str or kind is CARRIED or _is_odd(unit, over):
        listed = ast.Call(ast.Name("list", ast.Load()), [over], [])
        return {"items": unit.texts.source(unit.value(ast.copy_location(listed, over)))}
    value = unit.value(over)
    if is_list(kind) or isinstance(over, ast.Tuple | ast.List) or isinstance(value, ast.Call):
        return {"items": unit.texts.source(value)}
    unit.risk()
    whole = ast.Subscript(value, ast.Slice(ast.Constant(0)), ast.Load())  # fails for an object: Python runs over its keys
    return {"items": unit.texts.source(whole)}


def _is_turned(unit: Unit, over: ast.expr) -> bool:
    return isinstance(over, ast.Call) and unit.is_builtin(over.func, "reversed") and len(over.args) == 1


def _is_odd(unit: Unit, over: ast.expr) -> bool:
    """Whether a collection is none of JSON's, so that it must be made a list before it is recorded."""
    return isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and any(
        unit.is_builtin(over.func, name) for name in ("enumerate", "zip", "reversed", "map", "filter", "set", "iter")
    )


def _targets(unit: Unit, id: str, path: str, target: ast.expr) -> Targets:
    if isinstance(target, ast.Name):
        return {target.id: unit.texts.reference(f"{id}.{path}", strict="[" in path)}
    if not isinstance(target, ast.Tuple | ast.List) or any(isinstance(element, ast.Starred) for element in target.elts):
        unit.refuse(target, "mutation", "only names can be assigned", "Unpack into names")
    found: Targets = {}
    for place, element in enumerate(target.elts):
        found |= _targets(unit, id, f"{path}[{place}]", element)
    return found
