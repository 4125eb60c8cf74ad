"""Planted bugs of the compiler: each replaces one of its parts, inside of a block. The programs must find all of them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from stepless.flow import NodeError, lifted
from stepless.flow.compiler import compiler, expression_trees, unit, variable_writes
from stepless.flow.compiler.expressions import comparisons, hoisting, loop_targets, reading
from stepless.flow.compiler.facts import names
from stepless.flow.compiler.facts.scopes import Settled
from stepless.flow.compiler.frames import FinallyFrame, LoopFrame, TryFrame
from stepless.flow.compiler.statements import assignments, branches, loops, tries

Change = tuple[Any, str, Any]


@contextmanager
def planted(change: Change) -> Iterator[None]:
    """Has one attribute replaced inside the block, also one that a class has from another."""
    owner, name, value = change
    assert hasattr(owner, name)
    own, former = name in vars(owner), vars(owner).get(name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if own:
            setattr(owner, name, former)
        else:
            delattr(owner, name)


def _after(former: Callable[..., Any], change: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: change(former(*args, **kwargs))


def _never_variable(self: names.Names, name: str) -> bool:
    return len(self.bound.get(name, [])) > 2


def _continue_breaks(self: unit.Unit, kind: str, values: Any = None, **facts: Any) -> None:
    _JUMP(self, "break" if kind == "continue" else kind, values, **facts)


def _skips_finally(self: unit.Unit, kind: str, values: Any = None, **facts: Any) -> None:
    frames = self.frames
    self.frames = [frame for frame in frames if not isinstance(frame, FinallyFrame)]
    try:
        _JUMP(self, kind, values, **facts)
    finally:
        self.frames = frames


def _catches_everything(self: unit.Unit, id: str, **facts: Any) -> None:
    _MAY_FAIL(self, id, **{**facts, "pure": False, "mixed": False})


def _catches_nothing_in_loops(self: unit.Unit, id: str, **facts: Any) -> None:
    if not any(isinstance(frame, LoopFrame) for frame in self.frames):
        _MAY_FAIL(self, id, **facts)


def _first_handler_only(unit_: unit.Unit, kind: Any, frame: TryFrame, id: str) -> str | None:
    return None


def _reset_of_else(self: unit.Unit, base: str, values: Mapping[str, Any], **facts: Any) -> str:
    return _SET(self, base, dict.fromkeys(values, True) if base.startswith("reset_") else values, **facts)


def _merges_all_sets(self: assignments.Assigning, unit_: unit.Unit, values: dict[str, Any], *, risky: bool) -> None:
    last = unit_.level.get(unit_.frontier[0]) if unit_.frontier else None
    if last is not None and last["type"] == "set":
        last["with"]["variables"] |= values
        for name in values:
            unit_.variables.setdefault(name, None)
        return
    _WRITE(self, unit_, values, risky=risky)


def _plain_reference(self: expression_trees.Texts, path: str, *, strict: bool = False) -> ast.Name:
    return _REFERENCE(self, path, strict=False)


def _no_need(function: str, *arguments: ast.expr) -> ast.expr:
    return arguments[0] if function == "need" else _CALLING(function, *arguments)


def _text_as_json(function: str, *arguments: ast.expr) -> ast.expr:
    return _CALLING("str" if function == "text" else function, *arguments)


def _reversed(self: hoisting.Hoist, unit_: unit.Unit, nodes: Any) -> list[ast.expr]:
    return list(reversed(_IN_ORDER(self, unit_, list(reversed(nodes)))))


def _range_from_zero(unit_: unit.Unit, id: str, arguments: list[ast.expr], name: str) -> Any:
    return _RANGE(unit_, id, arguments[-1:], name)


def _no_join(self: unit.Unit, id: str, type: str, params: Any = None, **facts: Any) -> str:
    facts.pop("join", None)
    return _EMIT(self, id, type, params, **facts)


def _no_kept_writes(self: unit.Unit, id: str, type: str, params: Any = None, **facts: Any) -> str:
    given = {name: value for name, value in params.items() if name != "keep_writes"} if params is not None else None
    return _EMIT(self, id, type, given, **facts)


def _not_swapped(unit_: unit.Unit, statement: ast.If) -> Any:
    exits = _ANSWERED(unit_, statement)
    return None if exits is None else (exits[1], exits[0])


def _part_returns_twice(self: unit.Unit, kind: str, values: Any = None, **facts: Any) -> None:
    part = next((frame for frame in reversed(self.frames) if type(frame).__name__ == "PartFrame"), None)
    if part is None or kind != "return":
        _JUMP(self, kind, values, **facts)
        return
    self.frames.remove(part)
    try:
        _JUMP(self, kind, {"return_": None, **(values or {})}, **facts)
    finally:
        self.frames.append(part)


def _last_error(frame: TryFrame | FinallyFrame) -> Any:
    return _ERROR(frame).replace("input[0]", "input[-1]")


def _is_stopped_by_finally(unit_: unit.Unit) -> bool:
    kinds = [type(frame) for frame in unit_.frames]
    return FinallyFrame in kinds and LoopFrame in kinds[: len(kinds) - 1 - kinds[::-1].index(FinallyFrame)]


def _tries(body: list[ast.stmt]) -> set[ast.AST]:
    return {one for statement in body for one in ast.walk(statement) if isinstance(one, ast.Try)}


def _unescaped(character: str) -> str:
    return "\\\\" if character == "\\" else "\\'" if character == "'" else character


_JUMP, _MAY_FAIL, _SET, _EMIT = unit.Unit.jump, unit.Unit.may_fail, unit.Unit.set, unit.Unit.emit
_WRITE, _REFERENCE, _CALLING = assignments.Assigning.write, expression_trees.Texts.reference, reading.calling
_ERROR = tries.error_of
_IN_ORDER, _RANGE, _ANSWERED = hoisting.Hoist._in_order, loop_targets._range, branches._answered

MUTANTS: Final[Mapping[str, Change]] = {
    "a name that is bound twice is no variable": (names.Names, "is_variable", _never_variable),
    "continue ends the loop": (unit.Unit, "jump", _continue_breaks),
    "a jump passes by finally": (unit.Unit, "jump", _skips_finally),
    "expressions fail as steps do": (unit.Unit, "may_fail", _catches_everything),
    "a handler inside of a loop is not wired": (unit.Unit, "may_fail", _catches_nothing_in_loops),
    "the first handler takes all": (tries, "_matches", _first_handler_only),
    "only the class itself is caught": (tries, "_family", lambda unit_, kind: [kind]),
    "a cause stays inside of its container": (tries, "error_of", lambda frame: "<input[0]>" if frame.forked else "<input>"),
    "the else of a loop never runs": (unit.Unit, "set", _reset_of_else),
    "every set is merged with the one before": (assignments.Assigning, "write", _merges_all_sets),
    "no reference is strict": (expression_trees.Texts, "reference", _plain_reference),
    "a missing item is null": (reading, "calling", _no_need),
    "texts are written as JSON": (reading, "calling", _text_as_json),
    "awaits are taken out from the right": (hoisting.Hoist, "_in_order", _reversed),
    "nothing is evaluated before a later await": (hoisting.Hoist, "_spilled", lambda self, unit_, node: node),
    "a range begins at 0": (loop_targets, "_range", _range_from_zero),
    "what follows a gather runs although one failed": (unit.Unit, "emit", _no_join),
    "a failed loop forgets what it wrote": (unit.Unit, "emit", _no_kept_writes),
    "the answers of an approval are exchanged": (branches, "_answered", _not_swapped),
    "the return of a part ends the workflow": (unit.Unit, "jump", _part_returns_twice),
    "a text may be read as a reference": (expression_trees, "_escaped", _unescaped),
    "True is not 1": (comparisons, "_agree", lambda one, other: True),
    "exceptions of expressions have the engine's names": (unit.Unit, "is_exact", lambda self: False),
    "a write in a loop is an initial value": (unit.Unit, "is_repeated", lambda self: False),
    "why is never written again": (tries, "_is_written_once", lambda unit_, statement, frame: True),
    "the exit of a loop that ran on stays": (loops, "_is_stopped", lambda unit_: False),
    "a part that returns from a loop stops it for good": (loops, "_is_stopped", _is_stopped_by_finally),
    "names are taken as they are spelled": (compiler, "settled", lambda tree: Settled(list(tree.body), {}, {}, [])),
    "a float is what JSON holds": (reading, "is_raw", lambda unit_, expressed: False),
    "an error that is caught has no class": (lifted, "failure_of", lambda kind, message, code: NodeError(message, code=code)),
    "no handler asks for its error": (tries, "_is_asked_for", lambda unit_, handler, kind, frame: False),
    "every if leaves": (branches, "_jumps", lambda body: True),
    "every try ends its turn": (loops, "_last", _tries),
    "a write reads what the one before it wrote": (variable_writes, "_read", lambda value: set()),
    "the last error of a gather is raised": (tries, "error_of", _last_error),
    "the rest after an escape is not skipped": (loops.Looping, "_behind", lambda self, unit_, id, frame, *, ends: None),
}

# a program that finds it: it is run before the others, which would take most of the time
TRIED_FIRST: Final[Mapping[str, str]] = {
    "a name that is bound twice is no variable": "what a failed loop wrote",
    "continue ends the loop": "a return that finally stops",
    "a jump passes by finally": "a return that finally stops",
    "expressions fail as steps do": "an expression is no NodeError",
    "a handler inside of a loop is not wired": "a return that a failure in finally stops",
    "the first handler takes all": "gather and a step under one handler",
    "only the class itself is caught": "a subclass is caught by its base",
    "a cause stays inside of its container": "what a failed loop wrote",
    "the else of a loop never runs": "else of a loop",
    "every set is merged with the one before": "a swap of a swap",
    "no reference is strict": "a value that fails and is written over",
    "a missing item is null": "a number that no item has",
    "texts are written as JSON": "texts as Python writes them",
    "awaits are taken out from the right": "awaits in order",
    "nothing is evaluated before a later await": "what fails before an await",
    "a range begins at 0": "a start that changes",
    "what follows a gather runs although one failed": "a handler that asks for nothing",
    "a failed loop forgets what it wrote": "what a failed loop wrote",
    "the answers of an approval are exchanged": "sleep and answers",
    "the return of a part ends the workflow": "a part that returns through finally in a loop",
    "a text may be read as a reference": "texts with marks",
    "True is not 1": "equality of booleans",
    "exceptions of expressions have the engine's names": "guards whose tests fail under a handler",
    "a write in a loop is an initial value": "a first value that a loop writes again",
    "why is never written again": "a return that a failure in finally stops",
    "the exit of a loop that ran on stays": "a return that finally stops",
    "a part that returns from a loop stops it for good": "a part that returns from a loop in a loop",
    "names are taken as they are spelled": "a comprehension has a name of its own",
    "a float is what JSON holds": "texts as Python writes them",
    "an error that is caught has no class": "the class of an error",
    "no handler asks for its error": "a handler of a loop outside",
    "every if leaves": "two ifs that both are true",
    "every try ends its turn": "continue before the end of a turn",
    "a write reads what the one before it wrote": "a swap of a swap",
    "the last error of a gather is raised": "gather and a step under one handler",
    "the rest after an escape is not skipped": "a return that finally stops",
}
