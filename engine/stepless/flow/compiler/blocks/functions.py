"""Writes the function that evaluates a block: its statements, where each jump out of them returns the exit that it takes.
Whatever the way out is, the names that it leaves are noted last, behind every `finally`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final

from stepless.flow.compiler.facts.block_nodes import NEXT, Block, Leave
from stepless.flow.compiler.trees import copied

LEAVE: Final = "__stepless_leave"
LOCALS: Final = "__stepless_locals"
UNBOUND_MARK: Final = "__stepless_unbound"
"""Names of the function that no source has: what notes its names, Python's `locals`, and the value of a name without one."""
_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.expr)
_LOOPS: Final = (ast.For, ast.While, ast.AsyncFor)


def function_of(block: Block, name: str, unsure: frozenset[str], first: int) -> ast.FunctionDef:
    """Returns the function of a block, called as the function of the author. `unsure` are the inputs that may be names without a
    value; `first` is added to each line."""
    body = [_left(copied(statement), looping=False) for statement in block.statements]
    if NEXT in block.exits:
        body.append(_way(NEXT, None))
    note = ast.Expr(_calling(LEAVE, _calling(LOCALS)))
    guarded = ast.Try(list(body), [], [], [note])
    forgets = [_forgetting(one) for one in sorted(unsure)]
    given = ast.arguments([], [ast.arg(LEAVE), *map(ast.arg, block.inputs)], None, [], [], None, [])
    made = ast.FunctionDef(name, given, [*forgets, guarded], [], None)
    if "type_params" in ast.FunctionDef._fields:
        vars(made)["type_params"] = []
    made.lineno, made.col_offset = block.statements[0].lineno, 0
    made.end_lineno, made.end_col_offset = block.statements[-1].end_lineno, block.statements[-1].end_col_offset
    ast.fix_missing_locations(made)
    return ast.increment_lineno(made, first)


def text_of(block: Block) -> str:
    """Returns the source of a block, which names its function."""
    held = [_left(copied(statement), looping=False) for statement in block.statements]
    return "\n".join(map(ast.unparse, held))


def _forgetting(name: str) -> ast.stmt:
    """`if name is UNBOUND: del name`"""
    test = ast.Compare(ast.Name(name, ast.Load()), [ast.Is()], [ast.Name(UNBOUND_MARK, ast.Load())])
    return ast.If(test, [ast.Delete([ast.Name(name, ast.Del())])], [])


def _left(node: ast.stmt, *, looping: bool) -> ast.stmt:
    """A statement whose jumps out of the block return. Inside of a loop, `break` and `continue` stay."""
    match node:
        case ast.Return():
            return ast.copy_location(_way("return", node.value), node)
        case Leave(kind=kind):
            return ast.copy_location(_way(kind, None), node)
        case ast.Break() | ast.Continue() if not looping:
            return ast.copy_location(_way(type(node).__name__.lower(), None), node)
    _inside(node, looping=looping)
    return node


def _inside(node: ast.AST, *, looping: bool) -> None:
    for name, value in ast.iter_fields(node):
        if not isinstance(value, list):
            continue
        within = looping or (isinstance(node, _LOOPS) and name == "body")
        if value and isinstance(value[0], ast.stmt):
            setattr(node, name, _suite(value, looping=within) if not isinstance(node, _SCOPES) else value)
        else:
            for part in value:
                if isinstance(part, ast.AST) and not isinstance(part, _SCOPES):
                    _inside(part, looping=within)


def _suite(body: Sequence[ast.stmt], *, looping: bool) -> list[ast.stmt]:
    return [_left(one, looping=looping) for one in body]


def _way(kind: str, value: ast.expr | None) -> ast.stmt:
    return ast.Return(ast.Tuple([ast.Constant(kind), value or ast.Constant(None)], ast.Load()))


def _calling(function: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(function, ast.Load()), list(arguments), [])
