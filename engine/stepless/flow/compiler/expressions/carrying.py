"""Keeps apart the two forms of a value that JSON does not have: the form of its type, and the one in which a name carries it from
node to node. What leaves the workflow, or enters a step, has the form of its type; a name that may be bound to a carried value
has that form on every way."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from stepless.flow.compiler.expressions.naming import check_stays
from stepless.flow.compiler.facts.block_nodes import Evaluated, Output
from stepless.flow.compiler.facts.carried_types import is_foreign
from stepless.flow.compiler.facts.functions import holds_named
from stepless.flow.compiler.facts.types import ATOMS, CARRIED, UNKNOWN, UNSEEN, is_carried, parts
from stepless.flow.compiler.refusals import Lift
from stepless.flow.compiler.unit import Unit
from stepless.model.json import JSON


class Leaving(ast.expr):
    """A carried value as JSON, for what takes values of the type `kind`; UNKNOWN for what takes nothing but JSON."""

    _fields: ClassVar[tuple[str, ...]] = ("value",)
    _field_types: ClassVar[dict[str, Any]] = {"value": ast.expr}

    def __init__(self, value: ast.expr, kind: Any) -> None:
        super().__init__(value=value)  # type: ignore[call-arg]  # a field of this class
        self.value = value
        self.kind = kind


class Carrying(ast.expr):
    """A value in the form in which it is carried."""

    _fields: ClassVar[tuple[str, ...]] = ("value",)
    _field_types: ClassVar[dict[str, Any]] = {"value": ast.expr}

    def __init__(self, value: ast.expr) -> None:
        super().__init__(value=value)  # type: ignore[call-arg]  # a field of this class
        self.value = value


def leaving(unit: Unit, node: ast.expr, kind: Any = UNKNOWN) -> ast.expr:
    """Returns an expression where its value leaves the names of the workflow."""
    given = unit.infer(node)
    if holds_named(given):
        check_stays(unit, node, given)
    if not is_carried(given):
        return node
    if isinstance(node, Evaluated) and node.block.exits == ["return"] and kind is UNKNOWN:
        node.leaves = True
        return node
    if isinstance(node, Evaluated | Output):
        node = unit.temporary(unit.value(node), given, node)
    return ast.copy_location(Leaving(node, kind), node)


def carrying(unit: Unit, node: ast.expr, kind: Any) -> ast.expr:
    """Returns an expression where its value is bound to a name whose values are of the type `kind`."""
    if not is_carried(kind) or not (is_foreign(unit.infer(node)) or _may_be_an_object(unit, node)):
        return node
    if isinstance(node, Evaluated | Output):
        node = unit.temporary(unit.value(node), unit.infer(node), node)
    return ast.copy_location(Carrying(node), node)


def _may_be_an_object(unit: Unit, node: ast.expr) -> bool:
    """Whether what a call of the author's returns may be of a class, which its form as JSON would not tell."""
    return unit.infer(node) is UNKNOWN and any(isinstance(part, ast.Call) for part in ast.walk(node))


def carry_parameters(unit: Unit, kinds: Mapping[str, Any]) -> None:
    """Gives parameters whose names are bound to carried values later the form of those. `kinds` are their types as they came."""
    for name, kind in kinds.items():
        if is_carried(unit.kind_of(name)) and is_foreign(kind) and unit.names.is_variable(name):
            unit.set(f"set_{unit.shown.get(name, name)}", {name: carried(unit, unit.texts.reference(f"workflow.{name}"), kind)})


def carried(unit: Unit, value: ast.expr, kind: Any) -> JSON:
    """The value of a name that may be bound to carried values, from a value of the type `kind`."""
    if not is_foreign(kind):
        return unit.texts.template(value)
    given = unit.temporary(value, kind, unit.statement)
    return unit.texts.template(unit.value(ast.copy_location(Carrying(given), given)))


def is_mixed(unit: Unit, node: ast.List | ast.Tuple | ast.Dict) -> bool:
    """Returns whether a display holds a carried value, and Python has to make it: beside one in the form of its type, or in a
    tuple."""
    if not is_carried(unit.infer(node)):
        return False
    parts = node.values if isinstance(node, ast.Dict) else node.elts
    held = (one.value if isinstance(one, ast.Starred) else one for one in parts)
    return isinstance(node, ast.Tuple) or any(is_foreign(unit.infer(part)) for part in held)


def check_mixed(unit: Unit, kind: Any, parts: Iterable[ast.expr]) -> None:
    """Raises `Lift` for a value of a type that is carried, one of whose parts is not."""
    if is_carried(kind) and any(is_foreign(unit.infer(part)) for part in parts):
        raise Lift


def is_open(kind: Any) -> bool:
    """Whether nothing is known of a value, or of what is in it."""
    return kind is UNKNOWN or (kind not in ATOMS and kind is not CARRIED and "unknown" in parts(kind))


def touches_carried(unit: Unit, node: ast.AST) -> bool:
    """Returns whether an expression reads a name whose value may be in the form in which it is carried."""
    if not isinstance(node, ast.expr):
        return False
    names = unit.plan.made_again(unit.origin).names()
    return any(isinstance(part, ast.Name) and (part.id in unit.carried or part.id in names) for part in ast.walk(node))


def is_no_text(kind: Any) -> bool:
    """Whether a key is known to be none that an object of JSON has."""
    return kind not in (str, UNKNOWN, UNSEEN, CARRIED)
