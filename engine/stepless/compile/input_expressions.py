"""Compiles the expressions at the top level of a document, which read the run's inputs and nothing else."""

from __future__ import annotations

from stepless.errors import ExpressionError
from stepless.expressions import compile_expression
from stepless.model.scope import Expression

_INPUT = "input"


def of_inputs(text: str, whose: str = "a workflow's limit") -> Expression:
    """Compiles an expression over `<input>`. Raises `ExpressionError` for any other reference."""
    expression = compile_expression(text, lambda name: name == _INPUT)
    for reference in expression.references:
        if reference.env or reference.root != _INPUT:
            raise ExpressionError(
                f"`{reference.text}` cannot be read here", source=text, offset=reference.offset, code="unknown_reference",
                mend=f"{whose} reads `<input>`, the inputs of the run",
            )
    return expression
