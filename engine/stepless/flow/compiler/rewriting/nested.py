"""Moves coroutines that are defined in a workflow out of it: each becomes a part, which takes the names that it reads of the
workflow as arguments."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from stepless.flow.compiler.origin import Origin, hints_of
from stepless.flow.compiler.trees import copied
from stepless.flow.words import mark

_TASK: Final = "create_task"
_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


@dataclass(frozen=True, eq=False)
class LocalPart:
    """A coroutine of a workflow. `closure` are the names that it reads of the workflow; `function` has its signature."""

    function: Any
    source: Origin
    closure: frozenset[str]
    changed: None = field(default=None)

    def origin(self) -> Origin:
        return self.source


mark(LocalPart, "part")


def moved_out(origin: Origin) -> Origin:
    """Returns the function without the coroutines that are defined in it, as far as they can be moved: those that are called and
    nothing else. What they read of the workflow has the value of the call."""
    uses = _Uses(origin.tree)
    found = {one.name: one for one in _inside(origin.tree) if isinstance(one, ast.AsyncFunctionDef)}
    found = {name: one for name, one in found.items() if uses.is_movable(one)}
    if not found:
        return origin
    bound = _bound(origin.tree) | {one.arg for one in origin.parameters}
    read = {name: _read(one) for name, one in found.items()}
    closures = {name: names & bound - found.keys() for name, names in read.items()}
    while True:  # what is called by one has its names too
        wider = {
            name: names.union(*(closures[other] for other in read[name] & found.keys())) for name, names in closures.items()
        }
        if wider == closures:
            break
        closures = wider
    closures = {name: names - _own(found[name]) for name, names in closures.items()}
    if _TASK in origin.text and any(
        uses.is_assigned_after(found[name], one) for name, names in closures.items() for one in names
    ):
        return origin  # a task goes on while the workflow assigns them
    words = {name: f"__stepless_{origin.name}_{name}__" for name in found}
    tree = copied(origin.tree)
    _Moving(words, closures).visit(tree)
    outer = replace(origin, tree=tree, globals={**origin.globals})
    parts = {words[name]: _part(outer, one, words, closures, name) for name, one in found.items()}
    assert isinstance(outer.globals, dict)
    outer.globals.update(parts)
    return outer


def _part(
    outer: Origin, tree: ast.AsyncFunctionDef, words: Mapping[str, str], closures: Mapping[str, set[str]], name: str
) -> LocalPart:
    own = copied(tree)
    own.args.kwonlyargs = [*own.args.kwonlyargs, *(ast.arg(one) for one in sorted(closures[name]))]
    own.args.kw_defaults = [*own.args.kw_defaults, *(None for _ in closures[name])]
    moving = _Moving(words, closures)
    own.body = [moving.visit(statement) for statement in own.body]
    made = part_of(outer, own, f"{outer.name}.{name}", frozenset(closures[name]))
    return replace(made, source=moved_out(made.source))


def part_of(
    origin: Origin, tree: ast.AsyncFunctionDef | ast.FunctionDef, name: str, closure: frozenset[str], returns: Any = None
) -> LocalPart:
    """Returns the part that a tree defines among the names of a function; `returns` is the type of its result, if no annotation
    has it."""
    tree.decorator_list = []
    ast.fix_missing_locations(tree)
    stub = copied(tree)
    stub.body = [ast.copy_location(ast.Pass(), tree.body[0])]
    space = dict(origin.globals)
    exec(compile(ast.Module([stub], []), origin.path or "<workflow>", "exec", dont_inherit=True), space)
    function = space[tree.name]
    function.__annotations__ |= {} if returns is None else {"return": returns}
    return LocalPart(function, replace(origin, name=name, tree=tree, hints=hints_of(function)), closure)


class _Moving(ast.NodeTransformer):
    """Takes the definitions out, and gives each call the outer names."""

    def __init__(self, words: Mapping[str, str], closures: Mapping[str, set[str]]) -> None:
        self._words = words
        self._closures = closures

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        if node.name in self._words:
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in self._words:
            name = node.func.id
            given = [
                ast.keyword(one, ast.copy_location(ast.Name(one, ast.Load()), node)) for one in sorted(self._closures[name])
            ]
            node.func = ast.copy_location(ast.Name(self._words[name], ast.Load()), node)
            node.keywords = [*node.keywords, *(ast.copy_location(one, node) for one in given)]
        return node


class _Uses:
    """How the names of a function are used, in the whole of it."""

    def __init__(self, tree: ast.AST) -> None:
        self._defined: Counter[str] = Counter()
        self._names: dict[str, list[ast.Name]] = {}
        self._called: set[int] = set()
        self._loops: list[ast.For | ast.While] = []
        for part in ast.walk(tree):
            match part:
                case ast.AsyncFunctionDef(name=name):
                    self._defined[name] += 1
                case ast.Call(func=function):
                    self._called.add(id(function))
                case ast.Name(id=name):
                    self._names.setdefault(name, []).append(part)
                case ast.For() | ast.While():
                    self._loops.append(part)

    def is_movable(self, tree: ast.AsyncFunctionDef) -> bool:
        inner = (part for statement in tree.body for part in ast.walk(statement))
        if tree.decorator_list or any(isinstance(part, ast.Nonlocal | ast.Yield | ast.YieldFrom) for part in inner):
            return False
        names = self._names.get(tree.name, [])
        return self._defined[tree.name] == 1 and all(
            id(part) in self._called and isinstance(part.ctx, ast.Load) for part in names
        )

    def is_assigned_after(self, tree: ast.AsyncFunctionDef, name: str) -> bool:
        """Returns whether the workflow may assign a name after the coroutine that reads it was defined."""
        around = [one for one in self._loops if one.lineno <= tree.lineno <= (one.end_lineno or 0)]
        for part in self._names.get(name, []):
            inside = tree.lineno <= part.lineno <= (tree.end_lineno or 0)
            if isinstance(part.ctx, ast.Store) and not inside and (
                part.lineno > tree.lineno or any(part.lineno < one.lineno for one in around)
            ):
                return True
        return False


def _inside(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, not those inside of functions and classes in it."""
    stack = list(ast.iter_child_nodes(tree))
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, _SCOPES):
            stack += ast.iter_child_nodes(node)


def _bound(tree: ast.AST) -> set[str]:
    """The names that the function itself binds."""
    found: set[str] = set()
    for node in _inside(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        if isinstance(node, ast.ExceptHandler | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name:
            found.add(node.name)
    return found


def _own(tree: ast.AsyncFunctionDef) -> set[str]:
    arguments = [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]
    return _bound(tree) | {one.arg for one in arguments}


def _read(tree: ast.AsyncFunctionDef) -> set[str]:
    """The names that a coroutine reads and does not bind."""
    parts = [part for statement in tree.body for part in ast.walk(statement)]
    return {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)} - _own(tree)
