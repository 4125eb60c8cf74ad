"""Compiles assignments: a name that is bound once is the node with its value; any other is a run variable."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from stepless.flow.compiler.changes import check_change
from stepless.flow.compiler.expressions.calls import PUT
from stepless.flow.compiler.expressions.carrying import carrying
from stepless.flow.compiler.expressions.hoisting import Hoist, has_await
from stepless.flow.compiler.expressions.inference import is_scalar
from stepless.flow.compiler.expressions.json_values import json_value
from stepless.flow.compiler.expressions.reading import among_others, as_float
from stepless.flow.compiler.facts.block_nodes import Output
from stepless.flow.compiler.facts.carried_types import is_foreign
from stepless.flow.compiler.facts.types import CARRIED, UNKNOWN, is_carried, is_dict, is_list, is_tuple, item_of
from stepless.flow.compiler.refusals import Lift
from stepless.flow.compiler.unit import Unit
from stepless.flow.compiler.variable_writes import NOT_CONSTANT, constant_of
from stepless.model.json import JSON

_MUTATION = "only names can be assigned"
Await = Callable[[Unit, ast.Await, "str | None"], ast.expr]


class Assigning:
    """Reads the statements that bind names. `await_` emits the node of one await."""

    def __init__(self, await_: Await, hoist: Hoist) -> None:
        self._await = await_
        self._hoist = hoist

    def evaluate(self, unit: Unit, node: ast.expr, hint: str, kind: Any = UNKNOWN) -> ast.expr:
        """Returns the value of an expression as a reference or a literal; emits the nodes that it takes. `kind` is what its
        readers take it for."""
        if isinstance(node, ast.Await):
            return self._await(unit, node, hint)
        if isinstance(node, ast.Name | Output):
            value = unit.value(node)
            if unit.texts.is_settled(value) and (kind is float or among_others(unit, node, value) is value):
                return value
        return self._hoist.list_of_awaits(unit, node, hint) or self._node(unit, node, hint, kind)

    def _node(self, unit: Unit, node: ast.expr, hint: str, kind: Any) -> ast.expr:
        taken = self._hoist.expression(unit, node)
        before, known = unit.risks, len(unit.level)
        unit.wanted = taken, hint
        value = json_value(unit, taken, kind)
        unit.wanted = None
        if unit.frontier and value == f"<{unit.frontier[0]}>" and unit.frontier[0] in [*unit.level][known:]:
            return unit.texts.reference(unit.frontier[0])  # Python evaluates it, in a node that has this name
        id = unit.emit(unit.new_id(hint), "transform", {"value": value})
        if unit.risks > before:
            unit.may_fail(id, pure=True)
        if isinstance(value, str) and value.startswith("{{"):  # what is evaluated is a float, if its type is
            unit.floats.add(id)
        return unit.texts.reference(id)

    def assign(self, unit: Unit, target: ast.expr, value: ast.expr) -> None:
        match target:
            case ast.Name():
                self._name(unit, target.id, value)
            case ast.Tuple() | ast.List():
                self._names(unit, target, value)
            case ast.Subscript(value=ast.Name(id=name)) if unit.is_local(name):
                self._put(unit, target, name, value)
            case _:
                unit.refuse(target, "mutation", _MUTATION, "Build a new value and assign it to a name")

    def _name(self, unit: Unit, name: str, value: ast.expr) -> None:
        if has_await(value) and is_carried(unit.kind_of(name)) and is_foreign(unit.infer(value)):
            value = self._hoist.expression(unit, value)
        value = carrying(unit, value, unit.kind_of(name))
        if unit.names.is_variable(name):
            if isinstance(value, ast.Await):
                unit_value: JSON = unit.texts.template(self._await(unit, value, None))
                before = unit.risks
            else:
                taken = self._hoist.expression(unit, value)
                before = unit.risks
                unit_value = json_value(unit, taken)
            self.write(unit, {name: unit_value}, risky=unit.risks > before)
        else:
            unit.values[name] = self.evaluate(unit, value, name, unit.kind_of(name))
        unit.bound.add(name)

    def write(self, unit: Unit, values: dict[str, JSON], *, risky: bool) -> None:
        """Writes variables. What a constant begins with, before anything else is written to it, needs no node: it is the initial
        value of the variable."""
        if not unit.is_repeated() and not values.keys() & unit.variables.keys():
            initial = {name: constant_of(value) for name, value in values.items()}
            if NOT_CONSTANT not in initial.values():
                unit.variables |= initial
                return
        unit.set(f"set_{'_'.join(unit.shown.get(name, name) for name in values)}", values, risky=risky)

    def _names(self, unit: Unit, target: ast.Tuple | ast.List, value: ast.expr) -> None:
        names = [element.id for element in target.elts if isinstance(element, ast.Name)]
        if len(names) != len(target.elts):
            unit.refuse(target, "mutation", _MUTATION, "Unpack into names")
        before = unit.risks
        if isinstance(value, ast.Tuple | ast.List) and not any(isinstance(one, ast.Starred) for one in value.elts):
            if len(value.elts) != len(names):
                unit.refuse(value, "bad_arguments", f"{len(value.elts)} values for {len(names)} names", "Make them as many")
            taken = self._hoist.expressions(unit, value.elts)
            kept = [carrying(unit, one, unit.kind_of(name)) for name, one in zip(names, taken, strict=True)]
            parts = [among_others(unit, one, unit.value(one)) for one in kept]
        else:
            if any(is_carried(unit.kind_of(name)) for name in names) and is_foreign(item_of(unit.infer(value))):
                raise Lift
            parts = self._unpacked(unit, value, len(names))
        values = dict(zip(names, parts, strict=True))
        if any(unit.names.is_variable(name) for name in names):
            self.write(unit, {name: unit.texts.template(part) for name, part in values.items()}, risky=unit.risks > before)
            for name in names:
                unit.values.pop(name, None)
        else:
            for name, part in values.items():
                unit.values[name] = self._settled(unit, part, name)
        unit.bound |= set(names)

    def _settled(self, unit: Unit, value: ast.expr, name: str) -> ast.expr:
        """A reference to what a name is bound to: what it reads may change later."""
        if unit.texts.is_settled(value):
            return value
        id = unit.emit(unit.new_id(name), "transform", {"value": unit.texts.template(value)})
        unit.may_fail(id, pure=True)
        return unit.texts.reference(id)

    def _unpacked(self, unit: Unit, value: ast.expr, count: int) -> list[ast.expr]:
        kind = unit.infer(value)
        if kind is CARRIED:
            raise Lift
        if isinstance(value, ast.Await):
            whole = self._await(unit, value, None)
        else:
            whole = unit.value(self._hoist.expression(unit, value))
        if isinstance(whole, ast.List) and len(whole.elts) == count:
            return whole.elts
        if not (is_list(kind) or is_tuple(kind) or kind is UNKNOWN):
            raise Lift
        if not unit.texts.is_settled(whole):
            id = unit.emit(unit.new_id("value"), "transform", {"value": unit.texts.template(whole)})
            unit.may_fail(id, pure=True)
            whole = unit.texts.reference(id)
        unit.risk()
        length = ast.Compare(ast.Call(ast.Name("len", ast.Load()), [whole], []), [ast.Eq()], [ast.Constant(count)])
        nothing = ast.Call(ast.Name("need", ast.Load()), [ast.Name("null", ast.Load())], [])
        first = unit.texts.step(whole, 0, strict=True)
        if first is None:
            raise Lift
        checked: ast.expr = ast.IfExp(length, first, nothing)
        rest = [unit.texts.step(whole, place, strict=True) or nothing for place in range(1, count)]
        return [as_float(unit, item_of(kind), one) for one in (checked, *rest)]

    # -- in place ---------------------------------------------------------------------------------------------------

    def _augment_item(self, unit: Unit, node: ast.AugAssign, target: ast.Subscript, name: str) -> None:
        """`d[k] += v`, of a single value: the item is read before the value is evaluated, and written behind it."""
        read = ast.copy_location(ast.Subscript(target.value, target.slice, ast.Load()), node)
        whole = ast.copy_location(ast.BinOp(read, node.op, node.value), node)
        key = target.slice.operand if isinstance(target.slice, ast.UnaryOp) else target.slice
        if not isinstance(key, ast.Name | ast.Constant) or not (is_scalar(unit, read) or is_scalar(unit, whole)):
            unit.refuse(node, "mutation", _MUTATION, "Build a new value and assign it to a name")
        self._put(unit, target, name, whole)

    def augment(self, unit: Unit, node: ast.AugAssign) -> None:
        match node.target:
            case ast.Subscript(value=ast.Name(id=name)) as item if unit.is_local(name):
                self._augment_item(unit, node, item, name)
                return
            case ast.Name(id=name):
                pass
            case _:
                unit.refuse(node, "mutation", _MUTATION, "Build a new value and assign it to a name")
        read = ast.copy_location(ast.Name(name, ast.Load()), node)
        value = ast.copy_location(ast.BinOp(read, node.op, node.value), node)
        if is_scalar(unit, read) or is_scalar(unit, value):
            self._name(unit, name, value)
            return
        if isinstance(node.op, ast.Add) and is_list(unit.infer(read)) and _is_spread(unit.infer(node.value)):
            value = ast.copy_location(ast.BinOp(read, node.op, ast.Call(ast.Name("list", ast.Load()), [node.value], [])), node)
        self.change(unit, node, name, value)

    def append(self, unit: Unit, node: ast.expr, name: str, item: ast.expr) -> None:
        read = ast.copy_location(ast.Name(name, ast.Load()), node)
        added = ast.copy_location(ast.List([item], ast.Load()), node)
        self.change(unit, node, name, ast.copy_location(ast.BinOp(read, ast.Add(), added), node))

    def change(self, unit: Unit, node: ast.AST, name: str, value: ast.expr) -> None:
        """Assigns a new value where Python changes the old one."""
        shown = unit.shown.get(name, name)
        fix = f"Write {shown} = {{**{shown}, …}}" if isinstance(value, ast.Call) else f"Write {shown} = [*{shown}, …]"
        check_change(unit, node, name, fix)
        self._name(unit, name, value)

    def _put(self, unit: Unit, target: ast.Subscript, name: str, value: ast.expr) -> None:
        """`d[k] = v`: the object with another value, the value first, as Python evaluates it."""
        if isinstance(target.slice, ast.Slice):
            unit.refuse(target, "mutation", _MUTATION, "Build a new list and assign it to a name")
        taken = self._hoist.expressions(unit, [value, target.slice])
        parts = [unit.temporary(unit.value(one), unit.infer(one), one) for one in taken]
        whole = ast.copy_location(ast.Name(name, ast.Load()), target)
        put = ast.Call(ast.Name(PUT, ast.Load()), [whole, parts[1], parts[0]], [])
        self.change(unit, target, name, ast.copy_location(put, target))


def _is_spread(kind: Any) -> bool:
    """Whether `+=` adds the items of such a value to a list, and `+` does not."""
    return is_tuple(kind) or is_dict(kind) or kind is str
