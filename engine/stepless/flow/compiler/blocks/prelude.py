"""Finds the names that are made again wherever they are read, because what they stand for has no value that could be recorded:
modules, functions, classes, lambdas and loggers. Each is bound once, by a statement of the function itself, from names that are
never bound again, so that making it again gives the same."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from stepless.flow.compiler.expressions.hoisting import has_await
from stepless.flow.compiler.facts.uses import uses_of

_DEFINED: Final = (ast.FunctionDef, ast.ClassDef)
_IMPORTED: Final = (ast.Import, ast.ImportFrom)


@dataclass(frozen=True, slots=True)
class Prelude:
    """The statements that make such names, in the order of the source. `dropped` are those that do nothing else."""

    statements: Sequence[ast.stmt] = ()
    dropped: frozenset[int] = frozenset()
    bound: frozenset[str] = frozenset()

    def names(self) -> frozenset[str]:
        return self.bound

    def found(self, name: str) -> Any:
        """Returns the module that a name stands for, or what is taken from one, if something has imported it already; else
        None."""
        for statement in self.statements:
            for one in statement.names if isinstance(statement, _IMPORTED) else ():
                if name != (one.asname or one.name.partition(".")[0]):
                    continue
                if isinstance(statement, ast.ImportFrom):
                    return getattr(sys.modules.get(statement.module or ""), one.name, None)
                return sys.modules.get(one.name if one.asname else name)
        return None

    def classes(self) -> frozenset[str]:
        return frozenset(one.name for one in self.statements if isinstance(one, ast.ClassDef))

    def of(self, names: Iterable[str]) -> tuple[Sequence[ast.stmt], frozenset[str]]:
        """Returns the statements that make some names and those that they need in turn, and the other names that they read."""
        wanted, made, read = set(names), list[ast.stmt](), set[str]()
        for statement in reversed(self.statements):
            uses = uses_of(statement)
            if uses.bound & wanted:
                made.insert(0, statement)
                wanted |= uses.read
                read |= uses.read
        return made, frozenset(read) - self.names()


def prelude_of(body: Sequence[ast.stmt], parameters: Iterable[str]) -> Prelude:
    if not any(map(_is_maker, body)):
        return Prelude()
    counts = Counter(name for name in _bindings(body))
    given = {*parameters}
    counts.update(given)
    made: list[ast.stmt] = []
    names: set[str] = set()
    dropped: set[int] = set()
    for statement in body:
        uses = uses_of(statement)
        local = {name for name in uses_of(*_early(statement)).read if name in counts}
        fixed = all(name in names or (counts[name] == 1 and name not in uses.bound) for name in local)
        if fixed and all(counts[name] == 1 for name in uses.bound) and _is_maker(statement):
            made.append(statement)
            names |= uses.bound
            dropped |= {id(statement)} if _does_nothing(statement) else set()
    changed = uses_of(*body).changed
    kept = [one for one in made if not uses_of(one).bound & changed]
    bound = frozenset(name for one in kept for name in uses_of(one).bound)
    return Prelude(kept, frozenset(dropped & {id(one) for one in kept}), bound)


def _early(statement: ast.stmt) -> Iterable[ast.AST]:
    """The parts of a statement that Python evaluates where it stands: a function reads its names when it is called."""
    match statement:
        case ast.FunctionDef(args=arguments):
            return [*statement.decorator_list, *arguments.defaults, *(one for one in arguments.kw_defaults if one is not None)]
        case ast.Assign(value=ast.Lambda(args=arguments)):
            return [*arguments.defaults, *(one for one in arguments.kw_defaults if one is not None)]
    return [statement]


def _bindings(body: Sequence[ast.stmt]) -> Iterable[str]:
    for statement in body:
        parts = [part for part in ast.walk(statement) if isinstance(part, ast.stmt)]
        for part in parts:
            own = uses_of(part) if not any(isinstance(inner, ast.stmt) for inner in ast.iter_child_nodes(part)) else None
            yield from own.bound if own is not None else _heads(part)


def _heads(statement: ast.stmt) -> Iterable[str]:
    """The names that a compound statement binds itself."""
    if isinstance(statement, (*_DEFINED, ast.AsyncFunctionDef)):
        yield statement.name
        return
    inner = {name for one in ast.iter_child_nodes(statement) if isinstance(one, ast.stmt) for name in uses_of(one).bound}
    yield from uses_of(statement).bound - inner


def _is_maker(statement: ast.stmt) -> bool:
    if has_await(statement):
        return False
    match statement:
        case ast.FunctionDef() | ast.ClassDef() | ast.Import() | ast.ImportFrom():
            return True
        case ast.Assign(targets=[ast.Name()], value=ast.Lambda()):
            return True
        case ast.Assign(targets=[ast.Name()], value=ast.Call() as call):
            return any(isinstance(part, ast.Attribute) and part.attr == "getLogger" for part in ast.walk(call.func))
    return False


def _does_nothing(statement: ast.stmt) -> bool:
    """Whether a statement can neither fail nor be noticed, but for the name that it binds."""
    match statement:
        case ast.Import(names=names):
            return all(one.name.partition(".")[0] in sys.stdlib_module_names for one in names)
        case ast.ImportFrom(module=module, level=0):
            return (module or "").partition(".")[0] in sys.stdlib_module_names
        case ast.FunctionDef(decorator_list=[], args=arguments):
            return not arguments.defaults and not any(arguments.kw_defaults)
        case ast.Assign(value=ast.Lambda(args=arguments)):
            return not arguments.defaults and not any(arguments.kw_defaults)
        case ast.Assign(value=ast.Call()):
            return True
    return False
