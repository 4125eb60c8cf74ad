"""Compiles `race`: concurrent nodes, and a join that takes the first branch which completes and cancels the others.

    payment ─→ payment_won ─┐
    late ────→ late_won ────┼─→ winner         join: {mode: any, losers: cancel}; exits: won, failed
      └ their errors ─→ winner_failed ─┘       join: {mode: every}: the first by place

Every path of a branch leads into the winner, also that of its failure: so the join cancels all of it. A branch that fails is
pruned there. If all fail, `winner_failed` is the branch that is left, and the error leaves by the exit `failed`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final, TypeAlias

from stepless.flow.compiler.awaiting.gathers import awaited, settled_calls
from stepless.flow.compiler.expressions.hoisting import Hoist
from stepless.flow.compiler.expressions.reading import as_float
from stepless.flow.compiler.frames import TryFrame, error_of
from stepless.flow.compiler.refusals import Ended
from stepless.flow.compiler.unit import Unit
from stepless.flow.words import word_of
from stepless.model.json import JSON

Await: TypeAlias = Callable[[Unit, ast.Await, str | None], ast.expr]
_TAKES: Final = ("step", "part", "sleep", "approval", "callback", "receive", "send", "start", "flow")
_FIX: Final = 'Write race(paid=receive("payment"), late=sleep("3d"))'


class Race:
    """Compiles `race`. `await_` emits the nodes of one await."""

    def __init__(self, await_: Await, hoist: Hoist) -> None:
        self._await = await_
        self._hoist = hoist

    def race(self, unit: Unit, call: ast.Call, hint: str | None) -> ast.expr:
        names, calls = _branches(unit, call)
        calls = settled_calls(unit, self._hoist, calls)
        start, frames = unit.frontier, unit.frames
        won: list[str] = []
        failed: list[str] = []
        mixed = False
        for name, one in zip(names, calls, strict=True):
            probe = TryFrame(broad=True, exact=False)
            unit.frontier, unit.frames = None if start is None else [*start], [*frames, probe]
            end = self._branch(unit, name, one)
            unit.frames = frames
            won += [end] if end is not None else []
            failed.append(_failure(unit, name, probe) or f"{end}.error")
            mixed = mixed or probe.mixed
        return _joined(unit, hint or "winner", won, failed, mixed=mixed)

    def _branch(self, unit: Unit, name: str, call: ast.Call) -> str | None:
        """Emits one branch, up to the node that puts out its name and its value. None for one that always fails."""
        known = len(unit.level)
        try:
            kind = unit.infer(awaited(call))
            value = as_float(unit, kind, self._await(unit, awaited(call), name))
        except Ended:
            return None
        fields: dict[str, JSON] = {"name": name, "value": self._absorbed(unit, value, known)}
        return unit.emit(unit.new_id(f"{name}_won"), "transform", {"value": fields})

    def _absorbed(self, unit: Unit, value: ast.expr, known: int) -> JSON:
        """The value of a branch. A node of the branch that does nothing but put it out is taken out again: the shorter the
        branches, the surer that of those that complete in one decision all have ended when the winner is chosen."""
        path = unit.texts.path(value)
        node = unit.level.get(path or "", {})
        last = path is not None and unit.frontier == [path] and path in [*unit.level][known:]
        probe = unit.frames[-1]
        fails = isinstance(probe, TryFrame) and f"{path}.error" in probe.entries
        if not last or fails or node["type"] != "transform" or node.keys() - {"type", "after", "with", "at"}:
            return unit.texts.template(value)
        del unit.level[str(path)]
        after = node.get("after", [])
        unit.frontier = [after] if isinstance(after, str) else list(after)
        absorbed: JSON = node["with"]["value"]
        return absorbed


def _branches(unit: Unit, call: ast.Call) -> tuple[list[str], list[ast.Call]]:
    if call.args or not call.keywords:
        unit.refuse(call, "race", "race takes its branches by name", _FIX)
    names, calls = list[str](), list[ast.Call]()
    for keyword in call.keywords:
        one = keyword.value
        if keyword.arg is None:
            unit.refuse(call, "race", "the branches of a race are fixed in the document", _FIX)
        if not isinstance(one, ast.Call):
            unit.refuse(one, "race", f"`{keyword.arg}` is no call", _FIX)
        function = one.func
        while isinstance(function, ast.Call) and isinstance(function.func, ast.Attribute) and function.func.attr == "with_":
            function = function.func.value
        if word_of(unit.static(function)) not in _TAKES:
            message = f"`{ast.unparse(function)}` is no branch of a race"
            mend = "It takes steps, parts, workflows and words such as sleep and receive; put everything else into a part"
            unit.refuse(one, "race", message, mend)
        names.append(keyword.arg)
        calls.append(one)
    return names, calls


def _failure(unit: Unit, name: str, probe: TryFrame) -> str | None:
    """The exit that carries the failure of a branch; None for one that nothing in it can fail."""
    if len(probe.entries) <= 1 and not probe.inner:
        return probe.entries[0] if probe.entries else None
    merge = {"merge": "array"} if probe.forked else {}
    return unit.emit(unit.new_id(f"{name}_failed"), "transform", {"value": error_of(probe)}, after=probe.entries, **merge)


def _joined(unit: Unit, base: str, won: list[str], failed: list[str], *, mixed: bool) -> ast.expr:
    winner = unit.new_id(base)
    several = {"merge": "array"} if len(failed) > 1 else {}
    error = {"error": "<input[0]>" if several else "<input>"}
    every: JSON = {"mode": "every"}
    lost = unit.emit(unit.new_id(f"{winner}_failed"), "transform", {"value": error}, after=failed, join=every, **several)
    which = {"cases": {"failed": "<input[0].error> != null", "won": "else"}}
    first: JSON = {"mode": "any", "losers": "cancel"}
    unit.emit(winner, "condition", which, after=[*won, lost], join=first, merge="array")
    unit.frontier = [f"{winner}.failed"]
    unit.fail({"error": f"<{winner}[0].error>"}, pure=mixed)
    if not won:
        raise Ended
    unit.frontier = [f"{winner}.won"]
    return unit.texts.reference(f"{winner}[0]")
