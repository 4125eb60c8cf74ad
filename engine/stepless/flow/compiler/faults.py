"""Finds the other faults of a statement that was refused. A refusal ends the reading of its statement; to find the next one, what
was refused is replaced by a value of which nothing is known, and the statement is read again. Only the refusals of that reading
are kept: a source with a fault leaves no document."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from stepless.flow.compiler.facts.names import bound_in, names_in
from stepless.flow.compiler.facts.types import UNKNOWN
from stepless.flow.compiler.refusals import Ended, Refusal
from stepless.flow.compiler.unit import Unit
from stepless.limits import MAX_FLOW_REREADINGS

_SCOPES: Final = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LOAD: Final = ast.Load()


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an expression stands in a statement."""

    part: ast.expr
    put: Callable[[ast.expr], None]


def further(unit: Unit, statement: ast.stmt, refusal: Refusal) -> Iterator[Refusal]:
    """Yields the refusals of a statement after the first one; the statements inside of it note theirs themselves. One of an
    expression around a part that was replaced is not told, as the replacement may be its reason. Over a whole source, statements
    are read again at most MAX_FLOW_REREADINGS times."""
    _read_bodies(unit, statement)
    replaced: list[_Place] = []
    found: Refusal | None = refusal
    try:
        while found is not None and not any(_holds(found.node, one.part) for one in replaced):
            if found is not refusal:
                yield found
            place = _place_of(found.node, statement)
            if place is None:
                yield from _of_parts(unit, statement)
                return
            yield from _of_parts(unit, place.part)
            place.put(_unread(unit, place.part))
            replaced.append(place)
            found = _refused(unit, statement)
    finally:
        for place in reversed(replaced):
            place.put(place.part)


def _refused(unit: Unit, statement: ast.stmt) -> Refusal | None:
    """The first refusal of a statement that is read again."""
    if unit.rereadings >= MAX_FLOW_REREADINGS:
        return None
    unit.rereadings += 1
    with unit.aside():
        try:
            unit.rules.statement(unit, statement)
        except Refusal as refusal:
            return refusal
        except Ended:
            return None
    return None


def _unread(unit: Unit, at: ast.AST) -> ast.Name:
    """A value of which nothing is known."""
    return unit.temporary(unit.texts.reference("unread"), UNKNOWN, at)


def _of_parts(unit: Unit, node: ast.AST) -> Iterator[Refusal]:
    """The refusals of what a refused statement or expression is made of."""
    values = [] if node in unit.made else [*_values(node)]
    if not values:
        return
    name = ast.copy_location(ast.Name(unit.made_name("parts"), ast.Store()), values[0])
    read = ast.copy_location(ast.Assign([name], ast.copy_location(ast.List(values, ast.Load()), node)), node)
    unit.made.add(read)
    refusal = _refused(unit, read)
    if refusal is not None:
        yield refusal
        yield from further(unit, read, refusal)


def _values(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions in a node that have a value of their own wherever they stand. Of a call those are its arguments: what is
    called may be a step, which is no value. What binds names has none: in `gather`, and as a key of `sorted`, it is read
    otherwise."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Lambda():
            return
        case ast.Await():
            yield from _values(node.value)
            return
        case ast.Call():
            parts: Iterable[ast.AST] = (*node.args, *node.keywords)
        case _:
            parts = ast.iter_child_nodes(node)
    for part in parts:
        if isinstance(part, ast.Call | ast.Starred | ast.keyword | ast.withitem | ast.Slice):
            yield from _values(part)
        elif isinstance(part, ast.expr) and not isinstance(part, _SCOPES) and isinstance(getattr(part, "ctx", _LOAD), ast.Load):
            yield part


def _read_bodies(unit: Unit, statement: ast.stmt) -> None:
    """Reads the statements of one that may have been refused before they were read, and that Python would enter from here."""
    if not isinstance(statement, ast.With | ast.AsyncWith | ast.Try) or unit.rereadings >= MAX_FLOW_REREADINGS:
        return
    unit.rereadings += 1
    targets = [] if isinstance(statement, ast.Try) else [one.optional_vars for one in statement.items if one.optional_vars]
    given = {name for target in targets for name in names_in(target)}
    with unit.aside():
        unit.bound |= bound_in(statement)
        unit.block([one for one in statement.body if given.isdisjoint(names_in(one))])  # not what is done with what is refused
        if isinstance(statement, ast.Try):
            outer, unit.error = unit.error, _unread(unit, statement)
            for body in (*(handler.body for handler in statement.handlers), statement.orelse, statement.finalbody):
                unit.frontier = unit.frontier or []
                unit.block(body)
            unit.error = outer


def _place_of(node: ast.AST, statement: ast.stmt) -> _Place | None:
    """The place of an expression in a statement: of itself, or of the one that it was copied from. For a function that is called
    it is that of the call, for what is awaited that of the await. None for what is no value, such as a target."""
    if not isinstance(node, ast.expr):
        return None
    places = [(parent, place) for parent in ast.walk(statement) for place in _places(parent)]
    itself = [found for found in places if found[1].part is node]
    for parent, place in itself or [found for found in places if _same(found[1].part, node)]:
        if _is_bound_to(place.part, parent):
            return _place_of(parent, statement)
        return place if isinstance(getattr(place.part, "ctx", _LOAD), ast.Load) else None
    return None


def _is_bound_to(part: ast.expr, parent: ast.AST) -> bool:
    """Whether the expression must be a `part` call."""
    match parent:
        case ast.Call(func=function):
            return function is part
        case ast.FormattedValue(format_spec=written):
            return written is part
    return isinstance(parent, ast.Await | ast.JoinedStr)


def _places(parent: ast.AST) -> Iterator[_Place]:
    for name, value in ast.iter_fields(parent):
        if isinstance(value, ast.expr):
            yield _Place(value, _field(parent, name))
        elif isinstance(value, list):
            for number, one in enumerate(value):
                if isinstance(one, ast.expr):
                    yield _Place(one, _item(value, number))


def _field(parent: ast.AST, name: str) -> Callable[[ast.expr], None]:
    return lambda new: setattr(parent, name, new)


def _item(items: list[ast.expr], number: int) -> Callable[[ast.expr], None]:
    return lambda new: items.__setitem__(number, new)


def _span(node: ast.AST) -> tuple[tuple[int, int], tuple[int, int]]:
    start = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
    return start, (getattr(node, "end_lineno", None) or start[0], getattr(node, "end_col_offset", None) or start[1])


def _same(one: ast.AST, other: ast.AST) -> bool:
    return type(one) is type(other) and hasattr(other, "lineno") and _span(one) == _span(other)


def _holds(node: ast.AST, part: ast.AST) -> bool:
    """Whether an expression stands around a part, or is it."""
    if not hasattr(node, "lineno"):
        return True  # where it stands is not known
    (first, last), (begins, ends) = _span(node), _span(part)
    return first <= begins and ends <= last
