"""Compiles what a function awaits: steps, other workflows, sleeps, approvals and callbacks. Each becomes a node."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError
from pydantic.errors import PydanticUserError

from stepless.flow.compiler.awaiting.spreads import bound_by_python, is_spread, written_out
from stepless.flow.compiler.expressions.call_types import returned
from stepless.flow.compiler.expressions.carrying import leaving
from stepless.flow.compiler.expressions.hoisting import has_await
from stepless.flow.compiler.expressions.json_values import json_value
from stepless.flow.compiler.facts.types import UNKNOWN, adapter_of, bare, is_model, is_number, schema_of
from stepless.flow.compiler.origin import hints_of, signature_of
from stepless.flow.compiler.unit import Unit
from stepless.flow.words import word_of
from stepless.model.json import JSON

OPTIONS: Final = ("retry", "timeout_ms", "delivery", "label", "concurrency", "rate", "moderation", "moderation_on_error",
                  "output_contract")
"""The fields of a node that `.with_(…)` accepts in addition to `id`."""
_ASKING: Final = {
    "approval": ("message", "timeout", "fields", "approvers", "notify", "reminders", "details", "asked_by"),
    "callback": ("message", "timeout", "fields", "notify"),
}
Arguments = Callable[[Unit, Sequence[ast.expr]], list[ast.expr]]


def callee(unit: Unit, node: ast.expr) -> tuple[Any, dict[str, JSON]]:
    """Returns the function that a call calls, and the options of `.with_(…)`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "with_":
        target, options = callee(unit, node.func.value)
        if node.args:
            unit.refuse(node, "unknown_option", "options of a step have names", f"It has id, {', '.join(OPTIONS)}")
        for keyword in node.keywords:
            if keyword.arg is None:
                unit.refuse(node, "option_not_constant", "options of a step are fixed in the document", "Name them")
            options[keyword.arg] = constant(unit, keyword.value)
        return target, options
    target = unit.static(node)
    return target, dict(getattr(target, "options", {})) if word_of(target) == "step" else {}


def constant(unit: Unit, node: ast.expr, what: str = "options of a step are fixed in the document") -> JSON:
    """Returns a value that the source fixes: a literal, or a name of the module."""
    match node:
        case ast.Constant():
            return node.value
        case ast.List() | ast.Tuple():
            return [constant(unit, element, what) for element in node.elts]
        case ast.Dict() if all(isinstance(key, ast.Constant) for key in node.keys):
            return {key.value: constant(unit, value, what) for key, value in zip(node.keys, node.values, strict=True)}  # type: ignore[union-attr]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.Name() | ast.Attribute():
            value = unit.static(node)
            if isinstance(value, bool | int | float | str | list | dict):
                return value
    mend = "Use a literal, or a constant of the module"
    return unit.refuse(node, "option_not_constant", what, mend)


def wait_for(unit: Unit, node: ast.Await, hint: str | None, arguments: Arguments) -> ast.expr:
    """Emits the node of one await, and refers to its output. `gather` and parts are read elsewhere."""
    call = node.value
    if not isinstance(call, ast.Call):
        mend = "Await a step, a workflow, or a word such as gather or sleep"
        unit.refuse(node, "unknown_await", "only a call can be awaited", mend)
    target, options = callee(unit, call.func)
    if options and word_of(target) != "step":
        unit.refuse(call, "unknown_option", "only a step has options", "Leave `.with_(…)` out")
    match word_of(target):
        case "step":
            return step(unit, call, target, options, hint, arguments)
        case "flow":
            return child(unit, call, target, hint, arguments)
        case "sleep" | "asyncio.sleep" as word:
            return sleep(unit, call, arguments, least=None if word == "sleep" else 0)
        case "approval" | "callback" as kind:
            return ask(unit, call, kind, hint, arguments)
        case "now":
            id = unit.emit(unit.new_id(hint or "now"), "transform", {"value": "{{ now() }}"})
            return unit.texts.reference(id)
        case "wait":
            message = "this wait is not for the first of several calls, whose losers are cancelled"
            waited = "asyncio.wait([a(), b()], return_when=asyncio.FIRST_COMPLETED)"
            mend = f"Write done, pending = await {waited}, or race(a=a(), b=b())"
            unit.refuse(node, "race", message, mend)
    name, module = ast.unparse(call.func), str(getattr(target, "__module__", ""))
    mend = "Await the step itself" if module.partition(".")[0] == "asyncio" else "Put @step(…) above it, or call it without await"
    return unit.refuse(node, "not_a_step", f"`{name}` is not a step", mend)


def bound_arguments(
    unit: Unit, call: ast.Call, name: str, function: Callable[..., Any], *, by_name: bool = False
) -> dict[str, ast.expr]:
    """Returns the arguments of a call by the names of the parameters. Refuses what the signature refuses; `by_name`: and what a
    node, which passes each by its name, cannot pass."""
    if any(isinstance(one, ast.Starred) for one in call.args) or any(keyword.arg is None for keyword in call.keywords):
        unit.refuse(call, "spread_arguments", "the arguments of a step are fixed in the document", "Name them one by one")
    try:
        given = {str(keyword.arg): keyword.value for keyword in call.keywords}
        bound = signature_of(function).bind(*call.args, **given)
    except TypeError as error:
        unit.refuse(call, "bad_arguments", f"{name}: {error}", f"It takes {_shown(function)}")
    kinds = signature_of(function).parameters
    values: dict[str, ast.expr] = {}
    for parameter, value in bound.arguments.items():
        if kinds[parameter].kind is inspect.Parameter.VAR_POSITIONAL:
            unit.refuse(call, "spread_arguments", f"{name} takes `*{parameter}`, and arguments are passed by name", "Pass a list")
        if by_name and kinds[parameter].kind is inspect.Parameter.POSITIONAL_ONLY:
            message = f"{name}: `{parameter}` cannot be passed by name"
            unit.refuse(call, "bad_arguments", message, "Remove the `/` of its signature")
        values |= value if kinds[parameter].kind is inspect.Parameter.VAR_KEYWORD else {parameter: value}
    return values


def _settled(call: ast.Call, unit: Unit, arguments: Arguments) -> ast.Call:
    """A call without awaits in its arguments."""
    given = [*call.args, *(word.value for word in call.keywords)]
    if not any(map(has_await, given)):
        return call
    held = [one.value if isinstance(one, ast.Starred) else one for one in given]
    taken = [
        ast.Starred(value, ast.Load()) if isinstance(one, ast.Starred) else value
        for one, value in zip(given, arguments(unit, held), strict=True)
    ]
    words = [ast.keyword(word.arg, value) for word, value in zip(call.keywords, taken[len(call.args) :], strict=True)]
    return ast.copy_location(ast.Call(call.func, list[ast.expr](taken[: len(call.args)]), words), call)


def _shown(function: Callable[..., Any]) -> str:
    return ", ".join(map(str, signature_of(function).parameters.values())) or "no arguments"


def evaluated(unit: Unit, given: Mapping[str, ast.expr], call: ast.Call, arguments: Arguments) -> dict[str, ast.expr]:
    """Returns the arguments without awaits, evaluated in the order in which they are written."""
    written = [*call.args, *(keyword.value for keyword in call.keywords)]
    taken = dict(zip(map(id, written), arguments(unit, written), strict=True))
    return {name: taken[id(value)] for name, value in given.items()}


def check_types(unit: Unit, call: ast.Call, name: str, function: Callable[..., Any], given: Mapping[str, ast.expr]) -> None:
    """Refuses a literal that the parameter's annotation excludes. Other values are checked when they are there."""
    hints = hints_of(function)
    for parameter, value in given.items():
        kind = bare(hints.get(parameter, UNKNOWN))
        if isinstance(value, ast.Constant) and kind is not UNKNOWN:
            try:
                adapter_of(kind).validate_python(value.value)
            except ValidationError as error:
                message = error.errors(include_url=False)[0]["msg"]
                unit.refuse(call, "bad_arguments", f"{name}: `{parameter}`: {message}", f"It takes {_shown(function)}")
            except (TypeError, PydanticUserError):  # a type without a validator says nothing
                continue


def step(
    unit: Unit, call: ast.Call, target: Any, options: dict[str, JSON], hint: str | None, arguments: Arguments
) -> ast.expr:
    call = written_out(call)
    if is_spread(call):
        call = bound_by_python(unit, _settled(call, unit, arguments), target.name, target.function)
    given = bound_arguments(unit, call, target.name, target.function, by_name=True)
    check_types(unit, call, target.name, target.function, given)
    if unknown := sorted(set(options) - {*OPTIONS, "id"}):
        unit.refuse(call, "unknown_option", f"a step has no option `{unknown[0]}`", f"It has id, {', '.join(OPTIONS)}")
    chosen = options.pop("id", None)
    before = unit.risks
    kinds = hints_of(target.function)
    values = {
        name: json_value(unit, leaving(unit, value, bare(kinds.get(name, UNKNOWN))), bare(kinds.get(name, UNKNOWN)))
        for name, value in evaluated(unit, given, call, arguments).items()
    }
    id = unit.fixed_id(call, chosen) if isinstance(chosen, str) else unit.new_id(hint or target.function.__name__)
    kind = returned(target.function)
    if "output_contract" not in options and is_model(kind):
        options["output_contract"] = schema_of(kind, given=False)
    unit.emit(id, "function", {"call": target.name, "args": values}, **options)
    unit.may_fail(id, mixed=unit.risks > before)
    return unit.texts.reference(id)


def child(unit: Unit, call: ast.Call, target: Any, hint: str | None, arguments: Arguments) -> ast.expr:
    given = bound_arguments(unit, call, target.id, target.function)
    before = unit.risks
    kinds = hints_of(target.function)
    values = {
        name: json_value(unit, leaving(unit, value, bare(kinds.get(name, UNKNOWN))))
        for name, value in evaluated(unit, given, call, arguments).items()
    }
    id = unit.new_id(hint or target.id.replace("-", "_"))
    unit.emit(id, "workflow", {"workflow": target.id, "inputs": target.inputs_of(values)}, timeout_ms=None)
    unit.may_fail(id, mixed=unit.risks > before, inner=True)
    return unit.texts.reference(id)


def sleep(unit: Unit, call: ast.Call, arguments: Arguments, least: int | None = None) -> ast.expr:
    """Emits a wait; `least` is the shortest, which stands for all that are shorter."""
    if len(call.args) != 1 or call.keywords:
        unit.refuse(call, "bad_arguments", "sleep takes one duration", 'Write sleep("15m"), or a number of seconds')
    if isinstance(call.args[0], ast.UnaryOp) and isinstance(call.args[0].op, ast.USub):
        unit.refuse(call, "bad_arguments", "a sleep is not negative", 'Write sleep("15m"), or a number of seconds')
    (node,) = arguments(unit, call.args)
    before = unit.risks
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        duration: JSON = f"{round(node.value * 1000)}ms"
    elif is_number(unit.infer(node)) or _is_arithmetic(unit, node):
        duration = _milliseconds(unit, unit.value(node), least)
    elif least is not None:
        duration = _milliseconds(unit, unit.rules.lifted(unit, _as_seconds(node, least)), None)
    else:
        duration = json_value(unit, node)
    id = unit.emit(unit.new_id("sleep"), "wait", {"for": duration})
    unit.may_fail(id, mixed=unit.risks > before)
    return ast.Name("null", ast.Load())


def _is_arithmetic(unit: Unit, node: ast.expr) -> bool:
    """Whether a document computes a number here, or fails, whatever the types are: of texts it knows the sum alone."""
    if not isinstance(node, ast.BinOp):
        return is_number(unit.infer(node))
    return not isinstance(node.op, ast.Add) or any(_is_arithmetic(unit, one) for one in (node.left, node.right))


def _milliseconds(unit: Unit, seconds: ast.expr, least: int | None) -> JSON:
    whole = f"round({unit.texts.source(ast.BinOp(seconds, ast.Mult(), ast.Constant(1000)))})"
    return f"{{{{ str({whole if least is None else f'max({least}, {whole})'}) }}}}ms"


def _as_seconds(node: ast.expr, least: int) -> ast.expr:
    """Writes the conversion of a value to seconds, as a float. It fails for a value that is no number."""
    longest = ast.Call(ast.Name("max", ast.Load()), [ast.Constant(least), node], [])
    whole = ast.BinOp(longest, ast.Add(), ast.Constant(0.0))
    for part in (whole, longest, *longest.args, longest.func):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, node)
    return whole


def ask(unit: Unit, call: ast.Call, kind: str, hint: str | None, arguments: Arguments) -> ast.expr:
    names = _ASKING[kind]
    given: dict[str, ast.expr] = dict(zip(names[:1], call.args, strict=False))
    if len(call.args) > 1 or any(keyword.arg not in names or keyword.arg in given for keyword in call.keywords):
        unit.refuse(call, "bad_arguments", f"{kind} takes a message, and the rest by name", f"It takes {', '.join(names)}")
    given |= {str(keyword.arg): keyword.value for keyword in call.keywords}
    fixed = {name: constant(unit, given.pop(name)) for name in ("fields",) if name in given}
    order = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg not in fixed)]
    taken = dict(zip(map(id, order), arguments(unit, order), strict=True))
    before = unit.risks
    params = {name: json_value(unit, taken[id(value)]) for name, value in given.items()} | fixed
    node_id = unit.emit(unit.new_id(hint or kind), kind, {"message": "", **params} if kind == "approval" else params)
    unit.may_fail(node_id, mixed=unit.risks > before)
    if kind == "approval":
        exits = ["approved", "rejected", *(["timeout"] if "timeout" in params else [])]
        unit.frontier = [f"{node_id}.{exit}" for exit in exits]
    return unit.texts.reference(node_id)
