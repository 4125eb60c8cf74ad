"""Compiles the beginning of a flow: its entry or its triggers, and the values of the function's parameters."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stepless.flow.compiler.attachments import LiftedExpression
from stepless.flow.compiler.awaiting.awaits import constant
from stepless.flow.compiler.expressions.lifting import function_name
from stepless.flow.compiler.expressions.reading import as_float
from stepless.flow.compiler.facts.scopes import Settled
from stepless.flow.compiler.facts.types import UNKNOWN, is_dict, is_model, needs_validation, schema_of
from stepless.flow.compiler.unit import Unit
from stepless.model.json import JSON


@dataclass(frozen=True, slots=True)
class Trigger:
    """What starts runs: the kind of an entry, its parameters, and the part of its output that the function takes."""

    kind: str
    params: Mapping[str, JSON] = field(default_factory=dict)
    key: str = ""
    schema: str = ""
    """The parameter that holds the contract of the arguments, if the kind has one."""


def whole_of(kinds: Mapping[str, Any], triggers: Sequence[Trigger]) -> str | None:
    """Returns the parameter that takes the inputs as they are, among those of these types: a single one that is a model or an
    object, or that a trigger fills."""
    if len(kinds) != 1:
        return None
    ((name, kind),) = kinds.items()
    if _takes_all(kind):
        return name
    return name if triggers and (kind is UNKNOWN or not any(trigger.key for trigger in triggers)) else None


def _takes_all(kind: Any) -> bool:
    return is_model(kind) or is_dict(kind)


def begin(unit: Unit, triggers: Sequence[Trigger], named: Settled) -> None:
    """Emits the entries, and binds the parameters."""
    parameters = unit.origin.parameters
    kinds = {one.arg: unit.origin.hint(one.arg) for one in parameters}
    whole = whole_of(kinds, triggers)
    schema = _schema(unit, kinds, whole)
    validated = whole is not None and needs_validation(kinds[whole])
    base = f"{whole}_given" if whole is not None and validated else whole or "start"
    path = _entries(unit, triggers, base, None if validated else schema)
    if whole is not None and validated:
        path = _validated(unit, whole, kinds[whole], path)
    paths = {name: path if name == whole else f"{path}.{name}" for name in kinds}
    for name, kind in kinds.items():
        if name != whole and needs_validation(kind):
            paths[name] = _validated(unit, name, kind, paths[name])
    changed: dict[str, JSON] = {}
    for parameter, kind in kinds.items():
        name, value = named.parameter(parameter), unit.texts.reference(paths[parameter])
        unit.kinds[name] = kind
        unit.bound.add(name)
        if unit.names.is_variable(name):
            changed[name] = unit.texts.template(as_float(unit, kind, value))
        else:
            unit.values[name] = value
    if changed:
        unit.set(f"set_{'_'.join(unit.shown.get(name, name) for name in changed)}", changed)


def _entries(unit: Unit, triggers: Sequence[Trigger], base: str, schema: dict[str, Any] | None) -> str:
    """Emits the entry of a flow, and returns the path of its arguments."""
    if not triggers:
        return unit.emit(unit.new_id(base), "manual", inputs=schema)
    if len(triggers) == 1:
        (trigger,) = triggers
        id = unit.emit(unit.new_id(base), trigger.kind, _with_schema(trigger, schema))
        return f"{id}.{trigger.key}" if trigger.key else id
    after: list[JSON] = []
    for trigger in triggers:
        id = unit.emit(unit.new_id(trigger.kind), trigger.kind, _with_schema(trigger, schema), after=[])
        after.append({"from": id, "key": trigger.key} if trigger.key else id)
    id = unit.emit(unit.new_id(base), "transform", {"value": "<input>"}, after=[])
    unit.level[id]["after"] = after
    return id


def _with_schema(trigger: Trigger, schema: dict[str, Any] | None) -> dict[str, JSON]:
    given = dict(trigger.params)
    return {trigger.schema: schema, **given} if trigger.schema and schema is not None else given


def _validated(unit: Unit, name: str, kind: Any, path: str) -> str:
    """The step that applies a model's validators, aliases and made defaults."""
    id = unit.new_id(name)
    shown = f"{kind.__module__}.{kind.__qualname__}" if is_model(kind) else repr(kind)
    called = function_name(unit.workflow, id, shown, unit.origin.globals.get("__name__", ""))
    unit.lifted.append(LiftedExpression(called, name, {name: kind}, unit.origin.globals))
    unit.emit(id, "function", {"call": called, "args": {name: f"<{path}>"}})
    return id


def _schema(unit: Unit, kinds: Mapping[str, Any], whole: str | None) -> dict[str, Any] | None:
    """The contract of the arguments: a model's own, or an object with a field for each parameter."""
    if whole is not None:
        return schema_of(kinds[whole]) if is_model(kinds[whole]) else {"type": "object"} if _takes_all(kinds[whole]) else None
    if not kinds:
        return None
    definitions: dict[str, Any] = {}
    properties: dict[str, Any] = {}
    defaults = unit.origin.defaults
    for name, kind in kinds.items():
        properties[name] = {} if needs_validation(kind) else schema_of(kind) or {}  # a validator may take what its schema refuses
        definitions |= properties[name].pop("$defs", {})
        if name in defaults:
            properties[name] = {**properties[name], "default": _default(unit, name, defaults[name])}
    required = [name for name in kinds if name not in defaults]
    schema = {"type": "object", "properties": properties, "required": required}
    return {**schema, "$defs": definitions} if definitions else schema


def _default(unit: Unit, name: str, node: ast.expr) -> JSON:
    """The default of a parameter, which the source fixes."""
    return constant(unit, node, f"the default of `{name}` is fixed in the document")
