"""Compiles the source of an expression to a function that evaluates within microseconds, or raises `ExpressionError`.

`lexer` reads the source once and removes references and quoted texts. Python's parser parses the rest. `syntax` checks its
tree node by node and builds closures. Python never compiles or runs any of it.

    ==, <, +    `==` compares JSON type and value; ordering, arithmetic and functions refuse operands of different types
    and, or     short-circuit and return the deciding operand; as in Python, 0, '', [], {} and null are false
    x[i], x[k]  null for a missing item, as in a reference; x[a:b] of lists and texts
    str, json   value to text, text to value
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import Final

from stepless.expressions.faults import SYNTAX, TOO_LARGE, fault
from stepless.expressions.lexer import Lexed, lex
from stepless.expressions.references import Known
from stepless.expressions.syntax import Builder
from stepless.expressions.texts import READING, Evaluate
from stepless.limits import MAX_EXPRESSION_NODES
from stepless.model.json import JSON
from stepless.model.scope import Reference, Scope

_PART: Final = 30  # steps
_CALL: Final = 200  # of a function, on short values
_PATH: Final = re.compile(r"[A-Za-z_][\w-]*(\.[\w-]+)+")  # `order.lines`, as other tools write a reference
_SHOWN_CHARACTERS: Final = 80  # of an expression, in what to write instead


@dataclass(frozen=True, slots=True)
class CompiledExpression:
    """An implementation of `model.scope.Expression`: `source` as written, `references` in order of appearance. `steps` is the
    cost of its parts, each evaluated at most once. The operations charge costs that grow with the values."""

    source: str
    references: tuple[Reference, ...]
    run: Evaluate = field(repr=False, compare=False)
    steps: int = 0

    def evaluate(self, scope: Scope) -> JSON:
        """Returns its value in `scope`. Raises `ExpressionError`, and whatever the scope itself raises."""
        try:
            scope.spend(self.steps)
            return self.run(scope)
        except (RecursionError, MemoryError, OverflowError):
            raise fault("the values are too large or nested too deeply", self.source, 0) from None


def compile_expression(source: str, known: Known) -> CompiledExpression:
    """Compiles `source`; `known` says which names a reference may start with.

    Raises `ExpressionError` with one of the codes `expression_syntax`, `expression_forbidden`, `expression_too_large`,
    `unknown_function` and `unknown_reference`, and the position of the fault.
    """
    if (inner := _within_braces(source)) is not None:
        mend = f"write {inner}" if inner else "write an expression without them"
        raise fault("an expression is written without braces here", source, 0, code=SYNTAX, mend=mend)
    return compile_lexed(source, lex(source, known))


def _within_braces(source: str) -> str | None:
    """What `{{…}}` holds, as it is written in a template or in n8n; a bare path becomes the reference that is meant. None without
    such braces. No expression has them, since a set cannot be written."""
    text = source.strip()
    if not (text.startswith("{{") and text.endswith("}}")):
        return None
    inner = text[2:-2].strip()
    return f"<{inner}>" if _PATH.fullmatch(inner) else inner[:_SHOWN_CHARACTERS]


def compile_lexed(source: str, lexed: Lexed) -> CompiledExpression:
    """Compiles a part of `source` that the lexer has read; positions count from the start of `source`."""
    if lexed.plain.isspace() or not lexed.plain:
        raise fault("the expression is empty", source, lexed.start, code=SYNTAX)
    indent = len(lexed.plain) - len(lexed.plain.lstrip(" "))
    body = _parse(lexed.plain.strip(" "), source, lexed.start + indent)
    parts = [node for node in ast.walk(body) if isinstance(node, ast.expr)]
    if len(parts) > MAX_EXPRESSION_NODES:
        message = f"an expression has at most {MAX_EXPRESSION_NODES} parts"
        raise fault(message, source, lexed.start + indent, code=TOO_LARGE)
    references: list[Reference] = []
    for binding in lexed.bindings.values():
        pieces = binding if isinstance(binding, tuple) else (binding,)
        references += [piece for piece in pieces if isinstance(piece, Reference)]
    run = Builder(source, lexed.bindings, lexed.start + indent).build(body)
    calls = sum(isinstance(part, ast.Call) for part in parts)
    steps = _PART * len(parts) + _CALL * calls + READING * len(references)
    return CompiledExpression(source, tuple(references), run, steps)


def _parse(plain: str, source: str, offset: int) -> ast.expr:
    try:
        return ast.parse(plain, mode="eval").body
    except SyntaxError as error:
        at = offset + min((error.offset or len(plain)) - 1, len(plain) - 1)  # no offset: the expression ends too early
        raise fault("this is not an expression from here on", source, at, code=SYNTAX) from None
    except (RecursionError, MemoryError, ValueError):
        raise fault("the expression nests too deeply", source, offset, code=TOO_LARGE) from None
