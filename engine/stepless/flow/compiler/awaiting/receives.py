"""Compiles `receive`: a node that waits for a message, with its `where` as an expression over the message."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final

from pydantic import BeforeValidator

from stepless.flow.compiler.attachments import LiftedExpression
from stepless.flow.compiler.awaiting.awaits import Arguments, constant
from stepless.flow.compiler.expressions.expression import truth
from stepless.flow.compiler.expressions.json_values import json_value
from stepless.flow.compiler.expressions.lifting import function_name
from stepless.flow.compiler.expressions.reading import as_float
from stepless.flow.compiler.facts.types import UNKNOWN, field_says_more, is_as_sent
from stepless.flow.compiler.refusals import Lift
from stepless.flow.compiler.trees import copied
from stepless.flow.compiler.unit import Unit
from stepless.flow.words import MESSAGE
from stepless.model.json import JSON

_TAKES: Final = ("name", "where", "key", "timeout")
_LAMBDA: Final = "Write where=lambda m: m.amount >= order.amount"


def receive(unit: Unit, call: ast.Call, hint: str | None, arguments: Arguments) -> ast.expr:
    """Emits the node of a `receive`, and refers to what it puts out."""
    given = _given(unit, call)
    name = constant(unit, given.pop("name"), "the name of a message is fixed in the document")
    if not isinstance(name, str):
        unit.refuse(call, "bad_arguments", "the name of a message is a text", 'Write receive("payment")')
    kind, where = unit.messages.get(name, UNKNOWN), given.pop("where", None)
    taken = dict(zip(given, arguments(unit, [*given.values()]), strict=True))
    before = unit.risks
    params: dict[str, JSON] = {"message": name}
    if where is not None:
        params["where"] = condition(unit, where, kind)
    params |= {word: json_value(unit, value) for word, value in taken.items()}
    id = unit.emit(unit.new_id(hint or name), "receive", params)
    unit.may_fail(id, mixed=unit.risks > before or "key" in params)
    return _received(unit, id, kind)


def _given(unit: Unit, call: ast.Call) -> dict[str, ast.expr]:
    """The arguments by name, in the order in which they are written, without those that are None."""
    given: dict[str, ast.expr] = dict(zip(_TAKES[:1], call.args, strict=False))
    named = [keyword.arg for keyword in call.keywords]
    wrong = len(call.args) > 1 or any(word not in _TAKES or word in given for word in named)
    if wrong or "name" not in [*given, *named]:
        message = "receive takes the name of a message, and the rest by name"
        unit.refuse(call, "bad_arguments", message, f"It takes {', '.join(_TAKES)}")
    given |= {str(keyword.arg): keyword.value for keyword in call.keywords}
    return {word: value for word, value in given.items() if not (isinstance(value, ast.Constant) and value.value is None)}


# -- where ------------------------------------------------------------------------------------------------------------


def condition(unit: Unit, node: ast.expr, kind: Any) -> str:
    """Returns the expression over `<message>` for a lambda over a message. Refuses what no expression says exactly: nothing else
    can be evaluated for each message."""
    if not isinstance(node, ast.Lambda):
        unit.refuse(node, "where", f"`{_told(unit, node)}` is no lambda, and a document holds no function", _LAMBDA)
    arguments = node.args
    plain = not (arguments.posonlyargs or arguments.kwonlyargs or arguments.vararg or arguments.kwarg or arguments.defaults)
    if len(arguments.args) != 1 or not plain:
        unit.refuse(node, "where", "a condition on messages takes the message, and nothing else", _LAMBDA)
    name = arguments.args[0].arg
    outer, before = (unit.values, unit.kinds, unit.bound, unit.hidden), unit.risks
    unit.values = {**unit.values, name: unit.texts.reference(MESSAGE)}
    unit.kinds, unit.bound, unit.hidden = {**unit.kinds, name: kind}, {*unit.bound, name}, unit.hidden - {name}
    try:
        _check_fields(unit, node, name, kind)
        return _expressed(unit, node, before)
    finally:
        unit.values, unit.kinds, unit.bound, unit.hidden = outer


def _expressed(unit: Unit, node: ast.Lambda, before: int) -> str:
    body = node.body
    try:
        truth(unit, body)
        expressed = unit.express(body)
    except Lift:
        message = f"`{_told(unit, body)}` is no expression of a document, and it is evaluated for each message"
        mend = "Compute before it what does not depend on the message, or declare the types of its fields"
        unit.refuse(node, "where", message, mend)
    if unit.risks > before and unit.is_exact():
        message = f"`{_told(unit, body)}` may fail, and a handler around it asks which exception that is"
        unit.refuse(node, "where", message, "Take the receive out of the try")
    return unit.texts.source(expressed)


def _told(unit: Unit, node: ast.expr) -> str:
    """An expression as its author wrote it."""
    whole = copied(node)
    for part in ast.walk(whole):
        if isinstance(part, ast.Name):
            part.id = unit.shown.get(part.id, part.id)
    return ast.unparse(whole)


def _check_fields(unit: Unit, node: ast.Lambda, name: str, kind: Any) -> None:
    """Refuses a field whose value the model of the message may change: the condition reads the data as they were sent."""
    if kind is UNKNOWN:
        return
    for part in ast.walk(node.body):
        if not isinstance(part, ast.Attribute) or not isinstance(part.value, ast.Name) or part.value.id != name:
            continue
        if part.attr in kind.model_fields and field_says_more(kind, part.attr):
            message = f"`{part.attr}` of {kind.__name__} has a default, an alias or a validator, which no condition applies"
            unit.refuse(node, "where", message, "Declare the field without them, or examine another one")


# -- the data ---------------------------------------------------------------------------------------------------------


def _received(unit: Unit, id: str, kind: Any) -> ast.expr:
    """What the workflow gets: the output of the node, or the model of the message, without what else the node puts out."""
    if kind is UNKNOWN:
        return unit.texts.reference(id)
    if is_as_sent(kind):
        path = f"{id}.data" if MESSAGE in kind.model_fields else id
        fields: dict[str, JSON] = {
            name: unit.texts.template(as_float(unit, field.annotation, unit.texts.reference(f"{path}.{name}")))
            for name, field in kind.model_fields.items()
        }
        return unit.texts.reference(unit.emit(unit.new_id(f"{id}_data"), "transform", {"value": fields}))
    made = unit.new_id(f"{id}_data")
    shown = f"{kind.__module__}.{kind.__qualname__}"
    called = function_name(unit.workflow, made, shown, unit.origin.globals.get("__name__", ""))
    whole: Any = Annotated[kind, BeforeValidator(_without_facts(kind))]
    unit.lifted.append(LiftedExpression(called, "data", {"data": whole}, unit.origin.globals))
    unit.emit(made, "function", {"call": called, "args": {"data": f"<{id}>"}})
    unit.may_fail(made, pure=True)
    return unit.texts.reference(made)


def _without_facts(kind: Any) -> Callable[[Any], Any]:
    """What takes the data of a message out of the output of its node (`core.deciding.messages.output_of`)."""

    def data(output: Any) -> Any:
        if not isinstance(output, Mapping) or isinstance(output, kind):
            return output
        own = output.get("data")
        if isinstance(own, Mapping) and MESSAGE in own:
            return own  # the data has a field of this name, and so is whole
        return {name: value for name, value in output.items() if name != MESSAGE}

    return data
