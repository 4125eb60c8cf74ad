"""Compiles the await of a value that names a function: a condition over those that it may name, with one node for each."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, ClassVar, Final, TypeAlias

from stepless.flow.compiler.awaiting.gathers import awaited
from stepless.flow.compiler.awaiting.spreads import is_spread
from stepless.flow.compiler.expressions.hoisting import Hoist
from stepless.flow.compiler.expressions.json_values import json_value
from stepless.flow.compiler.facts.functions import ARGS, CALL, MIXED, NAMED, Member, is_named
from stepless.flow.compiler.facts.types import solid
from stepless.flow.compiler.origin import signature_of
from stepless.flow.compiler.refusals import Ended
from stepless.flow.compiler.unit import Unit
from stepless.limits import MAX_CASES

Await: TypeAlias = Callable[[Unit, ast.Await, str | None], ast.expr]
_FITS: Final = "Pass what the functions take"
_APART: Final = "Keep functions in a list or an object of their own, so that it is known what each value names"


class Static(ast.expr):
    """Stands for a function of which a value says that it is the one."""

    _fields: ClassVar[tuple[str, ...]] = ()

    def __init__(self, target: Any) -> None:
        super().__init__()
        self.target = target


def is_dispatch(unit: Unit, call: ast.Call) -> bool:
    """Returns whether a call calls a value that names a function."""
    return unit.static(call.func) is None and not isinstance(call.func, Static) and is_named(solid(unit.infer(call.func)))


class Dispatch:
    """Compiles such calls. `await_` emits the node of one await."""

    def __init__(self, await_: Await, hoist: Hoist) -> None:
        self._await = await_
        self._hoist = hoist

    def dispatch(self, unit: Unit, call: ast.Call, hint: str | None) -> ast.expr:
        kind = solid(unit.infer(call.func))
        if kind is MIXED:
            message = f"it is not known which function `{ast.unparse(call.func)}` names"
            unit.refuse(call, "not_a_step", message, _APART)
        if len(kind.members) > MAX_CASES:
            message = f"`{ast.unparse(call.func)}` may name more than {MAX_CASES} functions"
            unit.refuse(call, "not_a_step", message, "Group them in parts")
        given = [*call.args, *(word.value for word in call.keywords)]
        function, *values = self._hoist.settled(unit, [call.func, *given])
        path = self._path(unit, function)
        arguments = values[: len(call.args)]
        words = [ast.keyword(word.arg, value) for word, value in zip(call.keywords, values[len(call.args) :], strict=True)]
        if len(kind.members) == 1:
            return self._await(unit, awaited(_bound(unit, kind.members[0], path, arguments, words, call)), hint)
        return self._one_of(unit, kind.members, path, lambda one: _bound(unit, one, path, arguments, words, call), call, hint)

    def _path(self, unit: Unit, function: ast.expr) -> str:
        """The value, as the output of a node."""
        value = unit.value(function)
        if not unit.texts.is_settled(value):
            id = unit.emit(unit.new_id("function"), "transform", {"value": unit.texts.template(value)})
            unit.may_fail(id, pure=True)
            return id
        return str(unit.texts.path(value))

    def _one_of(
        self, unit: Unit, members: tuple[Member, ...], path: str, bound: Callable[[Member], ast.Call], call: ast.Call,
        hint: str | None,
    ) -> ast.expr:  # fmt: skip
        name, ends, fits = unit.made_name("value"), list[str](), False
        cases = {f"call_{place}": f"<{path}.{CALL}> == {_quoted(unit, one.tag)}" for place, one in enumerate(members[:-1])}
        id = unit.emit(unit.new_id("which"), "condition", {"cases": {**cases, "else": "else"}})
        exits = [*cases, "else"]
        for exit, member in zip(exits, members, strict=True):
            unit.frontier = [f"{id}.{exit}"]
            inner = bound(member)
            one = awaited(inner)
            if (unfit := _misfit(member, inner)) is not None:
                unit.fail({"error": {"class": "processing", "code": "type_error", "message": unfit, "node": id}}, pure=True)
                continue
            fits = True
            try:
                value = unit.temporary(self._await(unit, one, hint), unit.infer(one), one)
                unit.set("set_value", {name: json_value(unit, value)})
                ends += unit.frontier or []
            except Ended:
                continue
        if not fits:
            unit.refuse(call, "bad_arguments", f"none of what `{ast.unparse(call.func)}` may name takes these arguments", _FITS)
        unit.frontier = ends or None
        if not ends:
            raise Ended
        return unit.texts.reference(f"workflow.{name}")


def _bound(
    unit: Unit, member: Member, path: str, arguments: list[ast.expr], words: list[ast.keyword], call: ast.Call
) -> ast.Call:
    """The call of one function, with the arguments that are bound to it first."""
    first = [
        unit.temporary(unit.texts.reference(f"{path}.{ARGS}[{place}]"), kind, call) for place, kind in enumerate(member.args)
    ]
    known = {word.arg for word in words}
    further = [
        ast.keyword(name, unit.temporary(unit.texts.reference(f"{path}.{NAMED}.{name}"), kind, call))
        for name, kind in member.named if name not in known
    ]
    function = ast.copy_location(Static(member.target), call)
    return ast.copy_location(ast.Call(function, [*first, *arguments], [*further, *words]), call)


def _misfit(member: Member, call: ast.Call) -> str | None:
    """Why the arguments do not fit a function, as Python says it."""
    if is_spread(call):
        return None
    try:
        signature_of(member.target.function).bind(*call.args, **{str(word.arg): word.value for word in call.keywords})
    except TypeError as error:
        return f"{member.target.function.__name__}() {error}"
    return None


def _quoted(unit: Unit, text: str) -> str:
    return unit.texts.source(unit.texts.quoted(text))
