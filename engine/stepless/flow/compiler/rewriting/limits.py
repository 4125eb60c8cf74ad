"""Rewrites a semaphore that limits how many calls of one coroutine run at once:

    limit = asyncio.Semaphore(5)
    async def one(x):
        async with limit:
            return await f(x)
    await asyncio.gather(*[one(x) for x in xs])

is a `gather` of which five calls run at once. A call that waits for its turn has done nothing, so the guard must be around all
that the coroutine does. Python goes on with the other calls when one fails: so failures are kept, and the first is raised behind
the last call. Any other use of a semaphore stays as it is, and is refused where it is read."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from stepless.flow.compiler.origin import Origin
from stepless.flow.compiler.rewriting.nested import LocalPart, part_of
from stepless.flow.compiler.rewriting.reading import calling, names_in, placed_at
from stepless.flow.compiler.rewriting.words import RESULTS, WINDOW, WORDS
from stepless.flow.compiler.trees import copied
from stepless.flow.words import word_of

_MADE: Final = ("Semaphore", "BoundedSemaphore", "Lock")
Static = Callable[[ast.expr], Any]


@dataclass(frozen=True, slots=True)
class _Use:
    """A call that is given the semaphore, and the `gather` that it is in."""

    call: ast.Call
    gather: ast.Await | None


def with_limits(origin: Origin, static: Static, part_of_coroutine: Callable[[Any], Any]) -> Origin:
    """Returns the function without its semaphores, as far as each limits calls of coroutines whose whole body it guards."""
    if not any(name in origin.text for name in _MADE):
        return origin
    limits = _Limits(replace(origin, tree=copied(origin.tree), globals={**origin.globals, **WORDS}), static, part_of_coroutine)
    return limits.origin if limits.found else origin


class _Limits:
    def __init__(self, origin: Origin, static: Static, part_of_coroutine: Callable[[Any], Any]) -> None:
        self.origin = origin
        self._part_of_coroutine = part_of_coroutine
        self.found = False
        self._static = static
        stored = Counter(
            part.id for part in ast.walk(origin.tree) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
        )
        names = names_in(origin.tree.body)
        for statement in [part for part in ast.walk(origin.tree) if isinstance(part, ast.Assign)]:
            name, count = self._made(statement)
            if name and stored[name] == 1:
                uses = list(self._uses(name))
                if uses and len(uses) == names[name] - 1:
                    self._limit(statement, name, count, uses)

    def _made(self, statement: ast.Assign) -> tuple[str, int]:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=function, args=given, keywords=words)):
                target = self._static(function)
                if getattr(target, "__module__", "") != "asyncio.locks" or getattr(target, "__name__", "") not in _MADE:
                    return "", 0
                values = [*given, *(word.value for word in words if word.arg == "value")]
                if len(values) != len(given) + len(words) or len(values) > 1:
                    return "", 0
                count = self._number(values[0]) if values else 1
                return (name, count) if type(count) is int and count > 0 else ("", 0)
        return "", 0

    def _number(self, node: ast.expr) -> Any:
        return node.value if isinstance(node, ast.Constant) else self._static(node)

    def _uses(self, name: str) -> Iterator[_Use]:
        for part in ast.walk(self.origin.tree):
            if not isinstance(part, ast.Await) or not isinstance(part.value, ast.Call):
                continue
            call = part.value
            if word_of(self._static(call.func)) != "gather":
                yield from [_Use(call, None)] if _gives(call, name) else []
                continue
            calls = call.args
            match calls:
                case [ast.Starred(value=ast.ListComp() | ast.GeneratorExp() as listed)]:
                    calls = [listed.elt]
            if all(isinstance(one, ast.Call) and _gives(one, name) for one in calls):
                yield from (_Use(one, part) for one in calls if isinstance(one, ast.Call))

    def _limit(self, statement: ast.Assign, name: str, count: int, uses: list[_Use]) -> None:
        parts = {id(one.call): self._unguarded(one.call, name) for one in uses}
        computed = any(_keeps(one.gather.value) is None for one in uses if one.gather is not None)  # type: ignore[arg-type]
        if computed or any(part is None for part in parts.values()):
            return
        names = self.origin.globals
        assert isinstance(names, dict)
        for one in uses:
            part = parts[id(one.call)]
            assert part is not None and isinstance(one.call.func, ast.Name)
            word = f"{one.call.func.id.rstrip('_')}_limited__"
            names.setdefault(word, part)
            one.call.func = ast.copy_location(ast.Name(word, ast.Load()), one.call.func)
            one.call.args = [given for given in one.call.args if not _is(given, name)]
            one.call.keywords = [given for given in one.call.keywords if not _is(given.value, name)]
        gathers = {id(one.gather): one.gather for one in uses if one.gather is not None}
        _Placing({place: _narrowed(gather, count) for place, gather in gathers.items()}).visit(self.origin.tree)
        statement.value = ast.copy_location(ast.Constant(None), statement)
        self.found = True

    def _unguarded(self, call: ast.Call, name: str) -> LocalPart | None:
        """The coroutine that a call names, without the guard that is given to it."""
        part = self._static(call.func)
        part = part if word_of(part) == "part" else self._part_of_coroutine(part)
        if part is None or getattr(part, "changed", None) is not None or not isinstance(call.func, ast.Name):
            return None
        source: Origin = part.origin()
        places = [one.arg for one in (*source.tree.args.posonlyargs, *source.tree.args.args)]
        if any(isinstance(one, ast.Starred) for one in call.args) or len(call.args) > len(places):
            return None
        given = [places[place] for place, one in enumerate(call.args) if _is(one, name)]
        given += [str(word.arg) for word in call.keywords if _is(word.value, name)]
        tree = copied(source.tree)
        if len(given) != 1 or not _take_out(tree, given[0]):
            return None
        return part_of(source, tree, f"{source.name}.limited", getattr(part, "closure", frozenset()) - {*given})


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _gives(call: ast.Call, name: str) -> bool:
    return sum(_is(one, name) for one in (*call.args, *(word.value for word in call.keywords))) == 1


def _take_out(tree: ast.AsyncFunctionDef | ast.FunctionDef, name: str) -> bool:
    """Takes the guard and its parameter out of a coroutine, if it stands around all that the coroutine does."""
    body = [one for one in tree.body if not isinstance(one, ast.Pass) and not (
        isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
    )]  # fmt: skip
    reads = sum(isinstance(part, ast.Name) and part.id == name for one in body for part in ast.walk(one))
    match body:
        case [ast.AsyncWith(items=[ast.withitem(context_expr=ast.Name(id=held), optional_vars=None)]) as guard, *rest]:
            plain = all(isinstance(one, ast.Return) and not _awaits(one) for one in rest)
            if held != name or reads != 1 or len(rest) > 1 or not plain:
                return False
            tree.body = [*guard.body, *rest]
        case _:
            return False
    arguments = tree.args
    placed = [*arguments.posonlyargs, *arguments.args]
    if any(one.arg == name for one in placed[len(placed) - len(arguments.defaults) :]):
        return False
    arguments.posonlyargs = [one for one in arguments.posonlyargs if one.arg != name]
    arguments.args = [one for one in arguments.args if one.arg != name]
    kept = [pair for pair in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if pair[0].arg != name]
    arguments.kwonlyargs, arguments.kw_defaults = [one for one, _ in kept], [default for _, default in kept]
    return True


def _awaits(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Await) for part in ast.walk(node))


def _narrowed(gather: ast.Await, count: int) -> ast.expr:
    """A `gather` of which so many calls run at once, and which raises the first failure behind the last of them."""
    call = gather.value
    assert isinstance(call, ast.Call)
    words = [ast.keyword("return_exceptions", ast.Constant(True)), ast.keyword(WINDOW, ast.Constant(count))]
    wide = ast.Await(ast.Call(call.func, call.args, words))
    return placed_at(wide if _keeps(call) else calling(RESULTS, [wide]), gather)


def _keeps(call: ast.Call) -> bool | None:
    """Whether a `gather` returns failures; None if that is computed."""
    match call.keywords:
        case []:
            return False
        case [ast.keyword(arg="return_exceptions", value=ast.Constant(value=kept))]:
            return bool(kept)
    return None


class _Placing(ast.NodeTransformer):
    """Puts other expressions in the places of some awaits."""

    def __init__(self, others: Mapping[int, ast.expr]) -> None:
        self._others = others

    def visit_Await(self, node: ast.Await) -> ast.AST:
        return self._others.get(id(node)) or self.generic_visit(node)
