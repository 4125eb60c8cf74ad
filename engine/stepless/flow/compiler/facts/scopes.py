"""Renames local names so that one name stands for one thing. In Python a comprehension or a lambda has names of its own, which
may be spelled like others of the function; and any name may be spelled like one that the compiler makes, or as no id of a
document is. Such names are spelled otherwise before anything else is read, so that every other rule may take a name for what it
names."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from stepless.flow.compiler.trees import Visitor, copied
from stepless.limits import MAX_SOURCE_DEPTH

Scope: TypeAlias = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.Lambda
_SCOPES: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)
_MADE: Final = re.compile(r"(why|error|exit|broke|result)_\d+|return_|.*_\d+_|__.*")
"""The names that the compiler makes for variables and values."""
_LONGEST: Final = 40  # characters; longer ones are cut, as an inlined part makes them longer


@dataclass(frozen=True, slots=True)
class Settled:
    """The statements of a function in which each name names one thing. `shown` has the names of the source by those that were
    chosen, `parameters` what the statements call the parameters that they call otherwise. Those in `deep` hold an expression
    that is nested deeper than MAX_SOURCE_DEPTH: everything else reads expressions recursively."""

    body: list[ast.stmt]
    shown: Mapping[str, str]
    parameters: Mapping[str, str]
    deep: list[ast.stmt]

    def parameter(self, name: str) -> str:
        return self.parameters.get(name, name)


def settled(tree: ast.AsyncFunctionDef | ast.FunctionDef, body: Sequence[ast.stmt] | None = None) -> Settled:
    """Returns the statements of a function, or those of `body` in their place."""
    body = tree.body if body is None else body
    reader = _Reader()
    for statement in body:
        reader.visit(statement)
    local = reader.bound | {one.arg for one in _parameters(tree.args)}
    odd = {name for name in local | reader.inner if is_odd(name)}
    if reader.deep or (not odd and not reader.inner & (local | reader.read)):
        return Settled(list(body), {}, {}, reader.deep)
    namer = _Namer(local | reader.read | reader.inner)
    names = {name: namer.new(name) for name in sorted(odd & local)}
    renaming = _Renaming(namer, names, local | reader.read)
    return Settled([renaming.visit(copied(statement)) for statement in body], namer.shown, names, [])


def is_odd(name: str) -> bool:
    """Returns whether the compiler might make this name too, or a document cannot have it."""
    return _MADE.fullmatch(name) is not None or spelled(name) != name


def spelled(name: str) -> str:
    """Returns a name as a document can have it."""
    plain = name if name.isascii() else "".join(one if one.isascii() else f"u{ord(one):x}" for one in name)
    return plain if len(plain) <= _LONGEST else f"{plain[:_LONGEST - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


class _Namer:
    def __init__(self, taken: set[str]) -> None:
        self._taken = set(taken)
        self.shown: dict[str, str] = {}

    def new(self, name: str) -> str:
        base = chosen = f"{spelled(name).strip('_') or 'name'}_own"
        number = 1
        while chosen in self._taken:
            number += 1
            chosen = f"{base}{number}"
        self._taken.add(chosen)
        self.shown[chosen] = name
        return chosen


def _parameters(arguments: ast.arguments) -> Iterator[ast.arg]:
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    yield from (one for one in (arguments.vararg, arguments.kwarg) if one is not None)


def _own(scope: Scope) -> set[str]:
    """The names that a scope binds."""
    if isinstance(scope, ast.Lambda):
        return {one.arg for one in _parameters(scope.args)}
    targets = [generator.target for generator in scope.generators]
    return {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}


def _outer(scope: Scope) -> list[ast.expr]:
    """What Python evaluates outside of a scope."""
    if isinstance(scope, ast.Lambda):
        return [*scope.args.defaults, *(one for one in scope.args.kw_defaults if one is not None)]
    return [scope.generators[0].iter]


class _Reader(Visitor):
    """Collects the names that the function binds, those that it reads outside of the scopes that bind them, and those that scopes
    bind; and the statements that hold an expression nested deeper than MAX_SOURCE_DEPTH, of which it reads no more."""

    def __init__(self) -> None:
        self.bound: set[str] = set()
        self.read: set[str] = set()
        self.inner: set[str] = set()
        self.deep: list[ast.stmt] = []
        self._hidden: frozenset[str] = frozenset()
        self._statement: ast.stmt | None = None
        self._depth = 0

    def visit(self, node: ast.AST) -> None:
        kind = type(node)
        if kind is ast.Name:
            name: str = node.id  # type: ignore[attr-defined]
            if name not in self._hidden:
                (self.read if type(node.ctx) is ast.Load else self.bound).add(name)  # type: ignore[attr-defined]
        elif kind is not ast.Constant:
            outer = self._statement, self._depth
            if isinstance(node, ast.stmt):
                self._statement, self._depth = node, 0
            else:
                self._depth += 1
            if self._depth <= MAX_SOURCE_DEPTH:
                self._scope(node) if isinstance(node, _SCOPES) else self._parts(node)
            elif self._statement is not None and self._statement not in self.deep:
                self.deep.append(self._statement)
            self._statement, self._depth = outer

    def _parts(self, node: ast.AST) -> None:
        if type(node) is ast.ExceptHandler and node.name:
            self.bound.add(node.name)
        self.generic_visit(node)

    def _scope(self, scope: Scope) -> None:
        outer = _outer(scope)
        for part in outer:
            self.visit(part)
        own = _own(scope)
        self.inner |= own
        hidden, self._hidden = self._hidden, self._hidden | own
        if isinstance(scope, ast.Lambda):
            self.visit(scope.body)
        else:
            for number, generator in enumerate(scope.generators):
                for part in (*generator.ifs, *([generator.iter] if number else [])):
                    self.visit(part)
            for part in (scope.key, scope.value) if isinstance(scope, ast.DictComp) else (scope.elt,):
                self.visit(part)
        self._hidden = hidden


class _Renaming(ast.NodeTransformer):
    """Gives names their new spelling, each in its own scope."""

    def __init__(self, namer: _Namer, names: Mapping[str, str], outside: set[str]) -> None:
        self._namer = namer
        self._names = dict(names)
        self._outside = outside

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(self._names[node.id], node.ctx), node) if node.id in self._names else node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.AST:
        node.name = self._names.get(node.name, node.name) if node.name else None
        return self.generic_visit(node)

    def _scope(self, node: Scope) -> ast.AST:
        own = _own(node)
        chosen = {name: self._namer.new(name) for name in sorted(own) if name in self._outside or is_odd(name)}
        outer = self._names
        inner = {name: new for name, new in outer.items() if name not in own} | chosen
        if isinstance(node, ast.Lambda):
            node.args.defaults = [self.visit(one) for one in node.args.defaults]
            node.args.kw_defaults = [one and self.visit(one) for one in node.args.kw_defaults]
            self._names = inner
            for one in _parameters(node.args):
                one.arg = chosen.get(one.arg, one.arg)
            node.body = self.visit(node.body)
        else:
            first = node.generators[0]
            first.iter = self.visit(first.iter)
            self._names = inner
            for number, generator in enumerate(node.generators):
                generator.target = self.visit(generator.target)
                generator.iter = self.visit(generator.iter) if number else generator.iter
                generator.ifs = [self.visit(one) for one in generator.ifs]
            if isinstance(node, ast.DictComp):
                node.key, node.value = self.visit(node.key), self.visit(node.value)
            else:
                node.elt = self.visit(node.elt)
        self._names = outer
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_Lambda = _scope  # named by `ast`
