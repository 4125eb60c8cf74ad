"""Inlines parts: compiles the statements of an `@part` function where it is called."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from stepless.flow.compiler.attachments import PartSource
from stepless.flow.compiler.awaiting.awaits import Arguments, bound_arguments, evaluated
from stepless.flow.compiler.awaiting.spreads import written_out
from stepless.flow.compiler.blocks.plan import check_globals
from stepless.flow.compiler.expressions.carrying import carry_parameters
from stepless.flow.compiler.expressions.local_types import learn
from stepless.flow.compiler.expressions.reading import among_others, as_float
from stepless.flow.compiler.facts.alias_state import Value
from stepless.flow.compiler.facts.alias_values import Facts, is_immutable
from stepless.flow.compiler.facts.aliases import CALLER, sharing_of
from stepless.flow.compiler.facts.functions import holds_named
from stepless.flow.compiler.facts.names import names_of
from stepless.flow.compiler.facts.scopes import settled
from stepless.flow.compiler.facts.types import UNBOUND, promised
from stepless.flow.compiler.frames import PartFrame
from stepless.flow.compiler.origin import Origin
from stepless.flow.compiler.refusals import Refusal
from stepless.flow.compiler.rewriting.variadic import fitted
from stepless.flow.compiler.trees import copied
from stepless.flow.compiler.unit import Unit
from stepless.limits import MAX_NESTED_PARTS, MAX_SOURCE_DEPTH

Evaluate: TypeAlias = Callable[[Unit, ast.expr, str], ast.expr]
Knowing: TypeAlias = Callable[[Unit], Facts]


def inline(
    unit: Unit, call: ast.Call, part: Any, origin: Origin, hint: str | None, arguments: Arguments,
    facts: Knowing, evaluate: Evaluate,
) -> ast.expr:
    """Writes the statements of a part behind the frontier. Returns what it returns."""
    call = written_out(call)
    if (origin.tree.args.vararg or origin.tree.args.kwarg) and (fits := fitted(part, origin, call)) is not None:
        part, call = fits
        origin = part.origin()
    if part in unit.parts:
        message = f"`{origin.name}` calls itself, and a graph is finite"
        unit.refuse(call, "recursion", message, "Write a loop, or make it a workflow")
    if (changed := getattr(part, "changed", None)) is not None:
        message = f"`{origin.name}` reads `{changed[0]}`, which `{changed[1]}` changes"
        unit.refuse(call, "not_a_step", message, "Pass it as an argument, or write a step that reads it")
    if len(unit.parts) >= MAX_NESTED_PARTS:
        unit.refuse(call, "recursion", f"more than {MAX_NESTED_PARTS} parts inside of each other", "Make one of them a workflow")
    if origin.tree.args.vararg or origin.tree.args.kwarg:
        unit.refuse(call, "parameters", f"`{origin.name}` takes any number of arguments", "Name the parameters")
    named = settled(origin.tree, unit.plan.body(origin))
    if named.deep:
        message = f"an expression of `{origin.name}` nests deeper than {MAX_SOURCE_DEPTH}"
        unit.refuse(call, "expression_too_large", message, "Split it over several statements")
    check_globals(unit, origin)
    number = unit.next()
    given = evaluated(unit, bound_arguments(unit, call, origin.name, part.function), call, arguments)
    parameters = {one.arg: renamed(named.parameter(one.arg), number) for one in origin.parameters}
    local = {named.parameter(one.arg) for one in origin.parameters} | names_of(named.body).bound.keys()
    body = [_Renamed(local, number).visit(copied(statement)) for statement in named.body]
    unit.shown |= {renamed(name, number): named.shown.get(name, name) for name in local}
    outer = (unit.origin, unit.error, unit.statement, unit.sharing, unit.bound, unit.foreign, unit.hidden)
    callers = frozenset(unit.values) | frozenset(unit.names.bound)
    _bind(unit, origin, parameters, given, callers, getattr(part, "closure", frozenset()))
    if unit.foreign is None and not origin.is_beside(unit.origin):
        unit.foreign = unit.origin, unit.statement
    names = names_of(body, parameters.values())
    names.strict = {renamed(named.parameter(name), number) for name in unit.plan.strict(origin)}
    unit.names.update(names)
    if names.strict:
        unit.set(f"reset_{origin.name}", dict.fromkeys(sorted(names.strict), UNBOUND))
    unit.parts.append(part)
    unit.origin, unit.error, unit.statement, unit.hidden = origin, None, origin.tree, callers
    unit.sources.setdefault(origin.key, PartSource(origin, {}))
    kinds = {name: unit.kind_of(name) for name in parameters.values()}
    learn(unit, names)
    callers_own = Value(frozenset({CALLER}), frozenset({CALLER}))
    shown = {name for one, name in parameters.items() if not is_immutable(origin.hint(one))}
    unit.sharing = sharing_of(body, facts(unit), dict.fromkeys(shown, callers_own))
    unit.bound = {*parameters.values()}
    _copy_changed(unit, origin, parameters)
    carry_parameters(unit, kinds)
    try:
        return _written(unit, body, number, hint or origin.name, evaluate)
    finally:
        unit.parts.pop()
        unit.origin, unit.error, unit.statement, unit.sharing, unit.bound, unit.foreign, unit.hidden = outer


def renamed(name: str, number: int) -> str:
    return f"{name}_{number}_"


class _Renamed(ast.NodeTransformer):
    """Gives the local names of a part names that no other statement has."""

    def __init__(self, local: set[str], number: int) -> None:
        self._number = number
        self._local = local

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(self._name(node.id), node.ctx), node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        node.name = self._name(node.name) if node.name else None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.arg:  # of a lambda
        node.arg = self._name(node.arg)
        return node

    def _name(self, name: str) -> str:
        return renamed(name, self._number) if name in self._local else name


def _bind(
    unit: Unit, origin: Origin, parameters: Mapping[str, str], given: Mapping[str, ast.expr], callers: frozenset[str],
    closure: frozenset[str],
) -> None:
    """Gives the parameters their arguments, and the others their defaults."""
    for parameter, name in parameters.items():
        if parameter in given:
            inferred = unit.infer(given[parameter])
            kind = inferred if parameter in closure or holds_named(inferred) else promised(origin.hint(parameter), inferred)
            value = unit.value(given[parameter])
            value = value if kind is float else among_others(unit, given[parameter], value)
        else:
            outer = unit.origin, unit.hidden
            unit.origin, unit.hidden = origin, callers
            kind = promised(origin.hint(parameter), unit.infer(origin.defaults[parameter]))
            value = unit.value(origin.defaults[parameter])
            unit.origin, unit.hidden = outer
        if not unit.texts.is_settled(value) and not isinstance(value, ast.Constant):
            id = unit.emit(unit.new_id(parameter), "transform", {"value": unit.texts.template(value)})
            unit.may_fail(id, pure=True)
            value = unit.texts.reference(id)
        unit.values[name], unit.kinds[name] = value, kind
        unit.carry(name, kind)


def _copy_changed(unit: Unit, origin: Origin, parameters: Mapping[str, str]) -> None:
    """Makes variables of the parameters that the part assigns again."""
    changed = {
        name: unit.texts.template(as_float(unit, unit.kind_of(name), unit.values.pop(name)))
        for name in parameters.values()
        if unit.names.is_variable(name)
    }
    if changed:
        unit.set(f"set_{origin.name}", changed)


def _written(unit: Unit, body: list[ast.stmt], number: int, hint: str, evaluate: Evaluate) -> ast.expr:
    returns = [node for statement in body for node in ast.walk(statement) if isinstance(node, ast.Return)]
    frame = PartFrame(number, f"result_{number}")
    unit.frames.append(frame)
    try:
        if not returns or (len(returns) == 1 and returns[0] is body[-1]):
            return _straight(unit, body, returns, hint, evaluate)
        unit.block(body)
        if unit.frontier is not None:
            unit.jump("return", {frame.result: None})
        unit.variables.setdefault(frame.result, None)
        unit.frontier = frame.entries or None
        return unit.texts.reference(f"workflow.{frame.result}")
    finally:
        unit.frames.pop()


def _straight(unit: Unit, body: list[ast.stmt], returns: list[ast.Return], hint: str, evaluate: Evaluate) -> ast.expr:
    """A part that returns once, at its end: its value needs no variable."""
    nothing = ast.Name("null", ast.Load())
    unit.block(body[: len(body) - len(returns)])
    if unit.frontier is None or not returns or returns[0].value is None:
        return nothing
    unit.statement = returns[0]
    try:
        return evaluate(unit, returns[0].value, hint)
    except Refusal as refusal:
        unit.note_all(returns[0], refusal)
        return unit.texts.reference("unread")
