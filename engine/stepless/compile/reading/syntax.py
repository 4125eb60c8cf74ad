"""Defines the error for a text that cannot be parsed as a document."""

from __future__ import annotations

from stepless.limits import MAX_DOCUMENT_DEPTH


class SyntaxFault(Exception):
    """`line` and `column` count from 1; both are 0 if the place is unknown."""

    def __init__(self, message: str, line: int = 0, column: int = 0, mend: str = "") -> None:
        super().__init__(message)
        self.message, self.line, self.column, self.mend = message, line, column, mend


def too_deep(line: int, column: int) -> SyntaxFault:
    return SyntaxFault(f"values are nested deeper than {MAX_DOCUMENT_DEPTH} levels", line, column, "Reduce the nesting.")


def given_twice(key: str, line: int = 0, column: int = 0) -> SyntaxFault:
    return SyntaxFault(f"the key `{key[:100]}` is given twice in one mapping", line, column, "Keep one of them.")
