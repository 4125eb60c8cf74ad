"""Compiles the author's references, templates, expressions and contracts, and evaluates them over the values of a scope.

    references   `<node.path>` and `${NAME}` in text               find_references
    templates    JSON with references in its texts                 compile_template
    language     expressions: lexer -> ast -> closures             compile_expression
    contracts    JSON Schema                                       compile_contract

The package does not depend on runs: values come through `model.scope.Scope`. It guarantees that a value is never parsed as
source, that every evaluation ends within a bounded time with a value or an `errors.AuthorError`, whatever the source and the
values, and that no message shows a value.
"""

from stepless.expressions.contracts import compile_contract
from stepless.expressions.language import compile_expression
from stepless.expressions.references import find_references
from stepless.expressions.templates import compile_template

__all__ = ["compile_contract", "compile_expression", "compile_template", "find_references"]
