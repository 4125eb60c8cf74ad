"""The chapter of docs/write/reference.md about references and expressions. It lists the functions of the language's own table."""

from __future__ import annotations

from typing import Final

from stepless.expressions.calls import CALLS
from stepless.expressions.functions import FUNCTIONS


def _functions() -> str:
    rows = [f"| `{call}` | {meaning} |" for name in FUNCTIONS for call, meaning in (CALLS[name],)]
    return "\n".join(["| function | returns |", "|---|---|", *rows])


LANGUAGE: Final = f"""\
## References

| reference | stands for |
|---|---|
| `<node>`, `<node.path[0].name>` | the output of a node upstream, or a part of it |
| `<input>`, `<inputs.param>` | the inputs: merged, by param |
| `<workflow.name>` | a variable of the run |
| `<loop.index>`, `<loop.item>`, `<loop.items>` | in a loop; in a parallel `<parallel.…>`; `<outer_id.item>` of one further out |
| `<run.id>` | the run |
| `<node.path!>` | the same, strict: the node fails with `missing_value` where there is nothing to read; a null is read |
| `${{NAME}}` | an environment variable or secret that `env` names; without a value the node fails with `secret_missing` |

A value that is exactly one reference keeps its JSON type; inside longer text it is rendered. `a < b` and `<div>` stay as they
are: a reference needs a known name directly after `<`. A node that was skipped, and a path that does not exist, read as null,
unless the reference is strict.
Publishing refuses references to unknown nodes, to nodes that do not come before, and into a container from outside.

## Expressions

Cases, `while`, `do_while`, `items` and the text inside `{{{{ … }}}}` are expressions: a closed subset of Python's syntax
over JSON values. `== != < <= > >= in not in and or not + - * / // % x if c else y`, literals (also `true false null`), lists,
objects, subscripts, and these functions. Nothing else can be called. Values are bound, never inserted into the text, so no input
can change an expression. `==` compares by JSON type and value (`5 == "5"` is false); `<`, `<=`, `>` and `>=` raise on different
types, null included. An expression that raises fails its node.

{_functions()}
"""
