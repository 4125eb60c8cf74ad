"""Compiles `send` and `start`: nodes that reach another run, and do not wait for it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, Final

from stepless.flow.compiler.awaiting.awaits import Arguments, bound_arguments, constant
from stepless.flow.compiler.expressions.json_values import json_value
from stepless.flow.compiler.unit import Unit
from stepless.flow.words import word_of
from stepless.model.json import JSON

_FIXED: Final = ("message", "workflow", "start")
_BEGINS: Final = {"key": "key", "delay": "delay", "at": "begin_at"}
"""The arguments that say how a run begins: the name in Python, and that of the field of the node."""
_FLOW: Final = "Pass what @workflow(…) made, or the id of a workflow as a text"
_TO: Final = "Write send(…, to=run_id), or send(…, workflow=order, key=…)"


def send(unit: Unit, call: ast.Call, target: Any, hint: str | None, arguments: Arguments) -> ast.expr:
    """Emits the node of a `send`, and refers to the ids of the runs that have the message."""
    given = {name: value for name, value in bound_arguments(unit, call, "send", target).items() if not _is_null(value)}
    message = constant(unit, given["message"], "the name of a message is fixed in the document") if "message" in given else None
    if not isinstance(message, str):
        unit.refuse(call, "bad_arguments", "the name of a message is a text", 'Write send("payment", …)')
    params: dict[str, JSON] = {"message": message}
    _check_receiver(unit, call, given)
    if "workflow" in given:
        params["workflow"] = _workflow(unit, given["workflow"], message)
    if "start" in given:
        params["start"] = constant(unit, given["start"], "whether a message starts a run is fixed in the document")
    before = unit.risks
    computed = {name: value for name, value in given.items() if name not in _FIXED}
    params |= _values(unit, call, computed, arguments)
    id = unit.emit(unit.new_id(hint or f"send_{message}"), "send", params)
    unit.may_fail(id, mixed=unit.risks > before)
    return unit.texts.reference(f"{id}.delivered")


def start(unit: Unit, call: ast.Call, target: Any, hint: str | None, arguments: Arguments) -> ast.expr:
    """Emits the node of a `start`, and refers to the id of the run."""
    if not call.args or isinstance(call.args[0], ast.Starred):
        unit.refuse(call, "bad_arguments", "start takes a workflow, and then its arguments", _FLOW)
    workflow = _workflow(unit, call.args[0])
    flow = unit.static(call.args[0])
    begins = {str(word.arg): word.value for word in call.keywords if word.arg in _BEGINS and not _is_null(word.value)}
    if {"delay", "at"} <= begins.keys():
        unit.refuse(call, "bad_arguments", "`delay` and `at` both say when the run begins", "Leave one of them out")
    inner = ast.copy_location(
        ast.Call(call.args[0], call.args[1:], [word for word in call.keywords if word.arg not in _BEGINS]), call
    )
    given = _inputs(unit, inner, workflow, flow)
    before = unit.risks
    values = _values(unit, call, {**{f" {name}": value for name, value in begins.items()}, **given}, arguments)
    params = {_BEGINS[name]: values.pop(f" {name}") for name in begins}
    inputs = values[_WHOLE] if _WHOLE in values else values if isinstance(flow, str | None) else flow.inputs_of(values)
    id = unit.new_id(hint or f"start_{workflow.replace('-', '_')}")
    unit.emit(id, "workflow", {"workflow": workflow, "inputs": inputs, "wait": False, **params})
    unit.may_fail(id, mixed=unit.risks > before)
    return unit.texts.reference(f"{id}.run")


_WHOLE: Final = " whole"
"""Stands for the inputs as they are: no parameter has a space in its name."""


def _inputs(unit: Unit, call: ast.Call, workflow: str, flow: Any) -> dict[str, ast.expr]:
    """The arguments of a workflow by name."""
    if word_of(flow) == "flow":
        return bound_arguments(unit, call, workflow, flow.function)
    if any(isinstance(one, ast.Starred) for one in call.args) or any(word.arg is None for word in call.keywords):
        unit.refuse(call, "spread_arguments", "the inputs of a run are fixed in the document", "Name them one by one")
    if len(call.args) > 1 or (call.args and call.keywords):
        message = f"{workflow} is named by its id, so it takes its whole inputs, or their fields by name"
        unit.refuse(call, "bad_arguments", message, 'Write start("order", {"id": "A-1"})')
    return {_WHOLE: call.args[0]} if call.args else {str(word.arg): word.value for word in call.keywords}


def _values(unit: Unit, call: ast.Call, given: Mapping[str, ast.expr], arguments: Arguments) -> dict[str, JSON]:
    """The arguments, evaluated in the order in which they are written."""
    named = {id(value): name for name, value in given.items()}
    order = [one for one in [*call.args, *(word.value for word in call.keywords)] if id(one) in named]
    taken = {named[id(one)]: value for one, value in zip(order, arguments(unit, order), strict=True)}
    return {name: json_value(unit, taken[name]) for name in given}


def _workflow(unit: Unit, node: ast.expr, message: str | None = None) -> str:
    """The id of a workflow. With `message`, one that has such a message."""
    flow = unit.static(node)
    if word_of(flow) != "flow":
        found = constant(unit, node, "the workflow is fixed in the document")
        return found if isinstance(found, str) else unit.refuse(node, "bad_arguments", "this is no workflow", _FLOW)
    if message is not None and message not in flow.messages.fields:
        known = ", ".join(flow.messages.fields) or "none"
        unit.refuse(node, "bad_arguments", f"{flow.id} declares no message `{message}`", f"It declares {known}")
    return str(flow.id)


def _check_receiver(unit: Unit, call: ast.Call, given: Mapping[str, ast.expr]) -> None:
    directed, keyed = "to" in given, "workflow" in given and "key" in given
    if directed is keyed or (directed and ("workflow" in given or "key" in given)):
        unit.refuse(call, "bad_arguments", "a message goes to one run, or to the runs of a key", _TO)
    idle = [name for name in ("start", "inputs", "keep") if directed and name in given]
    if idle:
        unit.refuse(call, "bad_arguments", f"`{idle[0]}` has no effect on a message to one run", "Leave it out")


def _is_null(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
