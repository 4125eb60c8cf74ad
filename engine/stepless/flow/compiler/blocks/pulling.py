"""Takes awaits out of statements that are lifted: `seen.add(await f(x))` is `value = await f(x)` and `seen.add(value)`. Also
takes `:=` out of a test with awaits behind it, and of what is evaluated first. Nothing is taken out where it would change the
order in which Python evaluates."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from stepless.flow.compiler.blocks.cases import as_if, chooser, is_compared, is_taken_apart
from stepless.flow.compiler.blocks.jumps import jumps_of
from stepless.flow.compiler.expressions.hoisting import has_await
from stepless.flow.compiler.facts.uses import uses_of
from stepless.flow.compiler.trees import copied

_TESTED: Final = (ast.If, ast.While)
_NESTED: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_SIMPLE: Final = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return, ast.Delete, ast.Assert, ast.Raise)
Marks = set[tuple[int, int]]
_Node = TypeVar("_Node", bound=ast.AST)


class Pulling:
    """Rewrites the statements of one function. `marks` are the places of those that are lifted; names that it makes are not
    among `taken`."""

    def __init__(self, marks: Marks, taken: set[str]) -> None:
        self._marks = marks
        self._taken = taken
        self.marked: set[int] = set()

    def suite(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for statement in body:
            made += self._statement(statement)
        return made

    def _statement(self, statement: ast.stmt) -> list[ast.stmt]:
        before: list[ast.stmt] = []
        marked = (statement.lineno, statement.col_offset) in self._marks
        if marked and isinstance(statement, _SIMPLE) and has_await(statement):
            before, statement = self._taken_apart(statement)
        elif isinstance(statement, ast.Match) and is_taken_apart(statement, leaves=any(True for _ in jumps_of([statement]))):
            return self._matched(statement)
        elif isinstance(statement, _TESTED) and any(isinstance(part, ast.NamedExpr) for part in ast.walk(statement.test)):
            before, statement = self._tested(statement)
        if marked:
            self.marked.add(id(statement))
        inner = self._inside(statement)
        if inner is not statement and id(statement) in self.marked:
            self.marked.add(id(inner))
        return [*before, inner]

    def _matched(self, statement: ast.Match) -> list[ast.stmt]:
        """A `match` whose cases stand behind it."""
        before: list[ast.stmt] = []
        subject = statement.subject
        if not isinstance(subject, ast.Name):
            name = self._name("subject")
            before = [_at(ast.Assign([_at(ast.Name(name, ast.Store()), subject)], subject), subject)]
            subject = _at(ast.Name(name, ast.Load()), subject)
        if is_compared(statement):
            return [*before, *as_if(statement, subject, self.suite)]
        made = chooser(statement, subject, self.suite)
        self.marked.add(id(made))
        return [*before, made]

    def _inside(self, statement: ast.stmt) -> ast.stmt:
        if isinstance(statement, _NESTED):
            return statement
        changed: dict[str, Any] = {}
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(statement, name, None)
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                new = self.suite(inner)
                changed |= {name: new} if new != inner else {}
        for name in ("handlers", "cases"):
            parts = getattr(statement, name, None)
            if parts:
                held = [self._part(one) for one in parts]
                changed |= {name: held} if held != parts else {}
        return _with(statement, changed) if changed else statement

    def _part(self, part: ast.AST) -> ast.AST:
        body: list[ast.stmt] = part.body  # type: ignore[attr-defined]  # of a handler or a case
        new = self.suite(body)
        return _with(part, {"body": new}) if new != body else part

    # -- awaits -------------------------------------------------------------------------------------------------------

    def _taken_apart(self, statement: ast.stmt) -> tuple[list[ast.stmt], ast.stmt]:
        """The parts of a statement that awaits, in front of it, and the rest of it."""
        if changing_call(statement) is not None:
            return self._fed(statement)
        before, rest = self._pulled(statement)
        return [one for each in before for one in self._with_arguments(each)], rest

    def _with_arguments(self, statement: ast.stmt) -> list[ast.stmt]:
        if changing_call(statement) is None:
            return [statement]
        before, rest = self._fed(statement)
        return [*before, rest]

    def _fed(self, statement: ast.stmt) -> tuple[list[ast.stmt], ast.stmt]:
        """The arguments of an awaited call, one of which changes something, as assignments in front of it: `f(xs.pop())`."""
        new = copied(statement)
        call = changing_call(new)
        assert call is not None
        before: list[ast.stmt] = []
        for holder, name, place, part in _in_arguments(call):
            if not _is_simple(part):
                value = _at(ast.Name(self._name("value"), ast.Load()), part)
                target = _at(ast.Name(value.id, ast.Store()), part)
                assigned = _at(ast.Assign([target], part), part)
                inner, rest = self._taken_apart(assigned) if has_await(assigned) else ([], assigned)
                if not has_await(rest):
                    self.marked.add(id(rest))
                before += [*inner, rest]
                _put(holder, name, place, value)
        return before, new

    def _pulled(self, statement: ast.stmt) -> tuple[list[ast.stmt], ast.stmt]:
        """The awaits of a statement as assignments in front of it, and the rest of it; as it is, where Python evaluates something
        else in front of one of them."""
        new = copied(statement)
        before: list[ast.stmt] = []
        seen: list[ast.stmt] = []  # what is evaluated in front of the next await, and may be evaluated again
        for parent, name, place, part in _in_order(new):
            if isinstance(part, ast.Await):
                value = ast.copy_location(ast.Name(self._name("value"), ast.Load()), part)
                target = ast.copy_location(ast.Name(value.id, ast.Store()), part)
                self.marked |= {id(one) for one in seen}
                before += [*seen, ast.copy_location(ast.Assign([target], part), statement)]
                seen = []
                _put(parent, name, place, value)
            elif not _is_simple(part):
                if not _is_repeatable(part):
                    break
                seen.append(ast.copy_location(ast.Expr(copied(part)), statement))
        return (before, new) if before and not has_await(new) else ([], statement)

    def _tested(self, statement: ast.If | ast.While) -> tuple[list[ast.stmt], ast.stmt]:
        """A test with `:=` in it, as the assignment of its value to a name, and a test of the name."""
        if isinstance(statement, ast.While) and statement.orelse:
            return [], statement
        name = self._name("test")
        first = ast.copy_location(ast.Assign([_at(ast.Name(name, ast.Store()), statement.test)], statement.test), statement.test)
        before: list[ast.stmt] = [first]
        if has_await(first):
            taken = self._first(first)
            if taken is None:
                return [], statement
            before = taken
        else:
            self.marked.add(id(first))
        test: ast.expr = _at(ast.Name(name, ast.Load()), statement.test)
        if isinstance(statement, ast.If):
            return before, _with(statement, {"test": test})
        leave = _at(ast.If(_at(ast.UnaryOp(ast.Not(), test), test), [_at(ast.Break(), test)], []), statement.test)
        return [], _with(statement, {"test": _at(ast.Constant(True), test), "body": [*before, leave, *statement.body]})

    def _first(self, statement: ast.Assign) -> list[ast.stmt] | None:
        """The `:=` of an await that is evaluated first as an assignment in front; None if it is not first."""
        new = copied(statement)
        for parent, name, place, part in _in_order(new):
            if isinstance(part, ast.NamedExpr) and isinstance(part.value, ast.Await):
                bound = _at(ast.Assign([part.target], part.value), statement)
                _put(parent, name, place, _at(ast.Name(part.target.id, ast.Load()), part))
                return None if has_await(new) or any(isinstance(one, ast.NamedExpr) for one in ast.walk(new)) else [bound, new]
            if not isinstance(part, ast.Constant):
                return None
        return None

    def _name(self, base: str) -> str:
        number = 1
        while f"{base}{number}" in self._taken:
            number += 1
        self._taken.add(f"{base}{number}")
        return f"{base}{number}"


def changing_call(statement: ast.AST) -> ast.Call | None:
    """Returns the call that a statement awaits as a whole, if an argument of it changes something in place."""
    match statement:
        case (
            ast.Assign(targets=[ast.Name()], value=ast.Await(value=ast.Call() as call))
            | ast.AnnAssign(target=ast.Name(), value=ast.Await(value=ast.Call() as call))
            | ast.Expr(value=ast.Await(value=ast.Call() as call)) | ast.Return(value=ast.Await(value=ast.Call() as call))
        ):
            given = [part for *_, part in _in_arguments(call)]
            odd = any(isinstance(one, ast.Starred | ast.NamedExpr) for part in given for one in ast.walk(part))
            return call if not odd and uses_of(*given).changed else None
    return None


def _in_arguments(call: ast.Call) -> Iterator[tuple[ast.AST, str, int | None, ast.expr]]:
    for place, part in enumerate(call.args):
        yield call, "args", place, part
    for word in call.keywords:
        yield word, "value", None, word.value


def taken_in(body: Sequence[ast.stmt]) -> set[str]:
    uses = uses_of(*body)
    return uses.read | uses.bound


def _in_order(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.expr]]:
    """The parts of a node in the order in which Python evaluates them, each with its place: awaits, `:=`, and the largest parts
    without one. Where Python may skip what follows, that is one part."""
    for name in ("value", "targets", "target") if isinstance(node, ast.Assign) else node._fields:
        value = getattr(node, name, None)
        for place, part in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(part, ast.keyword):
                yield from _in_order(part)
            if not isinstance(part, ast.expr):
                continue
            if isinstance(part, ast.Await | ast.NamedExpr) or not _holds(part):
                if _holds(part) or not isinstance(getattr(part, "ctx", None), ast.Store | ast.Del):
                    yield node, name, place, part
            elif isinstance(part, ast.BoolOp | ast.IfExp | ast.Compare):
                yield from _first_of(part)
                yield node, name, place, part
            elif isinstance(part, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.Lambda):
                yield node, name, place, part
            else:
                yield from _in_order(part)


def _first_of(node: ast.BoolOp | ast.IfExp | ast.Compare) -> Iterator[tuple[ast.AST, str, int | None, ast.expr]]:
    """The part that Python evaluates first of an expression that it may not evaluate whole."""
    name, place = ("values", 0) if isinstance(node, ast.BoolOp) else ("test" if isinstance(node, ast.IfExp) else "left", None)
    first = node.values[0] if isinstance(node, ast.BoolOp) else node.test if isinstance(node, ast.IfExp) else node.left
    if isinstance(first, ast.Await | ast.NamedExpr):
        yield node, name, place, first
    elif _holds(first):
        yield from _in_order(first)


def _holds(part: ast.AST) -> bool:
    return any(isinstance(one, ast.Await | ast.NamedExpr) for one in ast.walk(part))


def _is_simple(part: ast.expr) -> bool:
    """Whether it makes no difference when something is evaluated."""
    if isinstance(part, ast.List | ast.Dict):
        return not (part.elts if isinstance(part, ast.List) else part.keys)
    return isinstance(part, ast.Name | ast.Constant) or (isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name))


def _is_repeatable(part: ast.expr) -> bool:
    """Whether a part is an item, or what `setdefault` returns: evaluated twice, it is the same."""
    match part:
        case ast.Attribute(value=value):
            return _is_simple(value) or _is_repeatable(value)
        case ast.Subscript(value=value, slice=key) if not isinstance(key, ast.Slice):
            return all(_is_simple(one) or _is_repeatable(one) for one in (value, key))
        case ast.Call(func=ast.Attribute(attr="setdefault", value=value), args=given, keywords=[]):
            return all(_is_simple(one) or _is_repeatable(one) for one in (value, *given))
    return False


def _put(parent: ast.AST, name: str, place: int | None, value: ast.expr) -> None:
    if place is None:
        setattr(parent, name, value)
    else:
        getattr(parent, name)[place] = value


def _with(node: _Node, changed: Mapping[str, Any]) -> _Node:
    """A copy of a node with other fields."""
    new = type(node).__new__(type(node))
    vars(new).update({**vars(node), **changed})
    return new


def _at(node: _Node, place: ast.AST) -> _Node:
    return ast.copy_location(node, place)
