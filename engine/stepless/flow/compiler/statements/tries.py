"""Compiles `try`, `except`, `else`, `finally` and `raise`: error edges that lead to one node, and a `finally` that is compiled
once."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Sequence
from typing import TypeAlias

from pydantic import ValidationError

from stepless.flow.compiler.awaiting.awaits import callee
from stepless.flow.compiler.expressions.carrying import carried
from stepless.flow.compiler.expressions.hoisting import Hoist
from stepless.flow.compiler.facts.types import UNKNOWN, is_carried
from stepless.flow.compiler.frames import FinallyFrame, LoopFrame, PartFrame, TryFrame, error_of
from stepless.flow.compiler.unit import Unit
from stepless.flow.words import NodeError, code_of, snake, word_of
from stepless.limits import MAX_CODES_OF_A_CLASS
from stepless.model.json import JSON

_ALL = (Exception, BaseException)
Kinds: TypeAlias = tuple[type[BaseException], ...]


def try_(unit: Unit, statement: ast.Try, hoist: Hoist) -> None:
    if not statement.finalbody:
        _handled(unit, statement)
        return
    frame = FinallyFrame(unit.next(), ends=statement in unit.last)
    before = set(unit.bound)
    unit.frames.append(frame)
    try:
        _handled(unit, statement)
    finally:
        unit.frames.remove(frame)
    _finally(unit, statement, frame, before)


# -- handlers ---------------------------------------------------------------------------------------------------------


def _handled(unit: Unit, statement: ast.Try) -> None:
    if not statement.handlers:
        unit.block(statement.body)
        return
    before = set(unit.bound)
    classes = [_classes(unit, handler) for handler in statement.handlers]
    exact = any(_is_exact(kinds, handler) for kinds, handler in zip(classes, statement.handlers, strict=True))
    frame = TryFrame(any(not issubclass(kind, NodeError) for kinds in classes for kind in kinds), exact)
    unit.frames.append(frame)
    try:
        unit.block(statement.body)
    finally:
        unit.frames.remove(frame)
    if unit.frontier is not None:
        unit.block(statement.orelse)
    ends = list(unit.frontier) if unit.frontier is not None else []
    bound = [set(unit.bound)] if unit.frontier is not None else []
    if frame.entries:
        _handlers(unit, statement, classes, frame, before, ends, bound)
    unit.frontier = ends if bound else None
    unit.bound = set.intersection(*bound) if bound else before


def _classes(unit: Unit, handler: ast.ExceptHandler) -> Kinds:
    """The classes that a handler names."""
    if handler.type is None:
        return (Exception,)
    found = [kind for part in _named(handler.type) for kind in _class(unit, part)]
    if not found:
        mend = "Write except NodeError as e, or a class of Python's or of the module"
        unit.refuse(handler, "except", "a handler names something other than classes of exceptions", mend)
    return (Exception,) if any(kind in _ALL for kind in found) else tuple(found)


def _named(node: ast.expr) -> Sequence[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


def _class(unit: Unit, node: ast.expr) -> Kinds:
    """The class that an expression names, or the classes of a tuple of the module; none for anything else."""
    kind = unit.static(node)
    if kind is None and isinstance(node, ast.Name) and unit.is_builtin(node, node.id):
        kind = getattr(builtins, node.id, None)
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return kinds if all(inspect.isclass(one) and issubclass(one, BaseException) for one in kinds) else ()


def _is_exact(kinds: Kinds, handler: ast.ExceptHandler) -> bool:
    """Whether it matters which exception an expression raises."""
    if all(issubclass(kind, NodeError) for kind in kinds):
        return False
    read = any(isinstance(part, ast.Name) and part.id == handler.name for body in handler.body for part in ast.walk(body))
    return kinds != (Exception,) or (handler.name is not None and read)


def _handlers(
    unit: Unit, statement: ast.Try, classes: Sequence[Kinds], frame: TryFrame, before: set[str], ends: list[str],
    bound: list[set[str]],
) -> None:
    """The node that receives the error, and behind it the handlers. What none of them takes goes on outwards."""
    first = statement.handlers[0]
    unit.statement = first
    if not _is_asked_for(unit, first, classes[0], frame):
        _without_error(unit, first, frame, before, ends, bound)
        return
    merge = {"merge": "array"} if frame.forked else {}
    id = unit.emit(
        unit.new_id(first.name or "caught"), "transform", {"value": error_of(frame)}, after=frame.entries, **merge,
    )
    error, outer = unit.texts.reference(id), unit.error
    rest: list[str] | None = [id]
    for handler, kinds in zip(statement.handlers, classes, strict=True):
        unit.statement = handler
        unit.frontier = rest
        test = _matches(unit, kinds, frame, id)
        if test is not None:
            cases: JSON = {"yes": test, "else": "else"}
            which = unit.emit(unit.new_id(f"is_{snake(kinds[0].__name__)}"), "condition", {"cases": cases})
            unit.frontier, rest = [f"{which}.yes"], [f"{which}.else"]
        else:
            rest = None
        unit.bound, unit.error = set(before), error
        if handler.name:
            unit.bound.add(handler.name)
            if unit.names.is_variable(handler.name):
                kind = NodeError if is_carried(unit.kind_of(handler.name)) else UNKNOWN
                unit.set(f"set_{handler.name}", {handler.name: carried(unit, error, kind)})
            else:
                unit.values[handler.name] = error
        unit.block(handler.body)
        unit.error = outer
        if unit.frontier is not None:
            ends += unit.frontier
            bound.append(unit.bound - {handler.name or ""})
        if rest is None:
            return
    unit.frontier = rest
    _go_on(unit, unit.texts.template(error), pure=frame.mixed or frame.broad)


def _go_on(unit: Unit, error: JSON, *, pure: bool) -> None:
    """Takes an error outwards: to the `finally` around, if that comes first, else by a node that fails with it."""
    around = next((frame for frame in reversed(unit.frames) if not isinstance(frame, PartFrame)), None)
    if not isinstance(around, FinallyFrame):
        unit.fail({"error": error}, pure=pure)
        return
    around.entries.append(unit.set("raise", {f"why_{around.number}": "raise", f"error_{around.number}": error}))
    if "raise" not in around.kinds:
        around.kinds.append("raise")
    unit.frontier = None


def _is_asked_for(unit: Unit, handler: ast.ExceptHandler, kinds: Kinds, frame: TryFrame) -> bool:
    """Whether anything reads the error. Without a reader, the statements of the handler are right behind what failed, if the
    first of them is a node."""
    if kinds != (Exception,) and (NodeError not in kinds or frame.mixed or frame.broad):
        return True
    parts = [part for statement in handler.body for part in ast.walk(statement)]
    if any(isinstance(part, ast.Raise) and part.exc is None for part in parts):
        return True
    if handler.name is not None and any(isinstance(part, ast.Name) and part.id == handler.name for part in parts):
        return True
    return not _is_node(unit, handler.body[0])


def _is_node(unit: Unit, statement: ast.stmt) -> bool:
    """Whether control certainly passes a node of this statement."""
    match statement:
        case ast.Return() | ast.Raise() | ast.For() | ast.While():
            return True
        case ast.Expr(value=ast.Await(value=ast.Call() as call)) | ast.Assign(value=ast.Await(value=ast.Call() as call)):
            return word_of(callee(unit, call.func)[0]) == "step"
    return False


def _without_error(
    unit: Unit, handler: ast.ExceptHandler, frame: TryFrame, before: set[str], ends: list[str], bound: list[set[str]],
) -> None:
    """A handler that takes every failure and asks for none."""
    unit.frontier, unit.bound, outer = list(frame.entries), set(before), unit.error
    unit.error = None
    unit.block(handler.body)
    unit.error = outer
    if unit.frontier is not None:
        ends += unit.frontier
        bound.append(unit.bound - {handler.name or ""})
    unit.frontier = None


def _matches(unit: Unit, kinds: Kinds, frame: TryFrame, id: str) -> str | None:
    """The test whether an error is of one of these classes; None if every error here is."""
    tests = [_matches_one(unit, kind, frame, id) for kind in kinds]
    if None in tests:
        return None
    return tests[0] if len(tests) == 1 else " or ".join(f"({test})" for test in tests)


def _matches_one(unit: Unit, kind: type[BaseException], frame: TryFrame, id: str) -> str | None:
    if kind in _ALL:
        return None
    a_step = f"<{id}.class> != 'processing'"
    if kind is NodeError:
        return a_step if frame.mixed or frame.broad else None
    codes = sorted({code_of(one) for one in _family(unit, kind)})[:MAX_CODES_OF_A_CLASS]
    test = f"<{id}.code> in [{', '.join(repr(code) for code in codes)}]"
    return f"{test} and {a_step}" if issubclass(kind, NodeError) and (frame.mixed or frame.broad) else test


def _family(unit: Unit, kind: type[BaseException]) -> list[type[BaseException]]:
    """The class and its subclasses: of an exception of Python's, those of Python and of the module, and that of models, whatever
    else is imported."""
    found, stack = [kind], [kind]
    while stack:
        for one in stack.pop().__subclasses__():
            if one not in found and (issubclass(kind, NodeError) or _is_near(unit, one)):
                found.append(one)
                stack.append(one)
    return found


def _is_near(unit: Unit, kind: type[BaseException]) -> bool:
    known = (ValidationError, getattr(builtins, kind.__name__, None), unit.origin.globals.get(kind.__name__))
    return any(kind is one for one in known)


# -- finally ----------------------------------------------------------------------------------------------------------


def _finally(unit: Unit, statement: ast.Try, frame: FinallyFrame, before: set[str]) -> None:
    """The body of `finally`, once. Each way in writes why; behind the body, control goes on accordingly."""
    why, error = f"why_{frame.number}", f"error_{frame.number}"
    normal = set(unit.bound) if unit.frontier is not None else before
    unit.statement = statement.finalbody[0]
    if frame.ended is not None:
        unit.frontier = [*(unit.frontier or []), *frame.ended]
    if unit.frontier is not None:
        frame.entries += unit.frontier if _is_written_once(unit, statement, frame) else [unit.set("done", {why: "done"})]
        frame.kinds.append("done")
    if frame.raised:
        unit.variables.setdefault(why, None)
        unit.variables.setdefault(error, None)
        values = {why: "raise", error: error_of(frame)}
        merge = {"merge": "array"} if frame.forked else {}
        frame.entries.append(unit.emit(unit.new_id("failed"), "set", {"variables": values}, after=frame.raised, **merge))
        if "raise" not in frame.kinds:
            frame.kinds.append("raise")
    # without an entry, but with a kind, the `finally` stands at the beginning of an iteration
    unit.frontier, unit.bound = list(frame.entries) if frame.kinds else None, set(before)
    if unit.frontier is None:
        return
    unit.block(statement.finalbody)
    if unit.frontier is None:
        return
    end: list[str] | None = None
    exits = _exits(unit, frame, why)
    for kind, exit in exits.items():
        unit.frontier = exit
        if kind == "done":
            end = exit
        elif kind == "raise":
            unit.fail({"error": f"<workflow.{error}>"}, pure=True)
        else:
            unit.jump(kind)
    unit.frontier, unit.bound = end, unit.bound | normal


def _is_written_once(unit: Unit, statement: ast.Try, frame: FinallyFrame) -> bool:
    """Whether nothing but a jump or a failure of this iteration can have written why: then null says that there was none. Outside
    of loops, and in a loop that ends with every one of them, and that no other loop runs again."""
    loops = [one for one in unit.frames if isinstance(one, LoopFrame)]
    if not loops:
        return True
    goes_on = any(isinstance(part, ast.Continue) for body in statement.finalbody for part in ast.walk(body))
    return loops == [unit.frames[-1]] and "continue" not in frame.kinds and not goes_on


def _exits(unit: Unit, frame: FinallyFrame, why: str) -> dict[str, list[str]]:
    if len(frame.kinds) == 1:
        return {frame.kinds[0]: unit.frontier or []}
    unit.variables.setdefault(why, None)
    cases = {kind: f"<workflow.{why}> == '{kind}'" for kind in frame.kinds}
    last = "done" if "done" in cases else frame.kinds[-1]
    cases.pop(last)
    which = unit.emit(unit.new_id("finally"), "condition", {"cases": {**cases, last: "else"}})
    return {kind: [f"{which}.{kind}"] for kind in frame.kinds}
