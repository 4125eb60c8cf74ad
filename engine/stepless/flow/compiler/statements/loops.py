"""Compiles `for` and `while`: a container whose iterations are in order, with the jumps out of it behind it."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from stepless.flow.compiler.awaiting.deadlines import times_out
from stepless.flow.compiler.expressions.carrying import carried
from stepless.flow.compiler.expressions.expression import truth
from stepless.flow.compiler.expressions.hoisting import Hoist, has_await
from stepless.flow.compiler.expressions.loop_targets import ITERATIONS, Targets, check_items, check_values, iterations
from stepless.flow.compiler.facts.names import bindings, bound_in
from stepless.flow.compiler.facts.types import is_carried
from stepless.flow.compiler.frames import DeadlineFrame, FinallyFrame, LoopFrame, PartFrame
from stepless.flow.compiler.refusals import Lift, Refusal
from stepless.flow.compiler.statements.assignments import Assigning
from stepless.flow.compiler.unit import Unit
from stepless.flow.words import word_of
from stepless.model.json import JSON


class Looping:
    """Reads loops."""

    def __init__(self, hoist: Hoist, assigning: Assigning) -> None:
        self._hoist = hoist
        self._assigning = assigning

    def for_(self, unit: Unit, statement: ast.For) -> None:
        target = statement.target
        id = unit.new_id(f"for_{unit.shown.get(target.id, target.id)}" if isinstance(target, ast.Name) else "for_each")
        before = unit.risks
        if isinstance(statement.iter, ast.Call) and word_of(unit.static(statement.iter.func)) == "as_completed":
            mend = "Write for x in await asyncio.gather(*[f(y) for y in ys])"
            unit.note(Refusal(statement.iter, "gather", "which call ends next is known to no graph", mend))
            unit.bound |= bound_in(statement)
            return  # the calls in it, and their awaits, have this cause too
        check_values(unit, statement.iter)
        params, targets = iterations(unit, id, self._hoist.expression(unit, statement.iter), target)
        self._loop(unit, statement, id, params, statement.body, targets, risky=unit.risks > before)

    def while_(self, unit: Unit, statement: ast.While) -> None:
        id = unit.new_id(f"while_{unit.shown.get(about := _subject(statement.test), about)}")
        before = unit.risks
        text, body = self._test(unit, statement)
        self._loop(unit, statement, id, {"while": text}, body, {}, risky=unit.risks > before)

    def _test(self, unit: Unit, statement: ast.While) -> tuple[JSON, list[ast.stmt]]:
        """The test that the container makes, and the body. A test that takes nodes of its own stands in the body."""
        test = statement.test
        if isinstance(test, ast.Constant) and test.value:
            return True, statement.body
        before, warnings = unit.risks, list(unit.warnings)
        try:
            if has_await(test):
                raise Lift
            truth(unit, test)
            expressed = unit.express(test)
            if unit.risks > before and unit.is_exact():
                raise Lift
            return unit.texts.source(expressed), statement.body
        except Lift:
            unit.risks, unit.warnings = before, warnings
        stop = ast.If(ast.UnaryOp(ast.Not(), test), [ast.Break()], [])
        for node in (stop, stop.test, stop.body[0]):
            ast.copy_location(node, test)
        return True, [stop, *statement.body]

    def _loop(
        self, unit: Unit, statement: ast.For | ast.While, id: str, params: Mapping[str, JSON], body: list[ast.stmt],
        targets: Targets, *, risky: bool,
    ) -> None:
        frame = LoopFrame(unit.next(), id, bool(statement.orelse))
        if frame.has_else:
            unit.set(f"reset_{id}", {f"broke_{frame.number}": False})
        unit.last |= _last(body)
        with unit.inside(frame) as level:
            if isinstance(statement, ast.For):
                check_items(unit, id, statement.iter, statement.target)
            changed = {
                name: _bound_to(unit, statement, name, value) for name, value in targets.items() if unit.names.is_variable(name)
            }
            if changed:
                self._assigning.write(unit, changed, risky=any("[" in str(value) for value in changed.values()))
            unit.values |= {name: value for name, value in targets.items() if name not in changed}
            unit.bound |= targets.keys()
            unit.block(body)
            if unit.frontier is not None:
                frame.turns.append(set(unit.bound))
            if not level:
                unit.emit(unit.new_id("nothing"), "transform", {"value": None})
        keeps = {"keep_writes": True} if unit.is_caught() else {}
        unit.emit(id, "loop", {**params, "max_iterations": ITERATIONS, "results": "none", **keeps, "body": {"nodes": level}})
        unit.may_fail(id, mixed=frame.risky or risky, inner=True)
        endless = params.get("while") is True
        if endless and frame.breaks:
            unit.bound |= set.intersection(*frame.breaks)
        if isinstance(statement, ast.For) and _runs(unit, statement.iter) and (frame.turns or frame.breaks):
            unit.bound |= set.intersection(*frame.turns, *frame.breaks)
        self._behind(unit, id, frame, ends=not endless or bool(frame.breaks))
        if frame.has_else and unit.frontier is not None:
            self._else(unit, id, frame, statement.orelse)

    def deadline(self, unit: Unit, body: list[ast.stmt], limit_ms: int) -> None:
        """Statements that have this long: a container that runs them once."""
        id = unit.new_id("within")
        frame = DeadlineFrame(unit.next(), id)
        with unit.inside(frame) as level:
            unit.block(body)
            if not level:
                unit.emit(unit.new_id("nothing"), "transform", {"value": None})
            ends, bound = unit.frontier is not None, set(unit.bound)
        keeps = {"keep_writes": True} if unit.is_caught() else {}
        unit.emit(id, "loop", {"times": 1, "results": "none", **keeps, "body": {"nodes": level}}, timeout_ms=limit_ms)
        times_out(unit, id)
        unit.bound |= bound if ends else set()
        self._behind(unit, id, frame, ends=ends)

    def _behind(self, unit: Unit, id: str, frame: LoopFrame, *, ends: bool) -> None:
        """Goes on with the jumps that left the loop. `ends`: the loop may also end by itself."""
        if not frame.escapes:
            unit.frontier = unit.frontier if ends else None
            return
        exit = f"exit_{frame.number}"
        unit.variables.setdefault(exit, None)
        if not ends and len(frame.escapes) == 1:
            unit.jump(frame.escapes[0])
            return
        forgets: dict[str, JSON] = {exit: None} if _is_stopped(unit) else {}
        cases = {kind: f"<workflow.{exit}> == '{kind}'" for kind in frame.escapes}
        which = unit.emit(unit.new_id(f"after_{id}"), "condition", {"cases": {**cases, "else": "else"}})
        for kind in frame.escapes:
            unit.frontier = [f"{which}.{kind}"]
            unit.jump(kind, forgets)
        unit.frontier = [f"{which}.else"] if ends else None

    def _else(self, unit: Unit, id: str, frame: LoopFrame, body: list[ast.stmt]) -> None:
        cases = {"broke": f"<workflow.broke_{frame.number}>", "else": "else"}
        which = unit.emit(unit.new_id(f"else_{id}"), "condition", {"cases": cases})
        bound = set(unit.bound)
        unit.frontier = [f"{which}.else"]
        unit.block(body)
        unit.frontier = [f"{which}.broke", *(unit.frontier or [])]
        unit.bound = bound


def _bound_to(unit: Unit, statement: ast.For | ast.While, name: str, value: ast.expr) -> JSON:
    """The value of a variable that is a target of a loop, in an iteration."""
    if isinstance(statement, ast.For) and is_carried(unit.kind_of(name)):
        return carried(unit, value, unit.infer(dict(bindings(statement.target, statement))[name]))
    return unit.texts.template(value)


def _last(body: list[ast.stmt]) -> set[ast.AST]:
    """Each `try` behind which the iteration of a loop ends."""
    match body[-1:]:
        case [ast.If() as branch]:
            return _last(branch.body) | _last(branch.orelse)
        case [ast.Try() as tried]:
            return {tried}
    return set()


def _runs(unit: Unit, over: ast.expr) -> bool:
    """Whether a loop over something certainly runs once."""
    match over:
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return any(not isinstance(one, ast.Starred) for one in items)
        case ast.Constant(value=str() as text):
            return bool(text)
        case ast.Call(func=ast.Name(id="range"), args=ends, keywords=[]) if unit.is_builtin(over.func, "range"):
            values = [one.value for one in ends if isinstance(one, ast.Constant) and type(one.value) is int]
            return len(values) == len(ends) and 1 <= len(ends) <= 2 and len(range(*values)) > 0
        case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]) if unit.is_builtin(over.func, "enumerate"):
            return _runs(unit, inner)
    return False


def _is_stopped(unit: Unit) -> bool:
    """Whether a jump from here ends, or may end, inside of a loop: at a `finally`, or at the end of a part. The loop may run on,
    and come here again."""
    kinds = [type(frame) for frame in unit.frames]
    stops = [place for place, kind in enumerate(kinds) if kind in (FinallyFrame, PartFrame)]
    return bool(stops) and LoopFrame in kinds[: stops[-1]]


def _subject(test: ast.expr) -> str:
    names = (part.id.strip("_") for part in ast.walk(test) if isinstance(part, ast.Name))
    return next((name for name in names if name), "true")


