"""Compiles `gather` and lists of awaits: concurrent nodes, or a body that runs once per item."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from stepless.flow.compiler.expressions.carrying import carried
from stepless.flow.compiler.expressions.hoisting import Hoist, has_await
from stepless.flow.compiler.expressions.loop_targets import ITERATIONS, check_items, iterations, listed, unsure_target
from stepless.flow.compiler.facts.types import ERROR, TAG
from stepless.flow.compiler.frames import LoopFrame, TryFrame, error_of
from stepless.flow.compiler.refusals import Ended, Lift
from stepless.flow.compiler.rewriting.words import WINDOW
from stepless.flow.compiler.unit import Unit
from stepless.flow.words import word_of
from stepless.model.json import JSON

Await: TypeAlias = Callable[[Unit, ast.Await, str | None], ast.expr]
_AROUND: Final = ("gather", "wait_for")  # words whose arguments are calls
_WINDOW: Final = 200  # the widest: Python starts all of them


class Gather:
    """Reads `gather` and comprehensions of awaits. `await_` emits the node of one await."""

    def __init__(self, await_: Await) -> None:
        self._await = await_
        self._hoist = Hoist(await_, self.each)

    def gather(self, unit: Unit, call: ast.Call, hint: str | None) -> ast.expr:
        kept = keeps_failures(unit, call)
        if len(call.args) == 1 and isinstance(call.args[0], ast.Starred):
            return self.over(unit, call.args[0].value, hint, "parallel", kept=kept, window=_window_of(call))
        calls = [argument.value if isinstance(argument, ast.Await) else argument for argument in call.args]
        if not calls or any(not isinstance(one, ast.Call) for one in calls) or any(isinstance(a, ast.Await) for a in call.args):
            mend = "Write gather(a(), b()) or gather(*[a(x) for x in xs])"
            unit.refuse(call, "gather", "gather takes calls, or * and one comprehension", mend)
        if any(word_of(unit.static(one.func)) == "race" for one in calls if isinstance(one, ast.Call)):
            unit.refuse(call, "gather", "a race is no branch of gather", "Put the race into a part, and gather the part")
        given = settled_calls(unit, self._hoist, [one for one in calls if isinstance(one, ast.Call)])
        if kept or any(self._is_part(unit, one) for one in given):
            return self._branches(unit, given, hint, kept=kept, window=_window_of(call))
        return self._side_by_side(unit, call, given)

    def each(self, unit: Unit, node: ast.ListComp, hint: str | None = None) -> ast.expr:
        """Compiles `[await f(x) for x in xs]`: one after the other."""
        return self.over(unit, node, hint, "loop")

    def _is_part(self, unit: Unit, call: ast.Call) -> bool:
        return word_of(unit.static(call.func)) in ("part", "gather")

    def _side_by_side(self, unit: Unit, call: ast.Call, calls: list[ast.Call]) -> ast.expr:
        """Nodes behind the same frontier. With a handler, it waits for all of their errors and takes the first by place, and a
        node lets control pass only if none failed."""
        start, ends, found = unit.frontier, [], []
        caught = unit.is_caught_here() and len(calls) > 1
        frames, errors = unit.frames, list[str]()
        mixed = inner = False
        for one in calls:
            unit.frontier = start
            if caught:
                probe = TryFrame(broad=True, exact=False)
                unit.frames = [*frames, probe]
            found.append(self._await(unit, awaited(one), None))
            ends += unit.frontier or []
            if caught:
                errors += probe.entries
                mixed, inner = mixed or probe.mixed, inner or probe.inner
        unit.frames, unit.frontier = frames, ends
        for exit in errors:
            unit.may_fail("", mixed=mixed, inner=inner, exit=exit, forked=True)
        if caught:
            unit.emit(unit.new_id("gathered"), "join", join={"mode": "every"})
        return ast.copy_location(ast.List(found, ast.Load()), call)

    def _branches(self, unit: Unit, calls: list[ast.Call], hint: str | None, *, kept: bool, window: int) -> ast.expr:
        """Branches of several nodes each: a container with one iteration for each call."""
        id = unit.new_id(hint or "gather")
        frame = LoopFrame(unit.next(), id)
        with unit.inside(frame) as body:
            cases = {f"call_{place}": f"<{id}.index> == {place}" for place in range(len(calls))}
            which = unit.emit(unit.new_id(f"which_{id}"), "condition", {"cases": cases})
            for place, one in enumerate(calls):
                unit.frontier = [f"{which}.call_{place}"]
                self._iteration(unit, awaited(one), kept=kept)
        unit.emit(id, "parallel", {"branches": len(calls), "window": window, "body": {"nodes": body}})
        unit.may_fail(id, mixed=frame.risky, inner=True)
        return unit.texts.reference(id)

    def over(
        self, unit: Unit, node: ast.expr, hint: str | None, kind: str, *, kept: bool = False, window: int = _WINDOW
    ) -> ast.expr:
        if not isinstance(node, ast.ListComp | ast.GeneratorExp) or len(node.generators) != 1:
            mend = "Write gather(*[step(x) for x in items])"
            unit.refuse(node, "gather", "it takes one comprehension over one collection", mend)
        generator = node.generators[0]
        if generator.is_async:
            unit.refuse(node, "no_such_construct", "async for has no counterpart in a graph", "Collect the items in a step")
        over, target, elt = self._hoist.expression(unit, generator.iter), generator.target, node.elt
        if kind == "parallel" and isinstance(elt, ast.Call) and self._may_fail(unit, elt, over, target):
            over, target, elt = self._given(unit, elt, ast.comprehension(target, over, generator.ifs, 0))
        elif generator.ifs:
            filtered = ast.ListComp(_loaded(target), [ast.comprehension(target, over, generator.ifs, 0)])
            over = ast.copy_location(filtered, node)
        over = listed(over) if kind == "parallel" and unit.is_builtin(getattr(over, "func", over), "range") else over
        id = unit.new_id(hint or (f"each_{unit.shown.get(target.id, target.id)}" if isinstance(target, ast.Name) else "each"))
        params, targets = iterations(unit, id, over, target)
        frame = LoopFrame(unit.next(), id)
        with unit.inside(frame) as body:
            check_items(unit, id, over, target)
            unit.values |= targets
            unit.bound |= targets.keys()
            self._iteration(unit, elt if isinstance(elt, ast.Await) else awaited(elt), kept=kept)
        wide = {"window": window} if kind == "parallel" else {}
        unit.emit(id, kind, {**params, **wide, "max_iterations": ITERATIONS, "body": {"nodes": body}})
        unit.may_fail(id, mixed=True, inner=True)
        return unit.texts.reference(id)

    def _may_fail(self, unit: Unit, call: ast.Call, over: ast.expr, target: ast.expr) -> bool:
        """Whether it may fail to evaluate the arguments of the calls, which Python does before it starts any of them."""
        written = [*call.args, *(keyword.value for keyword in call.keywords)]
        if any(isinstance(one, ast.Starred) for one in written) or any(keyword.arg is None for keyword in call.keywords):
            return False  # refused below
        if any(map(has_await, written)) or unsure_target(unit, over, target) is not None:
            return True
        values, bound, before = dict(unit.values), set(unit.bound), unit.risks
        for name in (part.id for part in ast.walk(target) if isinstance(part, ast.Name)):
            unit.values[name] = unit.texts.reference(name)
            unit.bound.add(name)
        try:
            for one in written:
                unit.express(one)
        except Lift:
            return True
        finally:
            unit.values, unit.bound, risky = values, bound, unit.risks > before
            unit.risks = before
        return risky

    def _given(self, unit: Unit, call: ast.Call, iterations: ast.comprehension) -> tuple[ast.expr, ast.expr, ast.expr]:
        """What a comprehension of calls runs over, its target and its element, with the arguments evaluated first."""
        written = [*call.args, *(keyword.value for keyword in call.keywords)]
        names = [unit.made_name("given") for _ in written]
        for name, value in zip(names, written, strict=True):
            unit.kinds[name] = unit.infer(value)
            unit.carry(name, unit.kinds[name])
        several = len(names) > 1
        value = ast.Tuple(written, ast.Load()) if several else written[0]
        over = ast.copy_location(ast.ListComp(value, [iterations]), call)
        targets = [ast.Name(name, ast.Store()) for name in names]
        target = ast.Tuple(list[ast.expr](targets), ast.Store()) if several else targets[0]
        read = iter([ast.copy_location(ast.Name(name, ast.Load()), call) for name in names])
        arguments = [next(read) for _ in call.args]
        keywords = [ast.keyword(keyword.arg, next(read)) for keyword in call.keywords]
        return over, ast.copy_location(target, call), ast.copy_location(ast.Call(call.func, list(arguments), keywords), call)

    def _iteration(self, unit: Unit, node: ast.Await, *, kept: bool) -> None:
        """One branch or iteration, which ends with the value of an await, or with its failure if that is `kept`."""
        if kept:
            self._settled(unit, node)
            return
        try:
            self._result(unit, self._await(unit, node, None))
        except Ended:
            unit.frontier = None

    def _settled(self, unit: Unit, node: ast.Await) -> None:
        kind, ends = unit.infer(node), list[str]()
        probe = TryFrame(broad=True, exact=False)
        unit.frames.append(probe)
        try:
            value = carried(unit, self._await(unit, node, None), kind)
            ends.append(unit.emit(unit.new_id("returned"), "transform", {"value": value}))
        except Ended:
            pass
        finally:
            unit.frames.remove(probe)
        if probe.entries:
            merge = {"merge": "array"} if probe.forked else {}
            error: JSON = {TAG: ERROR, "value": error_of(probe)}
            ends.append(unit.emit(unit.new_id("failed"), "transform", {"value": error}, after=probe.entries, **merge))
        unit.emit(unit.new_id("result"), "transform", {"value": "<input>"}, after=ends)

    def _result(self, unit: Unit, value: ast.expr) -> None:
        """Makes a value the result of its iteration: the output of the body's last node."""
        path = unit.texts.path(value)
        if unit.frontier is None or (path is not None and {exit.partition(".")[0] for exit in unit.frontier} == {path}):
            return
        unit.emit(unit.new_id("result"), "transform", {"value": unit.texts.template(value)})


def keeps_failures(unit: Unit, call: ast.Call) -> bool:
    """Returns whether a `gather` returns failures among its results."""
    for word in call.keywords:
        if word.arg not in ("return_exceptions", WINDOW) or not isinstance(word.value, ast.Constant):
            mend = "Write gather(a(), b()), with return_exceptions=True or without"
            unit.refuse(call, "gather", "gather takes calls, and a fixed return_exceptions", mend)
    fixed = {word.arg: word.value.value for word in call.keywords if isinstance(word.value, ast.Constant)}
    return bool(fixed.get("return_exceptions"))


def _window_of(call: ast.Call) -> int:
    """Returns how many calls of a `gather` run at once."""
    for word in call.keywords:
        if word.arg == WINDOW and isinstance(word.value, ast.Constant) and isinstance(word.value.value, int):
            return min(_WINDOW, word.value.value)
    return _WINDOW


def awaited(call: ast.expr) -> ast.Await:
    return ast.copy_location(ast.Await(call), call)


def settled_calls(unit: Unit, hoist: Hoist, calls: list[ast.Call]) -> list[ast.Call]:
    """Returns the calls with their arguments evaluated: Python does so before it starts any of them."""
    written = [one for call in calls for one in _arguments(unit, call)]
    taken = iter(hoist.settled(unit, written) if len(written) > 1 else hoist.expressions(unit, written))
    return [_filled(unit, call, taken) for call in calls]


def _arguments(unit: Unit, call: ast.Call) -> list[ast.expr]:
    """What a call is given, and what the calls in a `gather` inside of this one are."""
    if word_of(unit.static(call.func)) not in _AROUND:
        return [*call.args, *(keyword.value for keyword in call.keywords)]
    return [part for one in call.args if isinstance(one, ast.Call) for part in _arguments(unit, one)]


def _filled(unit: Unit, call: ast.Call, taken: Iterator[ast.expr]) -> ast.Call:
    if word_of(unit.static(call.func)) in _AROUND:
        inner = [_filled(unit, one, taken) if isinstance(one, ast.Call) else one for one in call.args]
        return ast.copy_location(ast.Call(call.func, inner, call.keywords), call)
    arguments = [next(taken) for _ in call.args]
    keywords = [ast.keyword(keyword.arg, next(taken)) for keyword in call.keywords]
    return ast.copy_location(ast.Call(call.func, arguments, keywords), call)


def _loaded(target: ast.expr) -> ast.expr:
    if isinstance(target, ast.Name):
        return ast.Name(target.id, ast.Load())
    return ast.Tuple([_loaded(element) for element in getattr(target, "elts", [])], ast.Load())
