"""The two ways in which an expression goes wrong: refused where it stands in a text, or a misfit of values.

No message ever quotes a value, because a value may be a secret; texts that the author wrote may be quoted.
"""

from __future__ import annotations

from typing import Final

from stepless.errors import ExpressionError
from stepless.limits import MAX_EXPRESSION_CHARACTERS

EVALUATION: Final = "expression_error"
SYNTAX: Final = "expression_syntax"
FORBIDDEN: Final = "expression_forbidden"
TOO_LARGE: Final = "expression_too_large"
UNKNOWN_FUNCTION: Final = "unknown_function"
UNKNOWN_REFERENCE: Final = "unknown_reference"
BAD_SCHEMA: Final = "invalid_schema"

_WINDOW_CHARACTERS: Final = 100


class Misfit(Exception):
    """Values that an operation cannot take. Operations know no position; whoever calls them adds it with `fault`."""

    def __init__(self, message: str, mend: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.mend = mend


def fault(message: str, source: str, offset: int, *, code: str = EVALUATION, mend: str = "") -> ExpressionError:
    """The error at `offset` of `source`. A source longer than any expression is cut to the surroundings of the offset,
    and the offset is then counted in what is left."""
    if len(source) > MAX_EXPRESSION_CHARACTERS:
        start = max(0, offset - _WINDOW_CHARACTERS)
        source, offset = source[start : offset + _WINDOW_CHARACTERS], offset - start
    return ExpressionError(message, source=source, offset=offset, code=code, mend=mend)
