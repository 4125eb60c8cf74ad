"""Finds which names are live: read on some way from a place, before they are bound again. The analysis goes over the statements
of a function from the last to the first; in a loop, until nothing is added."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from stepless.flow.compiler.facts.block_nodes import Leave
from stepless.flow.compiler.facts.uses import called, uses_of

_NONE: Final[frozenset[str]] = frozenset()
_PASSING: Final = frozenset({
    "open", "nullcontext", "closing", "localcontext", "catch_warnings", "redirect_stdout", "redirect_stderr",
    "TemporaryDirectory", "NamedTemporaryFile", "TemporaryFile", "ThreadPoolExecutor", "Lock", "RLock", "timeout", "TaskGroup",
})
"""Managers that stop no exception."""
Names = frozenset[str]


@dataclass(frozen=True, slots=True)
class Around:
    """The names that are live where a jump or an exception goes from some place."""

    break_: Names = _NONE
    continue_: Names = _NONE
    return_: Names = _NONE
    raise_: Names = _NONE

    def all(self) -> Names:
        return self.break_ | self.continue_ | self.return_ | self.raise_


@dataclass(slots=True)
class Liveness:
    """Finds the names that are live behind each statement of a function, and where jumps from it go."""

    after: dict[int, Names] = field(default_factory=dict)
    around: dict[int, Around] = field(default_factory=dict)
    leaves: dict[tuple[str, int], Names] = field(default_factory=dict)
    """The names that are live where an exit of a block leads, by its kind and the `id` of its statement."""

    behind: Mapping[str, Names] = field(default_factory=dict)
    """The names that are read where a name is, because what it stands for is made again there."""

    def _read(self, node: ast.AST) -> Names:
        return self._with(uses_of(node).read)

    def _with(self, names: Iterable[str]) -> Names:
        read = frozenset(names)
        return read.union(*(self.behind[name] for name in read if name in self.behind)) if self.behind else read

    def of(self, body: Sequence[ast.stmt]) -> Liveness:
        self._suite(body, _NONE, Around())
        return self

    def before(self, body: Sequence[ast.stmt]) -> Names:
        """Returns the names that some statements read before they have certainly bound them."""
        return self._suite(body, _NONE, Around())

    def _suite(self, body: Sequence[ast.stmt], after: Names, around: Around) -> Names:
        """The names that are live in front of some statements."""
        for statement in reversed(body):
            place = id(statement)
            after = self.after[place] = self.after.get(place, _NONE) | after
            self.around[place] = around
            after = self._statement(statement, after, around)
        return after

    def _statement(self, statement: ast.stmt, after: Names, around: Around) -> Names:  # noqa: C901  # a table of the statements
        match statement:
            case ast.If():
                then = self._suite(statement.body, after, around)
                return self._read(statement.test) | then | self._suite(statement.orelse, after, around) | around.raise_
            case ast.While():
                head = self._read(statement.test) | self._suite(statement.orelse, after, around)
                return self._loop(statement.body, head, after, around, _NONE)
            case ast.For() | ast.AsyncFor():
                target = uses_of(statement.target)
                head = self._with(target.read) | self._suite(statement.orelse, after, around)
                return self._read(statement.iter) | self._loop(statement.body, head, after, around, frozenset(target.bound))
            case ast.With() | ast.AsyncWith():
                items = uses_of(*statement.items)
                inner = self._suite(statement.body, after, replace(around, raise_=around.raise_ | after))
                return self._with(items.read) | (inner - items.bound) | around.raise_
            case ast.Try():
                return self._try(statement, after, around)
            case ast.Match():
                return self._match(statement, after, around)
            case Leave():
                live = self._suite(statement.body, after, around)
                self.leaves[statement.kind, id(statement)] = live
                return live
            case ast.Return():
                return (self._read(statement.value) if statement.value else _NONE) | around.return_ | around.raise_
            case ast.Break():
                return around.break_
            case ast.Continue():
                return around.continue_
            case ast.Raise():
                return self._with(uses_of(statement).read) | around.raise_
        if type(statement).__name__ == "TryStar":
            return self._try(statement, after, around)  # type: ignore[arg-type]  # it has the fields of a Try
        uses = uses_of(statement)
        return (after - (uses.bound - uses.maybe)) | self._with(uses.read) | around.raise_

    def _loop(self, body: Sequence[ast.stmt], head: Names, after: Names, around: Around, bound: Names) -> Names:
        head |= around.raise_
        while True:
            inner = replace(around, break_=after, continue_=head)
            more = head | (self._suite(body, head, inner) - bound)
            if more == head:
                return head
            head = more

    def _try(self, statement: ast.Try, after: Names, around: Around) -> Names:
        if statement.finalbody:
            after = self._suite(statement.finalbody, after | around.all(), around)
            around = Around(after, after, after, after)
        caught = around.raise_
        for handler in statement.handlers:
            inner = self._suite(handler.body, after, around)
            inner -= {handler.name} if handler.name else set()
            caught |= inner | (self._read(handler.type) if handler.type else _NONE)
        front = self._suite(statement.orelse, after, around)
        return self._suite(statement.body, front, replace(around, raise_=caught)) | caught

    def _match(self, statement: ast.Match, after: Names, around: Around) -> Names:
        found = after | around.raise_
        for case in statement.cases:
            pattern = uses_of(case.pattern)
            inner = self._suite(case.body, after, around)
            inner |= self._read(case.guard) if case.guard else _NONE
            found |= self._with(pattern.read) | (inner - pattern.bound)
        return found | self._read(statement.subject)


# -- names that certainly have a value ----------------------------------------------------------------------------------


@dataclass(slots=True)
class Certain:
    """The names that some statements bind on every way to an end of theirs: `next`, `return`, `break`, `continue`."""

    ends: dict[str, set[str]] = field(default_factory=dict)

    def of(self, body: Sequence[ast.stmt], bound: set[str]) -> Certain:
        found = self._suite(body, set(bound))
        if found is not None:
            self._end("next", found)
        return self

    def _end(self, kind: str, bound: set[str]) -> None:
        self.ends[kind] = self.ends[kind] & bound if kind in self.ends else set(bound)

    def _suite(self, body: Sequence[ast.stmt], bound: set[str] | None) -> set[str] | None:
        for statement in body:
            if bound is None:
                return None
            bound = self._statement(statement, bound)
        return bound

    def _statement(self, statement: ast.stmt, bound: set[str]) -> set[str] | None:
        match statement:
            case ast.Return() | ast.Break() | ast.Continue():
                self._end(type(statement).__name__.lower(), bound)
                return None
            case Leave():
                self._end(statement.kind, bound)
                return None
            case ast.Raise():
                return None
            case ast.If():
                return _both(self._suite(statement.body, set(bound)), self._suite(statement.orelse, set(bound)))
            case ast.While() | ast.For() | ast.AsyncFor():
                return self._loop(statement, bound)
            case ast.With() | ast.AsyncWith():
                given = bound | uses_of(*statement.items).bound
                found = self._suite(statement.body, set(given))
                return _both(found, given) if any(map(_swallows, statement.items)) else found
            case ast.Try():
                return self._try(statement, bound)
            case ast.Match():
                return self._match(statement, bound)
        uses = uses_of(statement)
        return (bound | (uses.bound - uses.maybe)) - uses.deleted

    def _loop(self, statement: ast.While | ast.For | ast.AsyncFor, bound: set[str]) -> set[str] | None:
        inner = Certain()
        target = set[str]() if isinstance(statement, ast.While) else uses_of(statement.target).bound
        inner._suite(statement.body, bound | target)
        deleted = uses_of(*statement.body).deleted
        for kind, names in inner.ends.items():
            if kind == "return":
                self._end(kind, names)
        endless = isinstance(statement, ast.While) and isinstance(statement.test, ast.Constant) and bool(statement.test.value)
        ends = None if endless else self._suite(statement.orelse, bound - deleted)
        return _both(ends, inner.ends.get("break"))

    def _try(self, statement: ast.Try, bound: set[str]) -> set[str] | None:
        deleted = uses_of(statement).deleted
        inner = Certain()
        found = inner._suite(statement.body, set(bound))
        found = inner._suite(statement.orelse, found) if found is not None else None
        for handler in statement.handlers:
            caught = inner._suite(handler.body, (bound - deleted) | ({handler.name} if handler.name else set()))
            found = _both(found, None if caught is None else caught - ({handler.name} if handler.name else set()))
        final = Certain()._suite(statement.finalbody, bound - deleted)
        if final is None:
            self._suite(statement.finalbody, bound - deleted)
            return None
        for kind, names in inner.ends.items():
            self._end(kind, names | final)
        self._suite(statement.finalbody, bound - deleted)
        return None if found is None else (found | final) - uses_of(*statement.finalbody).deleted

    def _match(self, statement: ast.Match, bound: set[str]) -> set[str] | None:
        found: set[str] | None = None
        total = False
        for case in statement.cases:
            found = _both(found, self._suite(case.body, bound | uses_of(case.pattern).bound))
            total = total or (case.guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None)
        return found if total else _both(found, bound)


def _swallows(item: ast.withitem) -> bool:
    """Whether a manager may stop an exception, so that what comes behind goes on without what the body should have bound."""
    call = item.context_expr
    return called(call.func if isinstance(call, ast.Call) else call) not in _PASSING


def _both(one: set[str] | None, other: set[str] | None) -> set[str] | None:
    return other if one is None else one if other is None else one & other
