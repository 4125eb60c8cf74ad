"""Dispatches each statement of a function to the module that compiles its family."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

from stepless.flow.compiler.awaiting.awaits import callee, wait_for
from stepless.flow.compiler.awaiting.deadlines import limit_of, waited
from stepless.flow.compiler.awaiting.dispatches import Dispatch, is_dispatch
from stepless.flow.compiler.awaiting.gathers import Gather
from stepless.flow.compiler.awaiting.parts import inline
from stepless.flow.compiler.awaiting.races import Race
from stepless.flow.compiler.awaiting.receives import receive
from stepless.flow.compiler.awaiting.sends import send, start
from stepless.flow.compiler.awaiting.tasks import Tasks
from stepless.flow.compiler.blocks.emitting import evaluate
from stepless.flow.compiler.blocks.kinds import inside, outputs
from stepless.flow.compiler.contracts import Rules
from stepless.flow.compiler.expressions.carrying import carrying, leaving
from stepless.flow.compiler.expressions.choosing import as_returns, as_statement
from stepless.flow.compiler.expressions.expression import express
from stepless.flow.compiler.expressions.hoisting import Hoist, has_await
from stepless.flow.compiler.expressions.inference import is_scalar, known
from stepless.flow.compiler.expressions.json_values import json_value
from stepless.flow.compiler.expressions.lifting import lift
from stepless.flow.compiler.expressions.naming import kind_of
from stepless.flow.compiler.facts.alias_values import Facts
from stepless.flow.compiler.facts.block_nodes import Evaluated
from stepless.flow.compiler.facts.functions import is_named
from stepless.flow.compiler.facts.names import IN_PLACE, names_in
from stepless.flow.compiler.facts.types import is_atom, is_carried, item_of, solid
from stepless.flow.compiler.faults import further
from stepless.flow.compiler.refusals import Ended, Lift
from stepless.flow.compiler.statements.assignments import Assigning
from stepless.flow.compiler.statements.branches import branch, chained
from stepless.flow.compiler.statements.loops import Looping
from stepless.flow.compiler.statements.raising import assert_, raise_
from stepless.flow.compiler.statements.tries import try_
from stepless.flow.compiler.unit import Unit
from stepless.flow.words import word_of

_WITHOUT_COUNTERPART: Final[dict[str, tuple[str, str]]] = {
    "With": ("an await inside of `with`", "Take what it gives into a name, and await behind it"),
    "Match": ("match", "Write if and elif"), "Global": ("global", "Return the value from a step"),
    "Nonlocal": ("nonlocal", "Return the value from a step"),
    "Import": ("an import in a workflow", "Import at the top of the file"),
    "ImportFrom": ("an import in a workflow", "Import at the top of the file"),
    "FunctionDef": ("a function in a workflow", "Move it to the module"),
    "AsyncFunctionDef": ("a function in a workflow", "Move it to the module, as a step or part"),
    "ClassDef": ("a class in a workflow", "Move it to the module"), "Delete": ("del", "Assign None"),
    "AsyncFor": ("async for", "Collect the items in a step"),
    "TryStar": ("except*", "Write except"), "TypeAlias": ("type", "Move it to the module"),
}  # fmt: skip
_YIELDS: Final = (ast.Yield, ast.YieldFrom)


class Reading:
    """Everything that reads the source, connected."""

    def __init__(self) -> None:
        self._gather = Gather(self._await)
        self._hoist = Hoist(self._await, self._gather.each)
        self._race = Race(self._await, self._hoist)
        self._dispatch = Dispatch(self._await, self._hoist)
        self._tasks = Tasks(self._await, self._hoist, self._gather.over)
        self._assigning = Assigning(self._await, self._hoist)
        self._looping = Looping(self._hoist, self._assigning)
        taken = self._hoist.expressions
        self._words: dict[str, Callable[[Unit, ast.Call, Any, str | None], ast.expr]] = {
            "gather": lambda unit, call, target, hint: self._gather.gather(unit, call, hint),
            "race": lambda unit, call, target, hint: self._race.race(unit, call, hint),
            "group": lambda unit, call, target, hint: self._tasks.group(unit, call, hint),
            "first": lambda unit, call, target, hint: self._tasks.first(unit, call, hint),
            "wait_for": lambda unit, call, target, hint: waited(unit, call, hint, self._await, self._hoist),
            "receive": lambda unit, call, target, hint: receive(unit, call, hint, taken),
            "send": lambda unit, call, target, hint: send(unit, call, target, hint, taken),
            "start": lambda unit, call, target, hint: start(unit, call, target, hint, taken),
            "part": self._part,
        }
        self.rules = Rules(self._statement, chained, express, lift, evaluate, known, kind_of, outputs, further)

    def facts(self, unit: Unit) -> Facts:
        """What is known of the expressions of a function: whether a change in place may show in their values."""

        def within(node: Evaluated) -> Facts:
            kinds = {one: unit.infer(given) for one, given in zip(node.block.inputs, node.arguments, strict=True)}
            return self.facts(inside(unit, node.block, kinds))

        return Facts(
            scalar=lambda node: is_scalar(unit, node), flat=lambda node: is_atom(item_of(known(unit, node))),
            copied=lambda node: not any(isinstance(part, ast.Call) and _may_be_part(unit, part.func) for part in ast.walk(node)),
            static=unit.static, local=unit.is_local, inside=within,
        )

    def _await(self, unit: Unit, node: ast.Await, hint: str | None) -> ast.expr:
        call = node.value
        if isinstance(call, ast.Name) and call.id in unit.tasks:
            return self._tasks.end(unit, call.id)
        if isinstance(call, ast.Call):
            target: Any = callee(unit, call.func)[0]
            if target is None and is_dispatch(unit, call):
                return self._dispatch.dispatch(unit, call, hint)
            rule = self._words.get(word_of(target))
            if rule is not None:
                return rule(unit, call, target, hint)
        return wait_for(unit, node, hint, self._hoist.expressions)

    def _part(self, unit: Unit, call: ast.Call, target: Any, hint: str | None) -> ast.expr:
        value = inline(
            unit, call, target, target.origin(), hint, self._hoist.expressions, self.facts, self._result_of_part,
        )
        if unit.frontier is None:
            raise Ended
        return value

    # -- statements -------------------------------------------------------------------------------------------------

    def _statement(self, unit: Unit, statement: ast.stmt) -> None:  # noqa: C901  # a table of the statements
        match statement:
            case ast.Pass():
                return
            case ast.Expr():
                self._expression(unit, statement)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(args=[begun]) as call) if (
                word_of(unit.static(call.func)) == "begin"
            ):
                self._tasks.begin(unit, name, begun)
            case ast.Assign(targets=[target]):
                before = set(unit.bound)
                self._lifted(unit, statement, lambda: self._assigning.assign(unit, target, statement.value))
                _leave(unit, statement, before)
            case ast.Assign():
                unit.refuse(statement, "mutation", "one value for several names", "Assign to each name")
            case ast.AnnAssign(value=None):
                return
            case ast.AnnAssign(value=ast.expr() as value):
                self._lifted(unit, statement, lambda: self._assigning.assign(unit, statement.target, value))
            case ast.AugAssign():
                self._assigning.augment(unit, statement)
            case ast.If():
                branch(unit, statement, self._hoist, self._assigning.write)
            case ast.AsyncWith():
                self._within(unit, statement)
            case ast.For():
                self._looping.for_(unit, statement)
            case ast.While():
                self._looping.while_(unit, statement)
            case ast.Try():
                try_(unit, statement, self._hoist)
            case ast.Raise():
                raise_(unit, statement, self._hoist)
            case ast.Assert():
                assert_(unit, statement, lambda test: branch(unit, test, self._hoist, self._assigning.write))
            case ast.Return():
                self._return(unit, statement)
            case ast.Break():
                unit.jump("break")
            case ast.Continue():
                unit.jump("continue")
            case _:
                what, mend = _WITHOUT_COUNTERPART.get(
                    type(statement).__name__, (type(statement).__name__.lower(), "Write it with if, for, while, try and steps")
                )
                unit.refuse(statement, "no_such_construct", f"{what} has no counterpart in a graph", mend)

    def _within(self, unit: Unit, statement: ast.AsyncWith) -> None:
        """`async with`: a time limit."""
        limit = limit_of(unit, statement)
        if limit is None:
            unit.block(statement.body)
        else:
            self._looping.deadline(unit, statement.body, limit)

    def _lifted(self, unit: Unit, statement: ast.stmt, assign: Any) -> None:
        try:
            assign()
        except Lift:
            unit.refuse(statement, "mutation", "this value cannot be unpacked here", "Assign it to one name, and read its items")

    def _return(self, unit: Unit, statement: ast.Return) -> None:
        if statement.value is None:
            unit.jump("return", {unit.result(): None})
            return
        returns = as_returns(statement.value, has_await)
        if returns is not None:
            self._statement(unit, returns)
            return
        taken = self._returned(unit, self._hoist.expression(unit, statement.value))
        before = unit.risks
        value = json_value(unit, taken)
        unit.jump("return", {unit.result(): value}, risky=unit.risks > before)

    def _returned(self, unit: Unit, value: ast.expr) -> ast.expr:
        """The value of a `return`, in the form that its reader takes: JSON of a workflow, that of its annotation of a part."""
        kind = unit.returned_kind()
        return carrying(unit, value, kind) if is_carried(kind) else leaving(unit, value)

    def _result_of_part(self, unit: Unit, value: ast.expr, hint: str) -> ast.expr:
        if is_carried(unit.returned_kind()) or is_carried(unit.infer(value)):
            value = self._returned(unit, self._hoist.expression(unit, value))
        return self._assigning.evaluate(unit, value, hint)

    def _expression(self, unit: Unit, statement: ast.Expr) -> None:
        value = statement.value
        match value:
            case ast.Constant():
                return
            case ast.Await():
                self._await(unit, value, None)
            case Evaluated():
                unit.value(value)
                if not value.block.exits:
                    raise Ended
            case ast.BoolOp() | ast.IfExp() if (chosen := as_statement(value, has_await)) is not None:
                self._statement(unit, chosen)
            case ast.ListComp(elt=ast.Await()) if len(value.generators) == 1 and not any(map(has_await, value.generators[0].ifs)):
                self._gather.each(unit, value)
            case ast.Call(func=ast.Attribute(attr=method, value=ast.Name(id=name)), args=[item], keywords=[]) if (
                method in IN_PLACE and unit.is_local(name)
            ):
                self._assigning.append(unit, value, name, item)
            case ast.Call():
                self._call(unit, value)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() if has_await(value):
                self._hoist.expression(unit, value)
            case _ if isinstance(value, _YIELDS):
                unit.refuse(statement, "no_such_construct", "yield has no counterpart in a graph", "Return a list, or loop here")
            case _:
                unit.refuse(statement, "no_effect", "this statement does nothing", "Assign it, or take it out")

    def _call(self, unit: Unit, call: ast.Call) -> None:
        """A call for its effect: a helper of the module, such as `print`, runs as a node of its own."""
        function = call.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and unit.is_local(function.value.id):
            unit.refuse(call, "mutation", f"`.{function.attr}()` changes a value in place", "Assign a new value to the name")
        taken = self._hoist.expression(unit, call)
        try:
            unit.express(taken)
        except Lift:
            unit.risk()
            unit.rules.lifted(unit, taken)


def _leave(unit: Unit, statement: ast.Assign, before: set[str]) -> None:
    """Behind a block that may leave a name without a value: it has one for certain only if it had one in front."""
    deletes = getattr(statement, "leaves_unbound", None)
    if deletes is not None:
        unit.bound -= {name for name in names_in(statement.targets[0]) if deletes or name not in before}


def _may_be_part(unit: Unit, function: ast.expr) -> bool:
    """Whether a part is called, or a value that may name one."""
    target = unit.static(function)
    if target is not None:
        return word_of(target) == "part"
    kind = solid(unit.infer(function))
    return is_named(kind) and (not kind.members or any(word_of(one.target) == "part" for one in kind.members))
