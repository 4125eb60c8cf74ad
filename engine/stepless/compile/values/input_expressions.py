"""Compiles the expressions at the top level of a document, which read the run's inputs and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from stepless.errors import ExpressionError
from stepless.expressions import compile_expression
from stepless.model.findings import Finding
from stepless.model.scope import Expression

_INPUT = "input"
_LIMIT = "a workflow's limit"


def of_inputs(text: str, whose: str = _LIMIT) -> Expression:
    """Compiles an expression over `<input>`. Raises `ExpressionError` for any other reference."""
    expression = compile_expression(text, lambda name: name == _INPUT)
    for reference in expression.references:
        if reference.env or reference.root != _INPUT:
            raise ExpressionError(
                f"`{reference.text}` cannot be read here", source=text, offset=reference.offset, code="unknown_reference",
                mend=f"{whose} reads `<input>`, the inputs of the run",
            )
    return expression


def unreadable(place: str, text: object, whose: str = _LIMIT) -> Iterator[Finding]:
    """Returns the reason that prevents `text` from being an expression over `<input>`; nothing if it is no text."""
    if not isinstance(text, str):
        return
    try:
        of_inputs(text, whose)
    except ExpressionError as error:
        mend = f"{error.mend[:1].upper()}{error.mend[1:]}" if error.mend else "It is an expression over `<input>`."
        yield Finding(error.code, place, f"{error.message} (character {error.offset + 1})", mend)
