"""Compiles one function to a document, or refuses it with all of its faults at once. Nothing of the function is executed.

The promise is that a run of the document does what the function would do, and that a source for which this cannot be shown is
refused. Hence the passes are in this order, and each may rely on what those before it have established:

1. `scopes` renames local names, so that one name stands for one thing in all that follows: a comprehension's `x` and the
   function's `x` are two names from here on. Before that, no fact about a name would be a fact about one variable.
2. `names` finds where each name is bound and read, and so whether it becomes a node or a run variable.
3. `begin` writes the entries; `local_types` infers types to a fixed point, since the types of names depend on one another in
   loops.
4. `aliases` finds values that may have two names. A document has values only, so a change in place of a shared value is refused
   instead of being seen through one name and not through the other.
5. The statements are compiled. A statement that is refused is noted, and the next one is read, so that an author sees all faults;
   `faults` replaces what was refused by a value of which nothing is known, so that a fault has no faults that follow from it.

If anything was refused, no document is returned, however much of it exists: a part of a program is another program.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stepless.flow.compiler.attachments import LiftedBlock, LiftedExpression, PartSource
from stepless.flow.compiler.blocks.plan import Plan, check_globals
from stepless.flow.compiler.entries import Trigger, begin
from stepless.flow.compiler.expressions.carrying import carry_parameters
from stepless.flow.compiler.expressions.local_types import learn
from stepless.flow.compiler.facts.aliases import parameters_of, sharing_of
from stepless.flow.compiler.facts.names import names_of
from stepless.flow.compiler.facts.scopes import settled
from stepless.flow.compiler.facts.types import UNBOUND
from stepless.flow.compiler.origin import Origin
from stepless.flow.compiler.refusals import FlowRefused, Refusal, Remark
from stepless.flow.compiler.statements.statement import Reading
from stepless.flow.compiler.unit import RETURN, Unit
from stepless.flow.words import MESSAGE
from stepless.limits import MAX_FLOW_STEPS, MAX_SOURCE_DEPTH, MAX_SOURCE_PARTS
from stepless.model.json import JSON


@dataclass(frozen=True, slots=True)
class Written:
    """A document that was compiled, what the process has to evaluate for it, and warnings."""

    document: dict[str, JSON]
    lifted: Sequence[LiftedExpression | LiftedBlock]
    warnings: Sequence[Remark]


def compile_function(
    origin: Origin, workflow: str, triggers: Sequence[Trigger] = (), fields: Mapping[str, JSON] | None = None, *,
    lift: str = "auto", messages: Mapping[str, Any] | None = None, part_of: Callable[[Any], Any] | None = None,
    readings: list[Unit] | None = None,
) -> Written:
    """Returns the document of a function. `fields` are further fields of the document, `messages` the types of the data of its
    messages, by name; `part_of` says which part a coroutine without a decorator stands for. `lift` is `auto`, `function` or
    `never`. What is known of each reading of the source is appended to `readings`. Raises `FlowRefused`."""
    reading, plan = Reading(), Plan()
    while True:
        unit = Unit(workflow, origin, reading.rules, lift, plan)
        unit.messages = messages or {}
        unit.part_of = part_of or unit.part_of
        if readings is not None:
            readings.append(unit)
        try:
            return _compiled(unit, reading, triggers, fields or {})
        except FlowRefused as refused:
            faults = plan.faults(refused.findings, unit.refused)
            may_be_lifted = plan.extended(unit.refused)
            if faults and may_be_lifted:
                raise FlowRefused(faults) from None
            if not may_be_lifted:
                raise
        except RecursionError:
            message = "its statements are nested deeper than a compiler can read"
            raise FlowRefused([_too_large(origin, origin.tree, message)]) from None


def _too_large(origin: Origin, node: ast.AST, message: str) -> Remark:
    return Remark(origin.file, origin.line(node), "expression_too_large", message, "Split it over several statements")


def _compiled(unit: Unit, reading: Reading, triggers: Sequence[Trigger], fields: Mapping[str, JSON]) -> Written:
    origin = unit.origin
    named = settled(origin.tree, unit.plan.body(origin))
    if named.deep:
        message = f"an expression of a workflow nests at most {MAX_SOURCE_DEPTH} deep"
        raise FlowRefused([_too_large(origin, statement, message) for statement in named.deep])
    body = named.body
    unit.shown |= named.shown
    try:
        if unit.messages:
            unit.new_id(MESSAGE)  # no node has this id: where a message is examined, it names the message
        _check_parameters(unit)
        check_globals(unit, origin)
        names = names_of(body, [named.parameter(one.arg) for one in origin.parameters])
        names.strict = {named.parameter(name) for name in unit.plan.strict(origin)}
        unit.names.update(names)
        unit.variables |= dict.fromkeys(sorted(names.strict), UNBOUND)
        begin(unit, triggers, named)
        given = dict(unit.kinds)
        learn(unit, names)
        carry_parameters(unit, given)
        given_to = [named.parameter(one.arg) for one in origin.parameters]
        unit.sharing = sharing_of(body, reading.facts(unit), parameters_of(given_to))
        unit.block(body)
        unit.statement = body[-1]
        if unit.frontier is not None:
            unit.jump("return", {RETURN: None})
    except Refusal as refusal:
        unit.note(refusal)
    if unit.findings:
        raise FlowRefused(sorted(dict.fromkeys(unit.findings)))
    return Written(_document(unit, fields), unit.lifted, sorted(unit.warnings))


def _check_parameters(unit: Unit) -> None:
    arguments = unit.origin.tree.args
    for extra, stars in ((arguments.vararg, "*"), (arguments.kwarg, "**")):
        if extra is not None:
            unit.refuse(extra, "parameters", f"`{stars}{extra.arg}` has no contract", "Name the parameters")


def _document(unit: Unit, fields: Mapping[str, JSON]) -> dict[str, JSON]:
    origin = unit.origin
    document: dict[str, JSON] = {"id": unit.workflow}
    description = ast.get_docstring(origin.tree)
    if description:
        document["description"] = description
    if unit.variables:
        document["variables"] = dict(unit.variables)
    document |= {"max_steps": MAX_FLOW_STEPS, **fields, "nodes": unit.level}
    made_by: dict[str, JSON] = {"language": "python", "file": origin.file, "function": origin.name, "source": origin.text}
    if unit.sources:
        made_by["parts"] = [_part(one) for one in [*unit.sources.values()][:MAX_SOURCE_PARTS]]
    return {**document, "made_by": made_by}


def _part(part: PartSource) -> dict[str, JSON]:
    origin = part.origin
    made: dict[str, JSON] = {
        "file": origin.file, "function": origin.name, "first": origin.first + 1, "source": origin.text,
    }
    return {**made, "nodes": part.nodes} if part.nodes else made
