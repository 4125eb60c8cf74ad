"""References, templates, expressions and contracts: texts of an author, compiled once, over values that somebody else holds.

    references   `<node.path>` and `${NAME}` in text               find_references
    templates    JSON whose texts are filled in                    compile_template
    language     expressions: lexer -> ast -> closures             compile_expression
    contracts    JSON Schema                                       compile_contract

The room knows nothing of runs: values come through `model.scope.Scope`. It promises that a value is never read as source,
that whatever an author writes or a value holds ends soon, in a value or in one of the errors of `errors.AuthorError`, and
that no message shows a value.
"""

from stepless.expressions.contracts import compile_contract
from stepless.expressions.language import compile_expression
from stepless.expressions.references import find_references
from stepless.expressions.templates import compile_template

__all__ = ["compile_contract", "compile_expression", "compile_template", "find_references"]
