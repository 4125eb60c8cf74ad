"""Finds where each local name of a function is bound and read, and so whether it becomes a node or a run variable."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

from stepless.flow.compiler.facts.uses import CHANGES_ITS_ARGUMENT, MUTATORS, called, root, uses_of
from stepless.flow.compiler.trees import Visitor

Place: TypeAlias = tuple[int, ...]
"""The loops and comprehensions around a binding or a reading, outermost first."""

Comprehension: TypeAlias = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

IN_PLACE: Final = ("append",)
"""Methods of lists that are written as an assignment of a new list."""
_ADDED: Final[dict[str, Callable[[list[ast.expr]], ast.expr | None]]] = {
    "append": lambda given: ast.List(given, ast.Load()),
    "insert": lambda given: ast.List(given[1:], ast.Load()),
    "extend": lambda given: ast.Call(ast.Name("list", ast.Load()), given[:1], []),
    "update": lambda given: given[0] if given else None,
}
"""The items that a method adds to a list or an object, as a list or an object."""
_REMOVING: Final = ("sort", "reverse", "pop", "remove", "clear", "popitem", "discard")
"""Methods after which a list, an object or a set has the items that it had, or fewer."""


class Names(Visitor):
    """Collects the bindings and readings of a function's body. Names are unique in it: those of inlined parts were renamed."""

    def __init__(self) -> None:
        self.bound: dict[str, list[Place]] = {}
        self.read: dict[str, list[Place]] = {}
        self.iterations: dict[str, list[Place]] = {}  # the loop or handler that gives a name its value
        self.values: dict[str, list[ast.AST]] = {}  # what each name is assigned, for its type; loops stand for their items
        self._read_fully: dict[str, list[Place]] = {}  # as `read`, with the handlers around each place
        self._changed: list[tuple[str, Place, ast.AST]] = []  # values that are changed in place: new ones of their names
        self.strict: set[str] = set()  # names that may be read without a value: variables, which hold whether there is one
        self._variables: dict[str, bool] = {}  # what `is_variable` said
        self._place: Place = ()
        self._full: Place = ()

    # -- statements -------------------------------------------------------------------------------------------------

    def visit_Name(self, node: ast.Name) -> None:
        kept = self.read if isinstance(node.ctx, ast.Load) else self.bound
        kept.setdefault(node.id, []).append(self._place)
        if isinstance(node.ctx, ast.Load):
            self._read_fully.setdefault(node.id, []).append(self._full)

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)
        self._within(node, [node.target, *node.body])
        for name in names_in(node.target):
            self.iterations.setdefault(name, []).append((*self._full, id(node)))
        self._assigned(node.target, node)
        for statement in node.orelse:
            self.visit(statement)

    def visit_While(self, node: ast.While) -> None:
        self._within(node, [node.test, *node.body])
        for statement in node.orelse:
            self.visit(statement)

    def visit_AsyncWith(self, node: ast.AsyncWith) -> None:
        for item in node.items:
            self.visit(item)
        self._within(node, list[ast.AST](node.body))  # a container

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.bound.setdefault(node.name, []).append(self._place)
            self.values.setdefault(node.name, []).append(node)
            self.iterations.setdefault(node.name, []).append((*self._full, id(node)))
        outer, self._full = self._full, (*self._full, id(node))
        self.generic_visit(node)
        self._full = outer

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        for target in node.targets:
            self._assigned(target, node.value)
            self._rebound(target, node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
            self.visit(node.target)
            self._assigned(node.target, node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self.read.setdefault(node.target.id, []).append(self._place)
            self._read_fully.setdefault(node.target.id, []).append(self._full)
            value = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
            self._assigned(node.target, ast.copy_location(value, node))
        self.generic_visit(node)
        target = node.target
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            item = ast.Subscript(ast.Name(target.value.id, ast.Load()), target.slice, ast.Load())
            value = ast.copy_location(ast.BinOp(item, node.op, node.value), node)
            self._changed.append((target.value.id, self._place, Changed(target.value.id, value, target.slice)))

    def visit_Call(self, node: ast.Call) -> None:
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.attr in _ADDED:
            name = function.value.id
            items = _ADDED[function.attr](node.args)
            if items is not None:
                operator = ast.BitOr() if function.attr == "update" else ast.Add()
                added = ast.BinOp(ast.Name(name, ast.Load()), operator, items)
                self._changed.append((name, self._place, ast.copy_location(added, node)))

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        uses = uses_of(node)
        self._opaque(uses.bound)
        for name in uses.read:
            self.visit(ast.Name(name, ast.Load()))

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef  # named by `ast`

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        self._opaque(uses_of(node).bound)

    visit_ImportFrom = visit_Import  # named by `ast`

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar | ast.MatchMapping) -> None:
        self.generic_visit(node)
        name = node.rest if isinstance(node, ast.MatchMapping) else node.name
        self._opaque({name} if name else set())

    visit_MatchStar = visit_MatchMapping = visit_MatchAs  # named by `ast`

    def visit_withitem(self, node: ast.withitem) -> None:
        self.generic_visit(node)
        for name in names_in(node.optional_vars) if node.optional_vars is not None else ():
            self.values.setdefault(name, []).append(Opaque())

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.generic_visit(node)
        self._assigned(node.target, node.value)

    def _opaque(self, names: Iterable[str]) -> None:
        """Names that are bound to what no annotation describes."""
        for name in sorted(names):
            self.bound.setdefault(name, []).append(self._place)
            self.values.setdefault(name, []).append(Opaque())

    def visit_ListComp(self, node: Comprehension) -> None:
        first = node.generators[0]
        self.visit(first.iter)
        parts: list[ast.AST] = []
        for number, generator in enumerate(node.generators):
            parts += [generator.target, *([generator.iter] if number else []), *generator.ifs]
        parts += [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self._within(node, parts)
        for generator in node.generators:
            for name in names_in(generator.target):
                self.iterations.setdefault(name, []).append((*self._full, id(node)))
            self._assigned(generator.target, generator)

    visit_GeneratorExp = visit_SetComp = visit_DictComp = visit_ListComp  # named by `ast`

    def _within(self, node: ast.AST, parts: list[ast.AST]) -> None:
        outer, full = self._place, self._full
        self._place, self._full = (*outer, id(node)), (*full, id(node))
        for part in parts:
            self.visit(part)
        self._place, self._full = outer, full

    def update(self, other: Names) -> None:
        """Takes in the names of an inlined part, which no other statement has."""
        self.bound |= other.bound
        self.read |= other.read
        self.iterations |= other.iterations
        self.values |= other.values
        self.strict |= other.strict
        self._read_fully |= other._read_fully
        self._variables.clear()

    def adopt(self, other: Names) -> None:
        """Takes in what these statements, which stand for an expression, say of the names that they bind."""
        for kept, found in (
            (self.bound, other.bound), (self.read, other.read), (self.iterations, other.iterations), (self.values, other.values),
            (self._read_fully, other._read_fully),
        ):
            for name in other.bound:
                kept.pop(name, None)
                if name in found:
                    kept[name] = found[name]  # type: ignore[assignment]
        self._variables.clear()

    def _assigned(self, target: ast.expr, value: ast.AST) -> None:
        for name, bound in bindings(target, value):
            self.values.setdefault(name, []).append(bound)

    def _rebound(self, target: ast.expr, node: ast.Assign) -> None:
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice) and isinstance(target.value, ast.Name):
            name = target.value.id
            added = ast.BinOp(ast.Name(name, ast.Load()), ast.Add(), ast.Call(ast.Name("list", ast.Load()), [node.value], []))
            self._changed.append((name, self._place, ast.copy_location(added, node)))
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            self._changed.append((target.value.id, self._place, Changed(target.value.id, node.value, target.slice)))

    def close(self, parameters: Iterable[str]) -> None:
        """After the last statement. What is changed in place is bound again, if it is the function's own."""
        for name in parameters:
            self.bound.setdefault(name, []).insert(0, ())
        for name, place, value in self._changed:
            if name in self.bound:
                self.bound[name].append(place)
                self.values.setdefault(name, []).append(value)

    # -- what a name becomes ----------------------------------------------------------------------------------------

    def is_local(self, name: str) -> bool:
        return name in self.bound

    def is_variable(self, name: str) -> bool:
        """Returns whether a name needs a run variable: it is bound more than once, or read outside the loop that binds it. The
        target of loops needs none if each of its readings is inside the loop that binds it."""
        known = self._variables.get(name)
        if known is None:
            known = self._variables[name] = self._needs_variable(name)
        return known

    def _needs_variable(self, name: str) -> bool:
        bound, read = self.bound.get(name, []), self.read.get(name, [])
        if name in self.strict:
            return True
        if name in self.iterations:
            iterations, read = Counter(self.iterations[name]), self._read_fully.get(name, [])
            if len(bound) != iterations.total():
                return True
            return any(sum(iterations[outer] for outer in _around(place)) != 1 for place in read)
        return len(bound) > 1 or any(place[: len(bound[0])] != bound[0] for place in read if bound)


def _around(place: Place) -> Iterator[Place]:
    """A place and all around it."""
    return (place[:depth] for depth in range(len(place) + 1))


class Piece(ast.AST):
    """One item of what a tuple of names is assigned."""

    def __init__(self, whole: ast.AST, place: int) -> None:
        super().__init__()
        self.whole = whole
        self.place = place


class Changed(ast.AST):
    """What a name is bound to after one of its items was assigned."""

    def __init__(self, name: str, value: ast.expr, key: ast.expr | None = None) -> None:
        super().__init__()
        self.name = name
        self.value = value
        self.key = key


class Item(ast.AST):
    """One item of what a target with `*rest` is assigned, behind the rest."""

    def __init__(self, whole: ast.AST) -> None:
        super().__init__()
        self.whole = whole


class Rest(Item):
    """The value of `*rest` in a target: a list of items of the value."""


class Opaque(ast.AST):
    """What no annotation describes."""


def bindings(target: ast.expr, value: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yields the names of a target, and what each is bound to where the target is bound to a value."""
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple | ast.List):
        starred = next((place for place, one in enumerate(target.elts) if isinstance(one, ast.Starred)), len(target.elts))
        for place, element in enumerate(target.elts):
            if isinstance(element, ast.Starred):
                yield from bindings(element.value, Rest(value))
            else:
                yield from bindings(element, Piece(value, place) if place < starred else Item(value))


def loosely_changed(statements: Iterable[ast.stmt]) -> set[str]:
    """Returns the names whose value statements may change in place to one of another type: not by a method of which `Names` knows
    what it adds, and not by the assignment of one of its items."""
    found: set[str] = set()
    for node in (part for statement in statements for part in ast.walk(statement)):
        match node:
            case ast.Call(func=ast.Attribute(attr=method, value=value), args=given, keywords=words):
                known = (method in _ADDED and given and not words) or method in _REMOVING or method not in MUTATORS
                if isinstance(value, ast.Name) and known:
                    continue
                changed = root(value) if method in MUTATORS else None
            case ast.Subscript(ctx=ast.Store(), value=value) if not isinstance(value, ast.Name):
                changed = root(value)
            case ast.Expr(value=ast.Call(args=given) as call) if called(call.func) not in ("shuffle",):
                found |= {name for one in given if (name := root(one)) is not None and name in uses_of(node).changed}
                continue
            case ast.Call(func=function, args=[first, *_]) if called(function) in CHANGES_ITS_ARGUMENT - {"shuffle", "heapify"}:
                changed = root(first)
            case _:
                continue
        found |= {changed} if changed is not None else set()
    return found


def names_in(node: ast.AST) -> list[str]:
    """Returns the names in a node, each as often as it stands there."""
    return [name.id for name in ast.walk(node) if isinstance(name, ast.Name)]


def bound_in(statement: ast.stmt) -> set[str]:
    """Returns the names that a statement binds on any path."""
    named = {name.id for name in ast.walk(statement) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)}
    return named | {one.name for one in ast.walk(statement) if isinstance(one, ast.ExceptHandler) and one.name}


def names_of(body: list[ast.stmt], parameters: Iterable[str] = ()) -> Names:
    names = Names()
    for statement in body:
        names.visit(statement)
    names.close(parameters)
    return names
