"""Lists Python constructs that the language does not have: their names, and what to write instead.

Used only in messages. Everything outside the table of `syntax` is refused, whether it is listed here or not.
"""

from __future__ import annotations

import ast
from typing import Final

NAMES: Final[dict[type[ast.AST], str]] = {
    ast.Attribute: "attribute access",
    ast.Lambda: "a lambda",
    ast.ListComp: "a comprehension",
    ast.SetComp: "a comprehension",
    ast.DictComp: "a comprehension",
    ast.GeneratorExp: "a comprehension",
    ast.NamedExpr: "an assignment",
    ast.Set: "a set",
    ast.Tuple: "a tuple",
    ast.Starred: "unpacking with *",
    ast.Await: "await",
    ast.Yield: "yield",
    ast.YieldFrom: "yield",
    ast.Slice: "a cut outside of [ ]",
    ast.Pow: "the operator **",
    ast.MatMult: "the operator @",
    ast.BitAnd: "the operator &",
    ast.BitOr: "the operator |",
    ast.BitXor: "the operator ^",
    ast.LShift: "the operator <<",
    ast.RShift: "the operator >>",
    ast.Invert: "the operator ~",
    ast.Is: "the operator is",
    ast.IsNot: "the operator is not",
}
FIXES: Final[dict[type[ast.AST], str]] = {
    ast.Attribute: "a path is read inside a reference, <node.path>; a function is called by name, upper(…)",
    ast.Tuple: "write a list: […]",
    ast.Set: "write a list […] or an object {'key': …}",
    ast.Is: "write ==",
    ast.IsNot: "write !=",
    ast.BitAnd: "write and",
    ast.BitOr: "write or",
    ast.Invert: "write not",
    ast.ListComp: "query(…) filters and projects",
    ast.GeneratorExp: "query(…) filters and projects",
}
