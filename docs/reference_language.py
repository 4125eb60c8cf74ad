"""The chapter of docs/reference.md about references and expressions. It lists the functions of the language's own table."""

from __future__ import annotations

from typing import Final

from stepless.expressions.functions import FUNCTIONS

CALLS: Final = {
    "len": ("len(x)", "characters of a text, items of a list, fields of an object"),
    "min": ("min(a, b, …), min(list)", "the smallest: all numbers or all texts"),
    "max": ("max(a, b, …), max(list)", "the largest"),
    "sum": ("sum(list)", "the sum of its numbers"),
    "round": ("round(x), round(x, digits)", "to a whole number, or to that many digits; halves go to the even neighbour"),
    "abs": ("abs(x)", "the absolute value"),
    "lower": ("lower(text)", "in lower case"),
    "upper": ("upper(text)", "in upper case"),
    "trim": ("trim(text)", "without white space at both ends"),
    "split": ("split(text), split(text, separator)", "its words, or the pieces between separators"),
    "join": ("join(list), join(list, separator)", "its items in one text"),
    "contains": ("contains(whole, part)", "as `part in whole`"),
    "startswith": ("startswith(text, start)", "whether the text begins with `start`"),
    "endswith": ("endswith(text, end)", "whether the text ends with `end`"),
    "matches": ("matches(text, pattern)", "whether the text contains a match of the regular expression (RE2: bounded in time)"),
    "int": ("int(x)", "a number without its fraction, or a text of digits as a number"),
    "float": ("float(x)", "a number, or a text as a number"),
    "str": ("str(x)", "a text as it is, anything else as JSON"),
    "bool": ("bool(x)", "false for null, 0, empty texts, lists and objects"),
    "keys": ("keys(object)", "its names"),
    "values": ("values(object)", "its values"),
    "items": ("items(object)", "[name, value] for each"),
    "any": ("any(list)", "whether at least one item counts as true"),
    "all": ("all(list)", "whether all items count as true"),
    "default": ("default(x, y)", "x, or y where x is null"),
    "now": ("now()", "the instant of the decision, as ISO-8601 text in UTC"),
    "date": ("date(x)", "an instant (ISO-8601 text, or milliseconds) as ISO-8601 text in UTC"),
    "json": ("json(text)", "the value of a JSON text"),
    "query": ("query(x, text)", "JMESPath: filters and projects collections"),
    "need": ("need(x)", "x; fails with `missing_value` where x is null"),
    "merge": ("merge(object, …)", "one object with the fields of all; of equal names, the last value"),
    "put": ("put(object, name, x), put(list, number, x)", "a copy with x under the name, or at a number that the list has"),
    "sort": ("sort(list), sort(list, true)", "its items in ascending or descending order: all numbers or all texts"),
    "range": ("range(stop), range(start, stop), range(start, stop, step)", "whole numbers from `start` (0) to before `stop`"),
    "zip": ("zip(list, …)", "lists of the first items, the second items …, as many as the shortest list has"),
    "repeat": ("repeat(x, times)", "a text or a list, that often in a row"),
    "text": ("text(x)", "x as Python writes it: `None`, `True`, `1.0`, `['a', 1]`; a text as it is"),
}


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
