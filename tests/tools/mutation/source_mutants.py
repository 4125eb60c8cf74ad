"""Small changes of a Python source, as a programmer makes them by mistake: another comparison, a condition that is left out, a
number that is one too large.

Each mutant changes one expression and keeps the rest of the text, so that lines and comments stay where they are.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import Final, NamedTuple

COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
OPERATORS: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult,
}  # fmt: skip
CALLS: Final = {"min": "max", "max": "min", "any": "all", "all": "any", "union": "intersection", "intersection": "union"}


class Mutant(NamedTuple):
    """One changed expression: the line, what was there, and what is there now."""

    line: int
    before: str
    after: str
    source: str


def mutants(source: str) -> list[Mutant]:
    """Every mutant of a source, in the order of the lines."""
    lines = source.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    found: list[Mutant] = []
    for node, changed in _changes(ast.parse(source)):
        start, end = starts[node.lineno - 1] + node.col_offset, starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        raw = source.encode()
        before, after = raw[start:end].decode(), f"({ast.unparse(changed)})"
        found.append(Mutant(node.lineno, before, after, (raw[:start] + after.encode() + raw[end:]).decode()))
    return sorted(found, key=lambda one: (one.line, one.before, one.after))


def _changes(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Pairs of an expression and what takes its place. Annotations are no code, and parts of an f-string have no positions."""
    for field, value in ast.iter_fields(tree):
        if field in ("annotation", "returns", "decorator_list") or isinstance(tree, ast.JoinedStr):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.ExceptHandler) and isinstance(child.type, ast.Tuple):
                yield child.type, ast.Tuple(child.type.elts[:-1], ast.Load())
            if isinstance(child, ast.expr):
                yield from ((child, changed) for changed in _changed(child))
            if isinstance(child, ast.AST):
                yield from _changes(child)


def _changed(node: ast.expr) -> Iterator[ast.expr]:
    made = copy.deepcopy(node)
    match made:
        case ast.Compare(ops=[operator]):
            made.ops = [COMPARISONS[type(operator)]()]
            yield made
        case ast.BoolOp(op=operator):
            made.op = ast.Or() if isinstance(operator, ast.And) else ast.And()
            yield made
            yield made.values[0]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.BinOp(op=operator) if type(operator) in OPERATORS:
            made.op = OPERATORS[type(operator)]()
            yield made
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
        case ast.Call(func=ast.Name(id=name) as called) if name in CALLS:
            called.id = CALLS[name]
            yield made
        case ast.Call(func=ast.Attribute(attr=name) as part) if name in CALLS:
            part.attr = CALLS[name]
            yield made
