"""Compiles the tasks of asyncio: a group, whose tasks are side by side and end with the first failure; a task that begins beside
the workflow; and the wait for the first that ends."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final, TypeAlias

from stepless.flow.compiler.awaiting.gathers import awaited, settled_calls
from stepless.flow.compiler.expressions.carrying import carried
from stepless.flow.compiler.expressions.hoisting import Hoist
from stepless.flow.compiler.facts.types import ERROR, TAG
from stepless.flow.compiler.frames import TryFrame, error_of
from stepless.flow.compiler.refusals import Ended
from stepless.flow.compiler.unit import Unit
from stepless.flow.words import word_of
from stepless.model.json import JSON

Await: TypeAlias = Callable[[Unit, ast.Await, str | None], ast.expr]
Over: TypeAlias = Callable[[Unit, ast.expr, "str | None", str], ast.expr]
_GROUP: Final = "unhandled errors in a TaskGroup (1 sub-exception)"
_ALONE: Final = ("step", "sleep", "asyncio.sleep")


class Tasks:
    """Compiles them. `await_` emits the nodes of one await, `over` those of one await for each item of a collection."""

    def __init__(self, await_: Await, hoist: Hoist, over: Over) -> None:
        self._await = await_
        self._hoist = hoist
        self._over = over

    # -- groups -------------------------------------------------------------------------------------------------------

    def group(self, unit: Unit, call: ast.Call, hint: str | None) -> ast.expr:
        if isinstance(call.args[0], ast.Starred):
            return self._group_over(unit, call.args[0].value, hint)
        calls = settled_calls(unit, self._hoist, [one for one in call.args if isinstance(one, ast.Call)])
        start, frames, found = unit.frontier, unit.frames, list[ast.expr]()
        ends: list[str] | None = []
        failed: list[str] = []
        for one in calls:
            probe = TryFrame(broad=True, exact=False)
            unit.frontier, unit.frames = None if start is None else [*start], [*frames, probe]
            try:
                found.append(self._await(unit, awaited(one), None))
                ends = None if ends is None else [*ends, *(unit.frontier or [])]
            except Ended:
                ends = None
                found.append(ast.Name("null", ast.Load()))
            unit.frames = frames
            failed += probe.entries
        unit.frontier = ends
        if failed:
            self._ended(unit, ends, failed)
        return ast.copy_location(ast.List(found, ast.Load()), call)

    def _ended(self, unit: Unit, ends: list[str] | None, failed: list[str]) -> None:
        """The node behind a group: all tasks have ended, or one has failed and the others are cancelled."""
        after = []
        if ends is not None:
            after.append(unit.emit(unit.new_id("group_done"), "transform", {"value": {"done": True}}, after=ends))
        first: JSON = {"mode": "any"}
        several = {"merge": "array"} if len(failed) > 1 else {}
        after.append(unit.emit(
            unit.new_id("group_failed"), "transform", {"value": {"failed": True}}, after=failed, join=first, **several,
        ))
        which: JSON = {"failed": "<input[0].failed> == true", "done": "else"}
        ended: JSON = {"mode": "any", "losers": "cancel"}
        id = unit.emit(unit.new_id("group"), "condition", {"cases": which}, after=after, join=ended, merge="array")
        unit.frontier = [f"{id}.failed"]
        _fail(unit, id)
        if ends is None:
            raise Ended
        unit.frontier = [f"{id}.done"]

    def _group_over(self, unit: Unit, node: ast.expr, hint: str | None) -> ast.expr:
        element = node.elt if isinstance(node, ast.ListComp) else node
        if isinstance(element, ast.Call) and word_of(unit.static(element.func)) not in _ALONE:
            message = f"`{ast.unparse(element.func)}` is no step, and a failure has to cancel the others while they go on"
            unit.refuse(node, "gather", message, "Create these tasks one by one, or write gather(*[…])")
        probe = TryFrame(broad=True, exact=False)
        unit.frames.append(probe)
        try:
            value = self._over(unit, node, hint, "parallel")
        finally:
            unit.frames.remove(probe)
        ends = unit.frontier
        if probe.entries:
            unit.frontier = list(probe.entries)
            _fail(unit, unit.texts.path(value) or "group")
            unit.frontier = ends
        return value

    # -- a task beside the workflow -----------------------------------------------------------------------------------

    def begin(self, unit: Unit, name: str, call: ast.expr) -> None:
        """Begins a task: its nodes are beside those of the statements that follow."""
        assert isinstance(call, ast.Call)
        (given,) = settled_calls(unit, self._hoist, [call])
        start, kind = unit.frontier, unit.infer(awaited(call))
        ended = self._settled(unit, unit.shown.get(name, name), given, kind)
        unit.frontier = start
        unit.tasks[name] = ended
        unit.values[name] = unit.texts.reference(f"{ended}.value")
        unit.bound.add(name)

    def end(self, unit: Unit, name: str) -> ast.expr:
        """Waits for a task that was begun."""
        ended = unit.tasks[name]
        cases: JSON = {"failed": f"<{ended}.error> != null", "done": "else"}
        id = unit.emit(unit.new_id(f"await_{unit.shown.get(name, name)}"), "condition", {"cases": cases},
                       after=[*(unit.frontier or []), ended])  # fmt: skip
        unit.frontier = [f"{id}.failed"]
        unit.fail({"error": f"<{ended}.error>"}, pure=True)
        unit.frontier = [f"{id}.done"]
        return unit.texts.reference(f"{ended}.value")

    def _settled(self, unit: Unit, name: str, call: ast.Call, kind: object) -> str:
        """The node that puts out what a task has returned, or its failure."""
        probe, ends, frames = TryFrame(broad=True, exact=False), list[str](), unit.frames
        unit.frames = [*frames, probe]
        try:
            value = unit.texts.template(self._await(unit, awaited(call), name))
            ends.append(unit.emit(unit.new_id(f"{name}_returned"), "transform", {"value": {"value": value}}))
        except Ended:
            pass
        unit.frames = frames
        if probe.entries:
            merge = {"merge": "array"} if probe.forked else {}
            failure: JSON = {"error": error_of(probe)}
            ends.append(unit.emit(unit.new_id(f"{name}_failed"), "transform", {"value": failure}, after=probe.entries, **merge))
        return unit.emit(unit.new_id(f"{name}_ended"), "transform", {"value": "<input>"}, after=ends)

    # -- the first that ends ------------------------------------------------------------------------------------------

    def first(self, unit: Unit, call: ast.Call, hint: str | None) -> ast.expr:
        """Returns the place of the call that ends first, and what it returned or failed with."""
        calls = settled_calls(unit, self._hoist, [one for one in call.args if isinstance(one, ast.Call)])
        start, frames, ends = unit.frontier, unit.frames, list[str]()
        for place, one in enumerate(calls):
            probe = TryFrame(broad=True, exact=False)
            unit.frontier, unit.frames = None if start is None else [*start], [*frames, probe]
            try:
                value = carried(unit, self._await(unit, awaited(one), None), unit.infer(awaited(one)))
                ends.append(unit.emit(unit.new_id("returned"), "transform", {"value": [place, value]}))
            except Ended:
                pass
            unit.frames = frames
            if probe.entries:
                merge = {"merge": "array"} if probe.forked else {}
                error: JSON = [place, {TAG: ERROR, "value": error_of(probe)}]
                ends.append(unit.emit(unit.new_id("failed"), "transform", {"value": error}, after=probe.entries, **merge))
        several = {"merge": "array"} if len(ends) > 1 else {}
        id = unit.emit(
            unit.new_id(hint or "first"), "transform", {"value": "<input[0]>" if several else "<input>"}, after=ends,
            join={"mode": "any", "losers": "cancel"}, **several,
        )
        return unit.texts.reference(id)


def _fail(unit: Unit, id: str) -> None:
    unit.fail({"error": {"class": "processing", "code": "exception_group", "message": _GROUP, "node": id}}, pure=True)
