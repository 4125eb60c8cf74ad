"""Gives a part that takes any number of arguments a signature for each call: `fn(*args)` in it passes on what the call has
given."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Any, NamedTuple

from stepless.flow.compiler.origin import Origin
from stepless.flow.compiler.rewriting.nested import LocalPart, part_of
from stepless.flow.compiler.trees import copied
from stepless.limits import MAX_CACHED_SIGNATURES


class Fitted(NamedTuple):
    """A part with the parameters of one call, and that call."""

    part: LocalPart
    call: ast.Call


def fitted(part: Any, origin: Origin, call: ast.Call) -> Fitted | None:
    """Returns a part for a call; None where the part does more with its further arguments than pass them on."""
    arguments = origin.tree.args
    places = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    known = {*places, *(one.arg for one in arguments.kwonlyargs)}
    spread = any(isinstance(one, ast.Starred) for one in call.args) or any(word.arg is None for word in call.keywords)
    if spread or not _only_passed_on(origin.tree):
        return None
    more = max(0, len(call.args) - len(places)) if arguments.vararg else 0
    named = tuple(str(word.arg) for word in call.keywords if word.arg not in known) if arguments.kwarg else ()
    words = [
        ast.keyword(_named(origin, str(word.arg)), word.value) if word.arg in named else word for word in call.keywords
    ]
    return Fitted(_made(part, more, named), ast.copy_location(ast.Call(call.func, call.args, words), call))


def _named(origin: Origin, name: str) -> str:
    assert origin.tree.args.kwarg is not None
    return f"{origin.tree.args.kwarg.arg}_{name}"


def _only_passed_on(tree: ast.AsyncFunctionDef | ast.FunctionDef) -> bool:
    passed: set[int] = set()
    for part in (part for statement in tree.body for part in ast.walk(statement)):
        if isinstance(part, ast.Call):
            passed |= {id(one.value) for one in part.args if isinstance(one, ast.Starred)}
            passed |= {id(word.value) for word in part.keywords if word.arg is None}
    names = {one.arg for one in (tree.args.vararg, tree.args.kwarg) if one is not None}
    read = (part for statement in tree.body for part in ast.walk(statement) if isinstance(part, ast.Name) and part.id in names)
    return all(id(part) in passed for part in read)


@lru_cache(MAX_CACHED_SIGNATURES)
def _made(part: Any, more: int, named: tuple[str, ...]) -> LocalPart:
    origin: Origin = part.origin()
    tree = copied(origin.tree)
    arguments, further = tree.args, list[str]()
    if arguments.vararg is not None:
        further = [f"{arguments.vararg.arg}_{place}" for place in range(more)]
        arguments.args += [ast.arg(name) for name in further]
        arguments.defaults = [] if more else arguments.defaults  # each place before them is taken
    words = {name: _named(origin, name) for name in named}
    arguments.kwonlyargs += [ast.arg(name) for name in words.values()]
    arguments.kw_defaults += [None for _ in words]
    passing = _Passing(arguments.vararg, arguments.kwarg, further, words)
    tree.body = [passing.visit(statement) for statement in tree.body]
    arguments.vararg = arguments.kwarg = None
    name = "_".join([origin.name, str(more), *named])
    return part_of(origin, tree, name, frozenset([*further, *words.values()]))


class _Passing(ast.NodeTransformer):
    """Passes on the further arguments by their names."""

    def __init__(self, places: ast.arg | None, words: ast.arg | None, further: list[str], named: dict[str, str]) -> None:
        self._places = places.arg if places is not None else None
        self._words = words.arg if words is not None else None
        self._further = further
        self._named = named

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        args: list[ast.expr] = []
        for one in node.args:
            is_further = isinstance(one, ast.Starred) and isinstance(one.value, ast.Name) and one.value.id == self._places
            args += [ast.Name(name, ast.Load()) for name in self._further] if is_further else [one]
        words: list[ast.keyword] = []
        for word in node.keywords:
            is_named = word.arg is None and isinstance(word.value, ast.Name) and word.value.id == self._words
            words += [ast.keyword(name, ast.Name(own, ast.Load())) for name, own in self._named.items()] if is_named else [word]
        node.args, node.keywords = args, words
        return node
