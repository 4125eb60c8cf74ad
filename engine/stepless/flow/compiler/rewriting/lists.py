"""Rewrites a list of calls that grows, and that one `gather` awaits:

    calls = []
    for x in xs:
        calls.append(f(x) if x else g(x, 1))     # in two branches
    await asyncio.gather(*calls)

A call that nothing has awaited has done nothing but take its arguments. So the list holds the arguments, with a number that
says whose they are, and the `gather` makes the calls. A task begins where it is created: of tasks, nothing may be awaited in
between. A list that is used in another way stays as it is, and is refused where it is read."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from stepless.flow.compiler.origin import Origin, hints_of
from stepless.flow.compiler.rewriting.nested import part_of
from stepless.flow.compiler.rewriting.reading import placed_at, uses
from stepless.flow.compiler.trees import copied
from stepless.flow.words import word_of

_LOAD: Final = ast.Load()
_CALLS: Final = ("step", "part", "flow")
_JUMPS: Final = (ast.Return, ast.Break, ast.Continue, ast.Raise)
_LOOPS: Final = (ast.For, ast.While)
_PLAIN: Final = (int, str, bool, float, type(None), Any)
Static = Callable[[ast.expr], Any]


@dataclass(slots=True)
class _List:
    """How one list is used. `calls` are the calls that are put into it, each with what holds it and where."""

    name: str
    calls: list[tuple[ast.AST, str, int | None, ast.Call]] = field(default_factory=list)
    gathers: list[tuple[ast.Starred, ast.stmt]] = field(default_factory=list)
    tasks: bool = False
    known: int = 0  # how many of its uses are of these kinds


def with_lists(origin: Origin, static: Static) -> Origin:
    """Returns the function with lists of arguments in place of lists of calls."""
    if "gather" not in origin.text:
        return origin
    names = {
        part.value.id for part in ast.walk(origin.tree) if isinstance(part, ast.Starred) and isinstance(part.value, ast.Name)
    }
    arguments = {one.arg for one in origin.parameters}
    for name in sorted(names - arguments):
        tree = copied(origin.tree)
        made = _Lists(replace(origin, tree=tree, globals={**origin.globals}), static).rewritten(name)
        origin = made or origin
    return origin


class _Lists:
    def __init__(self, origin: Origin, static: Static) -> None:
        self._origin = origin
        self._static = static
        self._around: dict[int, list[ast.stmt]] = {}  # the statements around each
        self._suites: dict[int, list[ast.stmt]] = {}  # the suite of each
        self._walk(origin.tree, [])
        stored = Counter(
            part.id for part in ast.walk(origin.tree) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        )
        once = {
            target.id for one in origin.tree.body if isinstance(one, ast.Assign)
            for target in one.targets if isinstance(target, ast.Name) and stored[target.id] == 1
        }
        self._fixed = once | {one.arg for one in origin.parameters if not stored[one.arg]}

    def _walk(self, node: ast.AST, around: list[ast.stmt]) -> None:
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            found = getattr(node, name, None)
            suite: list[Any] = found if isinstance(found, list) else []
            for one in suite:
                if isinstance(one, ast.stmt):
                    self._around[id(one)], self._suites[id(one)] = around, suite
                    if not isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                        self._walk(one, [*around, one])
                else:
                    self._walk(one, around)

    def rewritten(self, name: str) -> Origin | None:
        found = _List(name)
        statements = [one for suite in {id(s): s for s in self._suites.values()}.values() for one in suite]
        for one in statements:
            self._read(one, found)
        every = sum(isinstance(part, ast.Name) and part.id == name for part in ast.walk(self._origin.tree))
        if not found.calls or not found.gathers or found.known != every or not self._is_of_one_type(found):
            return None
        if not all(self._is_last(one, found) for one in found.gathers) or (found.tasks and not self._is_at_once(found)):
            return None
        self._write(found)
        return self._origin

    # -- what the list is used for -------------------------------------------------------------------------------------

    def _read(self, statement: ast.stmt, found: _List) -> None:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == found.name:
                found.known += self._put(value, found)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value) if name == found.name:
                found.known += self._put(value, found)
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value) if name == found.name:
                found.known += self._put(value, found)
            case ast.Expr(value=ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr=method), args=given, keywords=[],
            ) as call) if name == found.name:  # fmt: skip
                match method, given:
                    case "append", [one]:
                        found.known += self._call(call, "args", 0, one, found)
                    case "extend", [one]:
                        found.known += self._put(one, found)
                    case "clear", []:
                        found.known += 1
            case _:
                self._count(statement, found)

    def _count(self, statement: ast.stmt, found: _List) -> None:
        """Reads how many calls there are, and awaits them."""
        test = statement.test if isinstance(statement, ast.If | ast.While) else None
        found.known += isinstance(test, ast.Name) and test.id == found.name
        for part in _own(statement):
            match part:
                case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]):
                    found.known += name == found.name
                case ast.Await(value=ast.Call(args=[ast.Starred(value=ast.Name(id=name)) as spread]) as call):
                    if name == found.name and word_of(self._static(call.func)) == "gather":
                        found.gathers.append((spread, statement))
                        found.known += 1

    def _put(self, value: ast.expr, found: _List) -> bool:
        """Takes the calls of a display, or of a comprehension."""
        match value:
            case ast.List(elts=items):
                return all(self._call(value, "elts", place, one, found) for place, one in enumerate(items))
            case ast.ListComp() | ast.GeneratorExp():
                return not uses(value, found.name) and self._call(value, "elt", None, value.elt, found)
        return False

    def _call(self, holder: ast.AST, name: str, place: int | None, value: ast.expr, found: _List) -> bool:
        word = word_of(self._static(value.func)) if isinstance(value, ast.Call) else ""
        if word == "create_task" and isinstance(value, ast.Call) and len(value.args) == 1:
            found.tasks = True
            value = value.args[0]
        if not isinstance(value, ast.Call) or any(isinstance(one, ast.Starred) for one in value.args):
            return False
        target = self._static(value.func)
        known = word_of(target) in _CALLS or inspect.iscoroutinefunction(target)
        if not known or uses(value, found.name) or any(one.arg is None for one in value.keywords):
            return False
        found.calls.append((holder, name, place, value))
        return True

    def _is_of_one_type(self, found: _List) -> bool:
        """Whether one type describes what all calls return: else a model among the results would be an object without methods."""
        kinds = [self._returned(call) for *_, call in found.calls]
        return all(kind == kinds[0] for kind in kinds) or all(kind in _PLAIN for kind in kinds)

    def _returned(self, call: ast.Call) -> Any:
        target = self._static(call.func)
        return hints_of(getattr(target, "function", target)).get("return", Any)

    def _is_last(self, gather: tuple[ast.Starred, ast.stmt], found: _List) -> bool:
        """Whether the calls of a list are awaited once: behind the `gather` it is made again, or not used any more."""
        statement = gather[1]
        suite, around = self._suites[id(statement)], self._around[id(statement)]
        place = suite.index(statement)
        if not isinstance(statement, ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return):
            return False
        if place + 1 < len(suite) and _resets(suite[place + 1], found.name):
            return not any(isinstance(one, ast.Try) for one in around)
        last = statement.end_lineno or statement.lineno
        later = any(
            isinstance(part, ast.Name) and part.id == found.name and part.lineno > last for part in ast.walk(self._origin.tree)
        )
        made = any(_resets(one, found.name) for one in suite[:place])
        return not later and (made or not any(isinstance(one, _LOOPS) for one in around))

    def _is_at_once(self, found: _List) -> bool:
        """Whether nothing is awaited between the first task of a list and the `gather`, which certainly follows."""
        statement = found.gathers[0][1]
        suite = self._suites[id(statement)]
        first = next((place for place, one in enumerate(suite) if uses(one, found.name)), 0)
        between = suite[first : suite.index(statement)]
        inside = sum(isinstance(part, ast.Name) and part.id == found.name for one in between for part in ast.walk(one))
        awaits = sum(isinstance(part, ast.Await) for part in ast.walk(statement))
        return len(found.gathers) == 1 and inside == found.known - 1 and awaits == 1 and not any(
            isinstance(part, (ast.Await, *_JUMPS)) for one in between for part in ast.walk(one)
        )

    # -- the list of arguments ------------------------------------------------------------------------------------------

    def _write(self, found: _List) -> None:
        given = [self._given(call) for *_, call in found.calls]
        single = len(found.calls) == 1
        width = sum(map(len, given))
        names = [f"{found.name}_{place}" for place in range(width)]
        first = 0
        for site, (holder, name, place, call) in enumerate(found.calls):
            slots: list[ast.expr] = [ast.Constant(None) for _ in range(width)]
            slots[first : first + len(given[site])] = given[site]
            items = slots if single else [ast.Constant(site), *slots]
            item = items[0] if len(items) == 1 else ast.Tuple(items, _LOAD) if items else ast.Constant(None)
            _replace(holder, name, place, placed_at(item, call))
            first += len(given[site])
        calls, taken = [], iter(names)
        for *_, call in found.calls:
            calls.append(self._called(call, taken))
        which = f"{found.name}_call"
        call = calls[0] if single else self._dispatched(found, calls, which, names)
        targets = names if single else [which, *names]
        stores: list[ast.expr] = [ast.Name(one, ast.Store()) for one in targets or [which]]
        target = stores[0] if len(stores) == 1 else ast.Tuple(stores, ast.Store())
        for spread, _ in found.gathers:
            over = ast.comprehension(target, ast.Name(found.name, _LOAD), [], 0)
            spread.value = placed_at(copied(ast.ListComp(call, [over])), spread)

    def _given(self, call: ast.Call) -> list[ast.expr]:
        """The arguments of a call that may be others later."""
        return [one for one in (*call.args, *(word.value for word in call.keywords)) if not self._is_fixed(one)]

    def _is_fixed(self, value: ast.expr) -> bool:
        return isinstance(value, ast.Constant) or (isinstance(value, ast.Name) and value.id in self._fixed)

    def _called(self, call: ast.Call, taken: Iterator[str]) -> ast.Call:
        def read(value: ast.expr) -> ast.expr:
            return value if self._is_fixed(value) else ast.Name(next(taken), _LOAD)

        return ast.Call(
            call.func, [read(one) for one in call.args], [ast.keyword(word.arg, read(word.value)) for word in call.keywords],
        )

    def _dispatched(self, found: _List, calls: Sequence[ast.Call], which: str, names: Sequence[str]) -> ast.Call:
        """A part that makes one of the calls."""
        read = {part.id for one in calls for part in ast.walk(one) if isinstance(part, ast.Name)} & self._fixed
        parameters = [which, *names, *sorted(read)]
        body: list[ast.stmt] = []
        for site, call in enumerate(calls[:-1]):
            test = ast.Compare(ast.Name(which, _LOAD), [ast.Eq()], [ast.Constant(site)])
            body.append(ast.If(test, [ast.Return(ast.Await(copied(call)))], []))
        body.append(ast.Return(ast.Await(copied(calls[-1]))))
        arguments = ast.arguments([], [ast.arg(one) for one in parameters], None, [], [], None, [])
        word = f"__stepless_{self._origin.name}_{found.name}__"
        tree = ast.AsyncFunctionDef(word, arguments, body, [])
        statement = found.gathers[0][1]
        for part in ast.walk(tree):
            ast.copy_location(part, statement)
        kinds = [self._returned(call) for *_, call in found.calls]
        returns = kinds[0] if all(kind == kinds[0] for kind in kinds) and kinds[0] is not Any else None
        names_of = self._origin.globals
        assert isinstance(names_of, dict)
        names_of[word] = part_of(self._origin, tree, f"{self._origin.name}.{found.name}", frozenset(parameters), returns)
        return ast.Call(ast.Name(word, _LOAD), [ast.Name(one, _LOAD) for one in parameters], [])


def _own(statement: ast.stmt) -> Iterator[ast.AST]:
    """The parts of a statement, not those of statements in it."""
    stack: list[ast.AST] = [one for one in ast.iter_child_nodes(statement) if isinstance(one, ast.expr)]
    while stack:
        node = stack.pop()
        yield node
        stack += ast.iter_child_nodes(node)


def _resets(statement: ast.stmt, name: str) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Name(id=other)]) | ast.AnnAssign(target=ast.Name(id=other), value=ast.expr()):
            return other == name
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=other), attr="clear"))):
            return other == name
    return False


def _replace(holder: ast.AST, name: str, place: int | None, value: ast.expr) -> None:
    if place is None:
        setattr(holder, name, value)
    else:
        getattr(holder, name)[place] = value
