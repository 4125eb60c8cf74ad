"""Replaces statements that are lifted by the statements that stand for them: the block is evaluated, its names are bound, and
control goes where its exit says. Everything else of the compiler reads these as statements of the source."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from stepless.flow.compiler.blocks.jumps import jumps_of
from stepless.flow.compiler.blocks.prelude import Prelude
from stepless.flow.compiler.blocks.valueless import valueless_in
from stepless.flow.compiler.expressions.hoisting import has_await
from stepless.flow.compiler.facts.block_nodes import NEXT, RAISE, Block, Evaluated, Leave, Output
from stepless.flow.compiler.facts.liveness import Around, Certain, Liveness
from stepless.flow.compiler.facts.uses import uses_of

_Node = TypeVar("_Node", bound=ast.AST)
_SUITES: Final = ("body", "orelse", "handlers", "finalbody", "cases")
_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


class Rewriting:
    """The body of one function in which the marked statements are lifted. `marks` are those that must be, by `id`; `is_free`
    says of a statement that it may be lifted with one that must, `may` that it may be lifted at all; `given` are the parameters
    of the function. `prelude` makes some names again in each block that reads them, `glued` are names that no value can stand
    for: what reads them is lifted with what binds them, as far as nothing awaits. `under` are names whose values a block may
    change under other names."""

    def __init__(
        self, body: Sequence[ast.stmt], marks: set[int], is_free: Callable[[ast.stmt], bool], may: Callable[[ast.stmt], bool],
        given: Iterable[str], prelude: Prelude, glued: frozenset[str], under: frozenset[str],
    ) -> None:
        self._marks = marks
        self._is_free = is_free
        self._may = may
        self._prelude = prelude
        self._glued = glued
        self._under = under
        self._live = Liveness(behind={name: prelude.of([name])[1] for name in prelude.names()}).of(body)
        uses = uses_of(*body, *_left_in(body))
        self._given = ({*given} | uses.bound) - uses.outer - prelude.names()
        self._parameters = {*given}
        self._binders = _binders([*body, *_left_in(body)])
        self._taken = self._given | uses.read
        self._count = 0

    def suite(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        place = 0
        while place < len(body):
            if id(body[place]) in self._prelude.dropped:
                place += 1
                continue
            end = self._end(body, place)
            if end is None:
                made.append(self._inside(body[place]))
                place += 1
            else:
                made += self._lifted(body[place:end])
                place = end
        return made or [ast.copy_location(ast.Pass(), body[0])]

    def _end(self, body: Sequence[ast.stmt], place: int) -> int | None:
        """Behind the run that begins here; None if none does."""
        end, last = place, None
        while end < len(body) and (self._is_whole(body[end]) or self._is_free(body[end])):
            end += 1
            if self._is_whole(body[end - 1]):
                last = end
            if _leaves(body[end - 1]) or _has_exits_of_its_own(body[end - 1]):
                break  # what is behind a case is behind the block too
        if last is None:
            return None
        first = next(number for number in range(place, last) if not _is_constant(body[number]) or self._is_whole(body[number]))
        if first > place and not self._absorbs(body, place, last):
            return None
        while end > last and _is_constant(body[end - 1]):
            end -= 1
        while end < len(body) and self._is_glued(body[place:end]) and self._may(body[end]):
            end += 1
        return end

    def _is_glued(self, run: Sequence[ast.stmt]) -> bool:
        """Whether something without a value is bound here, and read behind."""
        made = {name for statement in run for name in valueless_in(statement)} | (uses_of(*run).bound & self._glued)
        return not (_leaves(run[-1]) or _has_exits_of_its_own(run[-1])) and bool(made & self._live.after[id(run[-1])])

    def _absorbs(self, body: Sequence[ast.stmt], place: int, end: int) -> bool:
        """Whether what a constant binds is read in the run: else it is the initial value of a variable, which takes no node."""
        bound = uses_of(body[place]).bound
        return bool(bound & uses_of(*body[place + 1 : end]).read)

    def _is_whole(self, statement: ast.stmt) -> bool:
        """Whether all of a statement is lifted: it is marked, or something in it is, and it takes fewer nodes so."""
        if _has_exits_of_its_own(statement):
            return id(statement) in self._marks and isinstance(statement, ast.Match)
        if id(statement) in self._marks:
            return not has_await(statement)
        if has_await(statement) or isinstance(statement, _SCOPES) or not self._is_marked_inside(statement):
            return False
        return not isinstance(statement, ast.If) or not any(True for _ in jumps_of([statement]))

    def _is_marked_inside(self, statement: ast.stmt) -> bool:
        return any(id(part) in self._marks for part in ast.walk(statement))

    def _inside(self, statement: ast.stmt) -> ast.stmt:
        """A statement with the suites inside of it rewritten."""
        if isinstance(statement, _SCOPES) or not self._is_marked_inside(statement):
            return statement
        new = _copied(statement)
        for name in _SUITES:
            inner = getattr(new, name, None)
            if isinstance(inner, list) and inner:
                is_suite = isinstance(inner[0], ast.stmt)
                setattr(new, name, self.suite(inner) if is_suite else [self._inside_of(one) for one in inner])
        return new

    def _inside_of(self, part: ast.ExceptHandler | ast.match_case) -> ast.AST:
        new = _copied(part)
        new.body = self.suite(part.body)
        return new

    # -- one block ------------------------------------------------------------------------------------------------------

    def _lifted(self, run: Sequence[ast.stmt]) -> list[ast.stmt]:
        after = self._live.after[id(run[-1])]
        around = self._live.around[id(run[0])]
        block = self._block(run, after, around)
        arguments: list[ast.expr] = [_at(ast.Name(name, ast.Load()), run) for name in block.inputs]
        whole = _at(Evaluated(arguments, block), run)
        if block.is_plain:
            return self._plain(block, whole, run)
        self._count += 1
        name = f"block{self._count}"
        while name in self._taken:
            self._count += 1
            name = f"block{self._count}"
        made: list[ast.stmt] = [_at(ast.Assign([_at(ast.Name(name, ast.Store()), run)], whole), run)]
        made += self._branches(block, name, after, around, run)
        return made

    def _block(self, run: Sequence[ast.stmt], after: frozenset[str], around: Around) -> Block:
        made, _ = self._prelude.of(uses_of(*run).read)
        made = [one for one in made if one not in run]
        whole = [*made, *run]
        uses = uses_of(*whole)
        uses.changed |= uses.read & self._under
        bound = frozenset(uses.bound | uses.changed)
        exits = list(dict.fromkeys(kind for kind in jumps_of(run)))
        certain = Certain().of(whole, set())
        exits += [NEXT] if NEXT in certain.ends else []
        live = {kind: self._live_at(kind, run, after, around) for kind in exits}
        if bound & around.raise_ and (self._under & around.raise_ or _may_raise_late(whole, around.raise_)):
            exits.append(RAISE)
            live[RAISE] = around.raise_
        outputs = sorted(name for name in bound & self._given if any(name in names for names in live.values()))
        unsure = {
            name for name in outputs
            if any(name in live[kind] and name not in certain.ends.get(kind, set()) for kind in exits)
        }
        needed = {name for name in inputs_of(whole) & self._given if name in outputs or self._is_bound_outside(name, run)}
        return Block(
            tuple(whole), sorted(needed | unsure), frozenset(unsure - needed), outputs, exits,
            {kind: frozenset(certain.ends.get(kind, set())) for kind in exits}, frozenset(uses.changed), frozenset(uses.deleted),
        )

    def _is_bound_outside(self, name: str, run: Sequence[ast.stmt]) -> bool:
        """Whether something else binds a name too. A name that only the block binds has no value in front of it."""
        inside = {id(part) for statement in run for part in ast.walk(statement)}
        return name in self._parameters or not self._binders.get(name, set()) <= inside

    def _live_at(self, kind: str, run: Sequence[ast.stmt], after: frozenset[str], around: Around) -> frozenset[str]:
        if kind == NEXT:
            return after
        leave = _leave_of(kind, run)
        live: frozenset[str] = getattr(around, f"{kind}_") if leave is None else self._live.leaves[kind, id(leave)]
        return live

    def _plain(self, block: Block, whole: Evaluated, run: Sequence[ast.stmt]) -> list[ast.stmt]:
        if block.exits == ["return"]:
            return [_at(ast.Return(whole), run)]
        if not block.outputs:
            return [_at(ast.Expr(whole), run)]
        (name,) = block.outputs
        return [self._bound(block, name, NEXT, whole, run)]

    def _bound(self, block: Block, name: str, kind: str, value: ast.expr, run: Sequence[ast.stmt]) -> ast.stmt:
        assigned = _at(ast.Assign([_at(ast.Name(name, ast.Store()), run)], value), run)
        if name not in block.certain[kind]:
            vars(assigned)["leaves_unbound"] = name in block.deleted
        return assigned

    def _branches(
        self, block: Block, name: str, after: frozenset[str], around: Around, run: Sequence[ast.stmt]
    ) -> list[ast.stmt]:
        """The statements behind a block: for each exit the names that are live there, and the jump."""

        def output(key: str) -> Output:
            return _at(Output(_at(ast.Name(name, ast.Load()), run), key), run)

        def way(kind: str) -> list[ast.stmt]:
            live = self._live_at(kind, run, after, around)
            names: list[ast.stmt] = [
                self._bound(block, one, kind, output(f"name.{one}"), run) for one in block.outputs if one in live
            ]
            jumps: dict[str, ast.stmt] = {
                "return": ast.Return(output("value")), "break": ast.Break(), "continue": ast.Continue(),
                RAISE: ast.Raise(output("error"), None),
            }
            leave = _leave_of(kind, run)
            if leave is not None:
                return [*names, *self.suite(leave.body)]
            return [*names, _at(jumps[kind], run)] if kind in jumps else names

        leaving = [kind for kind in block.exits if kind != NEXT]
        rest = way(NEXT) if NEXT in block.exits else []
        if NEXT not in block.exits and leaving:
            rest = way(leaving.pop())
        for kind in reversed(leaving):  # in the order of the source
            test = _at(ast.Compare(output("exit"), [ast.Eq()], [_at(ast.Constant(kind), run)]), run)
            rest = [_at(ast.If(test, way(kind), rest), run)]
        return rest


def _binders(body: Sequence[ast.stmt]) -> dict[str, set[int]]:
    """The nodes that bind each name."""
    found: dict[str, set[int]] = {}
    for node in (part for statement in body for part in ast.walk(statement)):
        names = {node.id} if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else set[str]()
        if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            names = {node.name}
        elif isinstance(node, ast.MatchMapping) and node.rest:
            names = {node.rest}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
            names = uses_of(node).bound
        for name in names:
            found.setdefault(name, set()).add(id(node))
    return found


def _left_in(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements that exits of blocks lead to."""
    found = [one for statement in body for part in ast.walk(statement) if isinstance(part, Leave) for one in part.body]
    return [*found, *_left_in(found)] if found else []


def _leave_of(kind: str, run: Sequence[ast.stmt]) -> Leave | None:
    parts = (part for statement in run for part in ast.walk(statement))
    return next((part for part in parts if isinstance(part, Leave) and part.kind == kind), None)


def inputs_of(run: Sequence[ast.stmt]) -> frozenset[str]:
    """Returns the names that statements read before they have certainly bound them."""
    return Liveness().before(run)


def _may_raise_late(run: Sequence[ast.stmt], live: frozenset[str]) -> bool:
    """Whether the block may raise behind a place where it has bound or changed a name that a handler reads."""
    for place, statement in enumerate(run):
        uses = uses_of(statement)
        if (uses.bound | uses.changed) & live:
            single = place == len(run) - 1 and not uses.changed & live
            named = isinstance(statement, ast.Assign) and all(isinstance(one, ast.Name) for one in statement.targets)
            return not (single and named)
    return False


def _has_exits_of_its_own(statement: ast.stmt) -> bool:
    return any(isinstance(part, Leave) for part in ast.walk(statement))


def _leaves(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Return | ast.Raise | ast.Break | ast.Continue)


def _is_constant(statement: ast.stmt) -> bool:
    """Whether a statement may take no node of its own: a name begins with a constant."""
    match statement:
        case ast.Assign(targets=[ast.Name()], value=value) | ast.AnnAssign(target=ast.Name(), value=ast.expr() as value):
            return all(isinstance(part, ast.Constant | ast.List | ast.Dict | ast.Load) for part in ast.walk(value))
        case ast.Pass():
            return True
    return False


def _copied(node: _Node) -> _Node:
    new = type(node).__new__(type(node))
    vars(new).update(vars(node))
    return new


def _at(node: _Node, run: Sequence[ast.stmt]) -> _Node:
    """With the lines of the statements that a node stands for."""
    first, last = run[0], run[-1]
    place = {"lineno": first.lineno, "col_offset": first.col_offset}
    vars(node).update(place, end_lineno=last.end_lineno, end_col_offset=last.end_col_offset)
    return node
