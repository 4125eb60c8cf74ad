"""Decides which statements are lifted. What a statement lacks to be said is known only to what reads it, so the source is
compiled, and what was refused is lifted in the next round: a source without such statements is read once. Statements that nothing
but Python can say are known by their form, and lifted in the first round."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Final

from stepless.flow.compiler.blocks.jumps import jumps_of
from stepless.flow.compiler.blocks.prelude import Prelude, prelude_of
from stepless.flow.compiler.blocks.pulling import Pulling, changing_call, taken_in
from stepless.flow.compiler.blocks.rewriting import Rewriting
from stepless.flow.compiler.blocks.valueless import makes_an_object, objects_in, valueless_in
from stepless.flow.compiler.expressions.hoisting import has_await
from stepless.flow.compiler.facts.block_nodes import Leave
from stepless.flow.compiler.facts.uses import CHANGES_ITS_ARGUMENT, called, uses_of
from stepless.flow.compiler.origin import Origin
from stepless.flow.compiler.refusals import Refusal, Remark
from stepless.flow.compiler.unit import Unit
from stepless.flow.words import word_of
from stepless.limits import MAX_FLOW_ROUNDS

Key = tuple[str, str, int]
Position = tuple[int, int]
_LIFTED: Final = ("no_such_construct", "mutation", "shared_mutation", "identity", "raise", "except")
"""The codes of refusals of what Python can evaluate in a node of its own."""
_OF_FORM: Final = ("no_such_construct", "except")
"""Those of them that stay whatever else is lifted, if the statement awaits."""
_WORDS: Final = ("step", "flow", "part", "gather", "race", "sleep", "approval", "callback", "receive")
_ONLY_PYTHON: Final[Mapping[type[ast.stmt], str]] = {
    ast.With: "`with`", ast.FunctionDef: "a function in a workflow", ast.ClassDef: "a class in a workflow",
    ast.Import: "an import in a workflow", ast.ImportFrom: "an import in a workflow", ast.Delete: "`del`",
    ast.Match: "`match` of more than values", ast.Global: "`global`", ast.Nonlocal: "`nonlocal`",
}
_ROUTINES: Final = (ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Yield, ast.YieldFrom)
_JOINED: Final = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Pass, ast.If, ast.For, ast.While, ast.Try)


class Plan:
    """Lists the blocks of a source and its parts, and the names that may be read without a value."""

    def __init__(self) -> None:
        self._marks: dict[Key, dict[Position, str]] = {}  # the statements that are lifted, each with the reason
        self._strict: dict[Key, set[str]] = {}
        self._glued: dict[Key, set[str]] = {}
        self._under: dict[Key, set[str]] = {}  # names whose values change under other names inside of blocks
        self._bodies: dict[Key, list[ast.stmt]] = {}
        self._preludes: dict[Key, Prelude] = {}
        self._objects: dict[Key, frozenset[str]] = {}
        self._rounds = 0

    def body(self, origin: Origin) -> list[ast.stmt]:
        """Returns the statements of a function, with blocks in place of those that are lifted."""
        if origin.key not in self._marks:
            objects = [(name, one) for name, one in objects_in(origin.tree.body) if not has_await(one)]
            objects += [(one.targets[0].id, one) for one in _statements(origin.tree) if _makes_object(origin, one)]  # type: ignore[attr-defined]
            self._glued.setdefault(origin.key, set()).update(name for name, _ in objects)
            marks = self._marks[origin.key] = {_position(one): f"`{name}` holds what has no value" for name, one in objects}
            marks |= {_position(one): why for one in _statements(origin.tree) if (why := _only_python(origin, one))}
        if origin.key not in self._bodies:
            self._bodies[origin.key] = self._rewritten(origin)
        return self._bodies[origin.key]

    def strict(self, origin: Origin) -> frozenset[str]:
        return frozenset(self._strict.get(origin.key, ()))

    def why(self, origin: Origin, statements: Iterable[ast.stmt]) -> str:
        """Returns why a block of these statements is lifted: the reason of the first of them that has one."""
        marks = self._marks.get(origin.key, {})
        parts = [part for one in statements for part in (one, *_statements(one))]
        found = next((marks[place] for part in parts if (place := _position(part)) in marks), "")
        what = _ONLY_PYTHON.get(type(parts[0]), "what it reads, or binds in an expression,")
        return found or f"{what} has no counterpart in a graph"

    def made_again(self, origin: Origin) -> Prelude:
        """The statements that make the names of a function again that stand for no value."""
        if origin.key not in self._preludes:
            self._preludes[origin.key] = prelude_of(origin.tree.body, [one.arg for one in origin.parameters])
        return self._preludes[origin.key]

    def objects(self, origin: Origin) -> frozenset[str]:
        """The names that are bound to what a call returns, and used as no value is."""
        if origin.key not in self._objects:
            self._objects[origin.key] = frozenset(name for name, _ in objects_in(origin.tree.body))
        return self._objects[origin.key]

    def _rewritten(self, origin: Origin) -> list[ast.stmt]:
        marks, prelude = self._marks[origin.key], self.made_again(origin)
        body: list[ast.stmt] = list(origin.tree.body)
        if not marks and not any(isinstance(part, ast.NamedExpr | ast.Match) for part in ast.walk(origin.tree)):
            return body
        parameters = [one.arg for one in origin.parameters]
        pulling = Pulling({*marks}, taken_in(body) | {*parameters, *origin.globals})
        body = pulling.suite(body)
        marked = pulling.marked | _reading(body, prelude)
        functions = _named_functions(origin)
        return Rewriting(
            body, marked, lambda one: _may_join(origin, one, functions), lambda one: _is_liftable(origin, one, functions),
            parameters, prelude, frozenset(self._glued.get(origin.key, ())), frozenset(self._under.get(origin.key, ())),
        ).suite(body)  # fmt: skip

    def extended(self, refused: Iterable[tuple[Origin, ast.stmt, Refusal]]) -> bool:
        """Returns whether something that was refused can be lifted: then the plan says so, and the source is to be read again."""
        self._rounds += 1
        if self._rounds >= MAX_FLOW_ROUNDS:
            return False
        found = False
        places: dict[Key, _Places] = {}
        for origin, statement, refusal in refused:
            if refusal.is_final:
                continue
            if refusal.code == "unbound":
                if origin.key not in places:
                    places[origin.key] = _Places(origin)
                found |= self._read_strictly(origin, refusal, places[origin.key])
            elif refusal.code == "no_value" and refusal.name:
                names = self._glued.setdefault(origin.key, set())
                found |= refusal.name not in names
                names.add(refusal.name)
            elif refusal.code == "shared_mutation" and refusal.name:
                names = self._under.setdefault(origin.key, set())
                found |= refusal.name not in names
                names.add(refusal.name)
            elif refusal.code in _LIFTED and (_is_liftable(origin, statement) or _may_be_pulled(origin, statement)):
                marks = self._marks.setdefault(origin.key, {})
                found |= _position(statement) not in marks
                marks.setdefault(_position(statement), refusal.message)
        self._bodies.clear()
        return found

    def faults(self, findings: Iterable[Remark], refused: Iterable[tuple[Origin, ast.stmt, Refusal]]) -> list[Remark]:
        """Returns the refusals of what cannot be lifted either. None, if nothing but what awaits is refused: something else
        that is lifted may be its mend."""
        found = [one for one in findings if one.code not in (*_LIFTED, "unbound", "no_value")]
        never = {
            (origin.file, origin.line(refusal.node), refusal.code) for origin, statement, refusal in refused
            if refusal.code in _OF_FORM and has_await(statement) and not _may_be_pulled(origin, statement)
        }  # fmt: skip
        return sorted([*found, *(one for one in findings if (one.file, one.line, one.code) in never)]) if found else []

    def _read_strictly(self, origin: Origin, refusal: Refusal, places: _Places) -> bool:
        """Takes a name as one that may have no value, if there is a way on which it has one."""
        name = refusal.name
        names = self._strict.setdefault(origin.key, set())
        if name in names or not name or not places.may_have_a_value(name, _position(refusal.node)):
            return False
        names.add(name)
        return True


def check_globals(unit: Unit, origin: Origin) -> None:
    """Refuses a function that binds names of its module."""
    for node in ast.walk(origin.tree):
        if isinstance(node, ast.Global):
            stored = {part.id for part in ast.walk(origin.tree) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
            for name in sorted(stored & {*node.names}):
                unit.refuse(node, "global", f"`{name}` belongs to the module, not to the run", "Return the value from a step")


def _position(node: ast.AST) -> Position:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def _statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """The statements of a function, not those of functions and classes in it."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
            yield from _statements(node)


def _only_python(origin: Origin, statement: ast.stmt) -> str:
    """Why nothing but Python can say a statement, as far as its form tells."""
    if has_await(statement):
        return ""
    if (what := _ONLY_PYTHON.get(type(statement))) is not None:
        return f"{what} has no counterpart in a graph"
    match statement:
        case ast.Assign(targets=[_, _, *_]):
            return "one value for several names"
        case ast.Assign(targets=[ast.Attribute()]):
            found = "a value of a document never changes, and this sets an attribute"
        case ast.Assign(targets=[target]) if any(isinstance(part, ast.Starred) for part in ast.walk(target)):
            found = "`*` in a target has no counterpart in a graph"
        case ast.Assign() if valueless_in(statement):
            found = "what this makes has no value that can be recorded"
        case ast.Expr(value=ast.Call(func=function)) if called(function) in CHANGES_ITS_ARGUMENT:
            found = f"`{called(function)}` changes its argument in place"
        case _:
            found = "an assignment inside an expression has no counterpart in a graph" if _walks(statement) else ""
    return found if found and _is_liftable(origin, statement) else ""


def _makes_object(origin: Origin, statement: ast.stmt) -> bool:
    """Whether a name is bound to an object of a class of the module, of which no value can be recorded."""
    match statement:
        case ast.Assign(targets=[ast.Name()], value=ast.Call(func=ast.Name(id=name)) as call) if not has_await(call):
            return makes_an_object(origin.globals.get(name)) and _is_liftable(origin, statement)
    return False


def _walks(statement: ast.stmt) -> bool:
    """Whether a statement that is no compound one binds a name in the middle of an expression."""
    simple = isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr | ast.Return)
    return simple and any(isinstance(part, ast.NamedExpr) for part in ast.walk(statement))


def _reading(body: Iterable[ast.stmt], prelude: Prelude) -> set[int]:
    """The statements that read names that are made again, and await nothing."""
    names, found = prelude.names(), set[int]()
    if not names:
        return found
    for statement in body:
        for part in (statement, *_statements(statement)):
            if not has_await(part) and id(part) not in prelude.dropped and uses_of(part).read & names:
                found.add(id(part))
        found |= {id(statement)} if statement in prelude.statements and id(statement) not in prelude.dropped else set()
    return found


def _named_functions(origin: Origin) -> frozenset[str]:
    """The names that may stand for steps, parts and other coroutines, or hold them."""
    found: set[str] = {one.name for one in _statements(origin.tree) if isinstance(one, ast.AsyncFunctionDef)}
    simple = [one for one in _statements(origin.tree) if isinstance(one, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr)]
    while True:
        before = len(found)
        for statement in simple:
            if not has_await(statement) and any(_is_function(origin, part, found) for part in ast.walk(statement)):
                uses = uses_of(statement)
                found |= uses.bound | uses.changed
        if len(found) == before:
            return frozenset(found)


def _is_function(origin: Origin, part: ast.AST, names: AbstractSet[str]) -> bool:
    if not (isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)):
        return False
    value = origin.globals.get(part.id)
    return part.id in names or word_of(value) in _WORDS or inspect.iscoroutinefunction(value)


def _is_liftable(origin: Origin, statement: ast.stmt, functions: AbstractSet[str] = frozenset()) -> bool:
    """Whether Python can evaluate a statement in one node: it awaits nothing, and names no step as a value."""
    if has_await(statement):
        return False
    for part in ast.walk(statement):
        if isinstance(part, (*_ROUTINES, Leave)):
            return False
        if _is_function(origin, part, functions):
            return False
    return True


def _may_be_pulled(origin: Origin, statement: ast.stmt) -> bool:
    """Whether a statement awaits, and could be lifted without its awaits."""
    if isinstance(statement, ast.Return):  # of what is returned, only arguments that change something need it
        return any(isinstance(part, ast.Await) and changing_call(ast.Expr(part)) is not None for part in ast.walk(statement))
    if changing_call(statement) is not None:
        return True
    if not isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr | ast.Delete):
        return False
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    bare = isinstance(getattr(statement, "value", None), ast.Await) and len(targets) == 1
    return has_await(statement) and not (bare and isinstance(targets[0], ast.Name | None))


def _may_join(origin: Origin, statement: ast.stmt, functions: AbstractSet[str]) -> bool:
    """Whether a statement may be lifted with one beside it."""
    if not isinstance(statement, _JOINED) or any(True for _ in jumps_of([statement])):
        return False
    return _is_liftable(origin, statement, functions)


class _Places:
    """Where the statements of a function bind each name, and its loops."""

    def __init__(self, origin: Origin) -> None:
        self._bindings: dict[str, list[Position]] = {}
        self._loops: list[tuple[Position, Position]] = []
        for one in _statements(origin.tree):
            for name in uses_of(one).bound:
                self._bindings.setdefault(name, []).append(_position(one))
            if isinstance(one, ast.For | ast.While):
                self._loops.append((_position(one), (one.end_lineno or 0, one.end_col_offset or 0)))

    def may_have_a_value(self, name: str, place: Position) -> bool:
        """Returns whether a binding of a name stands in front of a place, or in a loop around it."""
        bindings = self._bindings.get(name, [])
        around = [(first, last) for first, last in self._loops if first <= place <= last]
        return any(one < place or any(first <= one <= last for first, last in around) for one in bindings)
