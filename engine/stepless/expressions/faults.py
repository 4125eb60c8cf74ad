"""Defines the two errors of expressions: an `ExpressionError` at a position in the source, and a `Misfit` of values.

No message quotes a value, because a value may be a secret. Messages may quote the author's source.
"""

from __future__ import annotations

from typing import Final

from stepless.errors import ExpressionError
from stepless.limits import MAX_EXPRESSION_CHARACTERS

EVALUATION: Final = "expression_error"
SYNTAX: Final = "expression_syntax"
FORBIDDEN: Final = "expression_forbidden"
TOO_LARGE: Final = "expression_too_large"
MISSING: Final = "missing_value"
UNKNOWN_FUNCTION: Final = "unknown_function"
UNKNOWN_REFERENCE: Final = "unknown_reference"
BAD_SCHEMA: Final = "invalid_schema"

_WINDOW_CHARACTERS: Final = 100


class Misfit(Exception):
    """Values that an operation does not accept. Operations know no position; their caller adds it with `fault`. An empty `code`
    leaves the code to the caller."""

    def __init__(self, message: str, mend: str = "", code: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.mend = mend
        self.code = code


def fault(
    message: str, source: str, offset: int, *, code: str = EVALUATION, mend: str = "",
    respelling: tuple[str, str | None] | None = None,
) -> ExpressionError:
    """Returns the error at `offset` of `source`. A source that is longer than an expression may be is cut to the text around the
    offset, and the offset then counts within that text."""
    if len(source) > MAX_EXPRESSION_CHARACTERS:
        start = max(0, offset - _WINDOW_CHARACTERS)
        source, offset = source[start : offset + _WINDOW_CHARACTERS], offset - start
    return ExpressionError(message, source=source, offset=offset, code=code, mend=mend, respelling=respelling)
