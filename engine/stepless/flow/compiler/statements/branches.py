"""Compiles `if`, `elif` and `else`: one condition with a case for each test."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from stepless.flow.compiler.expressions.expression import truth
from stepless.flow.compiler.expressions.hoisting import Hoist, has_await
from stepless.flow.compiler.expressions.inference import is_scalar
from stepless.flow.compiler.expressions.reading import among_others
from stepless.flow.compiler.facts.types import solid
from stepless.flow.compiler.refusals import Lift
from stepless.flow.compiler.unit import Unit
from stepless.flow.words import Answer
from stepless.limits import MAX_CASES
from stepless.model.json import JSON

Write: TypeAlias = Callable[..., None]
_LONGEST: Final = 400  # characters of an expression that takes the place of a condition


def branch(unit: Unit, statement: ast.If, hoist: Hoist, write: Write) -> None:
    if _chosen(unit, statement, write):
        return
    exits = _answered(unit, statement)
    if exits is not None:
        _fork(unit, [(exits[0], statement.body), (exits[1], statement.orelse)])
        return
    cases: dict[str, str] = {}
    bodies: list[tuple[str, list[ast.stmt]]] = []
    before = unit.risks
    current, rest = statement, list[ast.stmt]()
    while True:
        text = _test(unit, hoist.expression(unit, current.test) if current is statement else current.test, current is statement)
        if text is None:
            rest = [current]
            break
        name = "then" if current is statement else f"elif_{len(cases)}"
        cases[name] = text
        bodies.append((name, current.body))
        if len(current.orelse) != 1 or not isinstance(current.orelse[0], ast.If) or len(cases) == MAX_CASES - 1:
            rest = current.orelse
            break
        current = current.orelse[0]
    id = unit.emit(unit.new_id(f"if_{_subject(unit, statement.test)}"), "condition", {"cases": {**cases, "else": "else"}})
    if unit.risks > before:
        unit.may_fail(id, pure=True)
    _fork(unit, [([f"{id}.{name}"], body) for name, body in [*bodies, ("else", rest)]])


def chained(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yields the statements of a body, where `if a: return …` and an `if` right behind it are one, as `if` and `elif`."""
    held: list[ast.If] = []  # each of them leaves the body, so what follows is its `else`
    for statement in body:
        if held and (not isinstance(statement, ast.If) or _is_choice(statement)):
            yield _chain(held, [])
            held = []
        if isinstance(statement, ast.If) and not statement.orelse and _jumps(statement.body):
            held.append(statement)
        else:
            yield _chain(held, [statement]) if held else statement
            held = []
    if held:
        yield _chain(held, [])


def _chain(held: list[ast.If], rest: list[ast.stmt]) -> ast.stmt:
    for statement in reversed(held):
        rest = [ast.copy_location(ast.If(statement.test, statement.body, rest), statement) if rest else statement]
    return rest[0]


def _jumps(body: list[ast.stmt]) -> bool:
    last = body[-1]
    if isinstance(last, ast.If):
        return bool(last.orelse) and _jumps(last.body) and _jumps(last.orelse)
    return isinstance(last, ast.Return | ast.Raise | ast.Break | ast.Continue)


def _is_choice(statement: ast.If) -> bool:
    """Whether an `if` does nothing but assign one name, which may take no condition."""
    bodies = [body for body in (statement.body, statement.orelse) if body]
    return all(len(body) == 1 and isinstance(body[0], ast.Assign | ast.AugAssign) for body in bodies)


def _chosen(unit: Unit, statement: ast.If, write: Write) -> bool:
    """Writes `if a: x = b` as the assignment of one of two values: one node in place of two, where no value can fail."""
    name, then, otherwise = _values(unit, statement)
    if name is None or then is None or otherwise is None or has_await(statement.test):
        return False
    before, warnings = unit.risks, list(unit.warnings)
    text = _choice(unit, statement.test, then, otherwise)
    if text is None or unit.risks > before or len(str(text)) > _LONGEST:
        unit.risks, unit.warnings = before, warnings  # the condition is a node
        return False
    write(unit, {name: text}, risky=False)
    unit.bound.add(name)
    return True


def _choice(unit: Unit, test: ast.expr, then: ast.expr, otherwise: ast.expr) -> JSON:
    """The value of a choice; None where one of its parts must be lifted."""
    try:
        truth(unit, test)
        values = [among_others(unit, one, unit.express(one)) for one in (then, otherwise)]
        return unit.texts.template(ast.IfExp(unit.express(test), *values))
    except Lift:
        return None


def _values(unit: Unit, statement: ast.If) -> tuple[str | None, ast.expr | None, ast.expr | None]:
    """The variable that both branches do nothing but assign, and its value in each."""
    name, then = _assigned(unit, statement.body)
    other, otherwise = _assigned(unit, statement.orelse)
    if name is None or not unit.names.is_variable(name) or (statement.orelse and other != name):
        return None, None, None
    if not statement.orelse:
        otherwise = ast.copy_location(ast.Name(name, ast.Load()), statement) if name in unit.bound else None
    return name, then, otherwise


def _assigned(unit: Unit, body: list[ast.stmt]) -> tuple[str | None, ast.expr | None]:
    match body:
        case [ast.Assign(targets=[ast.Name(id=name)], value=value)] if not has_await(value):
            return name, value
        case [ast.AugAssign(target=ast.Name(id=name), op=operator, value=value)] if not has_await(value):
            read = ast.copy_location(ast.Name(name, ast.Load()), value)
            whole = ast.copy_location(ast.BinOp(read, operator, value), value)
            if name in unit.bound and is_scalar(unit, read) and is_scalar(unit, whole):
                return name, whole
    return None, None


def _test(unit: Unit, node: ast.expr, first: bool) -> str | None:
    """The text of a case. None for a later test that awaits or is lifted: it runs only if the former ones are false."""
    if first:
        return unit.texts.source(tested(unit, node))
    if has_await(node):
        return None
    before, warnings = unit.risks, list(unit.warnings)
    try:
        truth(unit, node)
        expressed = unit.express(node)
    except Lift:
        unit.risks, unit.warnings = before, warnings
        return None
    if unit.risks > before and unit.is_exact():
        unit.risks = before
        return None
    return unit.texts.source(expressed)


def tested(unit: Unit, node: ast.expr) -> ast.expr:
    """Returns the expression of a test; lifts one whose truth a class decides."""
    try:
        truth(unit, node)
    except Lift:
        node = ast.copy_location(ast.Call(ast.Name("bool", ast.Load()), [node], []), node)
    return unit.value(node)


def _fork(unit: Unit, branches: list[tuple[list[str], list[ast.stmt]]]) -> None:
    """Reads each branch from its exits. What is bound afterwards is bound in every branch that goes on."""
    before, ends, bound = set(unit.bound), list[str](), list[set[str]]()
    for exits, body in branches:
        unit.frontier, unit.bound = list(exits), set(before)
        unit.block(body)
        if unit.frontier is not None:
            ends += unit.frontier
            bound.append(unit.bound)
    unit.frontier = ends if bound else None
    unit.bound = set.intersection(*bound) if bound else before


def _answered(unit: Unit, statement: ast.If) -> tuple[list[str], list[str]] | None:
    """The exits of the approval right before, if the test is nothing but its answer: for the body, and for the rest."""
    test, negated = statement.test, False
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, negated = test.operand, not negated
    if not (isinstance(test, ast.Attribute) and test.attr == "approved" and isinstance(test.value, ast.Name)):
        return None
    name = test.value.id
    if solid(unit.infer(test.value)) is not Answer or name not in unit.bound:
        return None
    path = unit.texts.path(unit.values[name]) if name in unit.values else None
    frontier = unit.frontier or []
    if path is None or frontier[:1] != [f"{path}.approved"] or any(not exit.startswith(f"{path}.") for exit in frontier):
        return None
    if "approved" in unit.level[path]["with"].get("fields", {}):
        return None
    yes, no = frontier[:1], frontier[1:]
    return (no, yes) if negated else (yes, no)


def _subject(unit: Unit, test: ast.expr) -> str:
    """What a test is about, for the id of its condition."""
    for part in ast.walk(test):
        if isinstance(part, ast.Attribute):
            return part.attr
        if isinstance(part, ast.Name) and part.id.strip("_"):
            return unit.shown.get(part.id, part.id).strip("_")
    return "so"
