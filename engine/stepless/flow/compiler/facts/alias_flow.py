"""Follows the statements of a function in their order, with the objects that each name may show (`alias_state`)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from stepless.flow.compiler.facts.alias_state import NOTHING, Label, Labels, State, Value, joined, made
from stepless.flow.compiler.facts.alias_values import Facts, Values
from stepless.flow.compiler.facts.block_nodes import Evaluated, Leave
from stepless.flow.compiler.facts.uses import uses_of
from stepless.flow.compiler.trees import copied

ITERATED: Final = "\niterated "
RETURNED: Final = "\nreturned"
"""Stand for what a loop runs over, and for what a `return` in front of a `finally` returns: no name of a source has them."""


@dataclass(slots=True)
class Loop:
    """The jumps out of the iterations of a loop."""

    breaks: State | None = None
    continues: State | None = None


@dataclass(slots=True)
class Guard:
    """What is known of the places from which a `try` may be left, and the jumps that wait for its `finally`."""

    any: State
    waiting: set[str] = field(default_factory=set)
    final: bool = False


@dataclass(slots=True)
class Change:
    """A change in one statement: of these objects, under this name."""

    labels: Labels
    name: str
    at: ast.AST


class Following:
    """Follows the statements of one function, or of a block in it."""

    def __init__(self, facts: Facts) -> None:
        self._values = Values(facts, self._note)
        self._facts = facts
        self._frames: list[Loop | Guard] = []
        self._changes: list[Change] = []
        self._safe: dict[str, tuple[str, str]] = {}  # what a loop runs over, the name of it, and that of its key

    def _note(self, state: State, labels: Labels, name: str, at: ast.AST) -> None:
        self._changes.append(Change(labels, name, at))

    def _alone(self, statement: ast.stmt, state: State, evaluate: Callable[[], object], head: ast.AST | None = None) -> None:
        """Evaluates one statement, or its head alone."""
        raise NotImplementedError

    def _block(self, statement: ast.stmt, state: State, node: Evaluated, name: str) -> None:
        """Evaluates a block whose output has a name."""
        raise NotImplementedError

    def _ended(self, state: State) -> None:
        """Takes the state where the function, or the block, is left."""

    # -- statements -----------------------------------------------------------------------------------------------------

    def suite(self, body: Sequence[ast.stmt], state: State | None) -> State | None:
        for statement in body:
            if state is None:
                return None
            self._kept(state)
            state = self._statement(statement, state)
            if state is not None:
                self._kept(state)
        return state

    def _kept(self, state: State) -> None:
        for frame in self._frames:
            if isinstance(frame, Guard):
                frame.any.join(state)

    def _statement(self, statement: ast.stmt, state: State) -> State | None:
        match statement:
            case ast.If(test=test, body=body, orelse=orelse):
                self._alone(statement, state, lambda: self._values.of(state, test), test)
                return joined(self.suite(body, state.copy()), self.suite(orelse, state.copy()))
            case ast.For() | ast.While():
                return self._loop(statement, state)
            case ast.Try():
                return self._try(statement, state)
            case ast.With() | ast.AsyncWith():
                return self._with(statement, state)
            case ast.Match():
                return self._match(statement, state)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self._defined(statement, state)
                return state
            case ast.Return() | ast.Break() | ast.Continue() | ast.Raise() | Leave():
                self._jump(statement, state)
                return None
        self._alone(statement, state, lambda: self._simple(statement, state))
        return state

    def _simple(self, statement: ast.stmt, state: State) -> None:
        values = self._values
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=Evaluated() as node):
                self._block(statement, state, node, name)
            case ast.Expr(value=Evaluated() as node):
                self._block(statement, state, node, "")
            case ast.Assign(targets=targets, value=value):
                self._assign(targets, value, state)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                values.bind(state, target, values.of(state, value))
            case ast.AugAssign():
                self._augment(statement, state)
            case ast.Expr(value=ast.Call() as call):
                values.of(state, call)
                values.effect(state, call)
            case ast.Delete(targets=targets):
                for deleted in targets:
                    values.bind(state, deleted, NOTHING)
            case _:
                for part in ast.iter_child_nodes(statement):
                    if isinstance(part, ast.expr):
                        values.of(state, part)

    def _assign(self, targets: Sequence[ast.expr], value: ast.expr, state: State) -> None:
        match targets, value:
            case [ast.Tuple(elts=ones) | ast.List(elts=ones)], ast.Tuple(elts=others) | ast.List(elts=others) if (
                len(ones) == len(others) and not any(isinstance(one, ast.Starred) for one in (*ones, *others))
            ):
                found = [self._values.of(state, one) for one in others]
                for one, each in zip(ones, found, strict=True):
                    self._values.bind(state, one, each)
                return
        given = self._values.of(state, value)
        for target in targets:
            self._values.bind(state, target, given)

    def _augment(self, statement: ast.AugAssign, state: State) -> None:
        """`x += y`, which changes what `x` is, or binds it to something new."""
        values, target = self._values, statement.target
        read: ast.expr = copied(target)
        vars(read)["ctx"] = ast.Load()
        before, added = values.of(state, read), values.of(state, statement.value)
        if not isinstance(target, ast.Name):
            values.change(state, target.value, Value(frozenset(), added.all()), statement)
        if not before.top:
            operation = ast.copy_location(ast.BinOp(read, statement.op, statement.value), statement)
            if isinstance(target, ast.Name):
                state.names[target.id] = values.of(state, operation)
            return
        values.change(state, read, Value(frozenset(), added.deep), statement)
        if isinstance(target, ast.Name):
            state.make(made(statement))
            found = state.names.get(target.id, NOTHING)
            state.names[target.id] = Value(found.top | {made(statement)}, found.deep | added.deep)

    def _jump(self, statement: ast.stmt, state: State) -> None:
        if isinstance(statement, ast.Return | ast.Raise):
            value = NOTHING

            def evaluate() -> None:
                nonlocal value
                for part in ast.iter_child_nodes(statement):
                    if isinstance(part, ast.expr):
                        value = self._values.of(state, part)

            self._alone(statement, state, evaluate)
            if isinstance(statement, ast.Return):
                state.names[RETURNED] = value
        self._leave(type(statement).__name__, state)

    def _leave(self, kind: str, state: State) -> None:
        for frame in reversed(self._frames):
            if isinstance(frame, Guard) and frame.final:
                frame.waiting.add(kind)
                frame.any.join(state)
                return
            if isinstance(frame, Loop) and kind == "Break":
                frame.breaks = joined(frame.breaks, state)
                return
            if isinstance(frame, Loop) and kind == "Continue":
                frame.continues = joined(frame.continues, state)
                return
        self._ended(state)

    # -- compound statements ----------------------------------------------------------------------------------------------

    def _loop(self, statement: ast.For | ast.While, state: State) -> State | None:
        hidden = f"{ITERATED}{id(statement)}"
        if isinstance(statement, ast.For):
            over = statement.iter
            self._alone(statement, state, lambda: state.names.update({hidden: self._values.of(state, over)}), over)
            if (safe := _keyed(statement)) is not None:
                self._safe[hidden] = safe
        entry, frame = state, Loop()
        while True:
            frame = Loop()
            self._frames.append(frame)
            inside = entry.copy()
            if isinstance(statement, ast.For):
                self._values.bind(inside, statement.target, inside.names.get(hidden, NOTHING).item())
            else:
                self._alone(statement, inside, partial(self._values.of, inside, statement.test), statement.test)
            ended = joined(self.suite(statement.body, inside), frame.continues)
            self._frames.pop()
            more = entry.copy().join(ended)
            if more.names == entry.names and more.twice == entry.twice:
                break
            entry = more
        endless = isinstance(statement, ast.While) and isinstance(statement.test, ast.Constant) and bool(statement.test.value)
        for one in (entry, frame.breaks):
            if one is not None:
                one.names.pop(hidden, None)
        return joined(None if endless else self.suite(statement.orelse, entry.copy()), frame.breaks)

    def _try(self, statement: ast.Try, state: State) -> State | None:
        whole = Guard(state.copy(), final=bool(statement.finalbody))
        self._frames.append(whole)
        body = Guard(state.copy())
        self._frames.append(body)
        ends = [self.suite(statement.body, state)]
        self._frames.pop()
        ends[0] = self.suite(statement.orelse, ends[0])
        for handler in statement.handlers:
            inside = body.any.copy()
            if handler.name:
                inside.names[handler.name] = NOTHING
            ends.append(self.suite(handler.body, inside))
        self._frames.pop()
        end = joined(*ends)
        if not statement.finalbody:
            return end
        final = self.suite(statement.finalbody, whole.any)
        if final is None:
            return None
        if "Return" in whole.waiting:
            self._leave("Return", final.copy())
        final.names.pop(RETURNED, None)
        for kind in sorted(whole.waiting - {"Return"}):
            self._leave(kind, final.copy())
        return None if end is None else final

    def _with(self, statement: ast.With | ast.AsyncWith, state: State) -> State | None:
        """A manager may stop an exception."""
        for item in statement.items:
            self._values.of(state, item.context_expr)
            if isinstance(item.context_expr, ast.Call):
                self._values.effect(state, item.context_expr)
            if item.optional_vars is not None:
                found = self._values.of(state, item.context_expr)
                self._values.bind(state, item.optional_vars, Value(found.all(), found.deep))
        inner = Guard(state.copy())
        self._frames.append(inner)
        ended = self.suite(statement.body, state)
        self._frames.pop()
        return ended if isinstance(statement, ast.AsyncWith) else joined(ended, inner.any)

    def _match(self, statement: ast.Match, state: State) -> State | None:
        subject = self._values.of(state, statement.subject)
        ends: list[State | None] = [state.copy()]
        for case in statement.cases:
            inside = state.copy()
            self._values.match(inside, case.pattern, subject)
            self._values.of(inside, case.guard)
            ends.append(self.suite(case.body, inside))
        return joined(*ends)

    def _defined(self, statement: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, state: State) -> None:
        uses = uses_of(statement)
        read = [state.names[name] for name in uses.read if name in state.names]
        self._values.functions[statement.name] = frozenset(uses.read), frozenset(uses.changed)
        held: Labels = frozenset[Label]().union(*(one.all() for one in read))
        state.names[statement.name] = Value(frozenset({made(statement)}), held)


def _keyed(loop: ast.For) -> tuple[str, str] | None:
    """The name of what a loop runs over, and of the key or the index of its items, if the loop binds them alone."""
    found: tuple[ast.expr, ast.expr] | None = None
    first = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) and len(loop.target.elts) == 2 else None
    match loop.iter:
        case ast.Name() as whole:
            found = whole, loop.target
        case ast.Call(func=ast.Attribute(value=ast.Name() as whole, attr="keys"), args=[]):
            found = whole, loop.target
        case ast.Call(func=ast.Attribute(value=ast.Name() as whole, attr="items"), args=[]) if first is not None:
            found = whole, first
        case ast.Call(func=ast.Name(id="enumerate"), args=[ast.Name() as whole]) if first is not None:
            found = whole, first
    if found is None or not isinstance(found[0], ast.Name) or not isinstance(found[1], ast.Name):
        return None
    names = found[0].id, found[1].id
    return None if uses_of(*loop.body).bound & {*names} else names
