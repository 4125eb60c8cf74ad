"""Explains a YAML syntax error: what is wrong and what to write instead, from the parser's message and the line."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from stepless.limits import PREVIEW_CHARACTERS

OTHERWISE: Final = "Text that contains `: ` or ` #`, or starts with one of `{ [ & * ! | > % @` and the like, needs quotes."
_SECOND_COLON: Final = re.compile(r"(?P<key>\s*(?:- )?[^\s:'\"{\[][^:]*):\s+(?P<text>[^'\"{\[|>].*:(?:\s.*)?)$")

Explanation = Callable[[Any, str], tuple[str, str]]
"""Maps the parser's error and the line of the error to the message and the fix."""


def explained(error: Any, text: str) -> tuple[str, str]:
    """Returns the message and the fix for a `yaml.MarkedYAMLError`."""
    mark = error.problem_mark or error.context_mark
    lines = text.split("\n")
    line = lines[mark.line].rstrip("\r") if mark is not None and mark.line < len(lines) else ""
    problem = error.problem or ""
    for phrase, explain in _EXPLANATIONS.items():
        if phrase in problem:
            return explain(error, line)
    return " ".join(part for part in (problem, error.context) if part), OTHERWISE


def _of_character(error: Any, line: str) -> tuple[str, str]:
    character = line[error.problem_mark.column : error.problem_mark.column + 1]
    if "\t" in line[: error.problem_mark.column + 1]:
        return _of_tab(error, line)
    return f"a value cannot start with `{character}`", "Put the text in quotes."


def _of_tab(error: Any, line: str) -> tuple[str, str]:
    return "the line is indented with a tab", "Indent with spaces: YAML does not allow tabs there."


def _of_mapping(error: Any, line: str) -> tuple[str, str]:
    found = _SECOND_COLON.match(line)
    if found is None:
        return ("this key is indented as if it belonged to the line above, which has a value already",
                "Align it with the keys that it belongs to, or add `:` to the line above, or remove the value there.")
    shown = found["text"].strip()[:PREVIEW_CHARACTERS]
    quote = "'" if '"' in shown else '"'
    message = f"`{found['key'].strip().removeprefix('- ')}` has a text with `: ` in it, which needs quotes"
    return message, f"Write `{found['key'].strip()}: {quote}{shown}{quote}`."


def _of_colon(error: Any, line: str) -> tuple[str, str]:
    return "a key without `:`", "Write `key: value`, with a space after the colon."


def _of_block(error: Any, line: str) -> tuple[str, str]:
    before = line[: error.problem_mark.column].rstrip()
    if before.endswith(("'", '"')):
        return "text follows a value that is in quotes", "Put all of the text in quotes, or none of it."
    what = "an item of a list" if "collection" in (error.context or "") or "sequence" in (error.context or "") else "a key"
    message = f"{what} was expected here, with the same indentation as the ones before"
    return message, "Align the keys of one object, and the items of one list."


def _of_bracket(error: Any, line: str) -> tuple[str, str]:
    closing = "]" if "sequence" in (error.context or "") else "}"
    begun = f", which start in line {error.context_mark.line + 1}" if error.context_mark is not None else ""
    return (f"`,` or `{closing}` was expected here, inside brackets{begun}",
            f"Close it with `{closing}`, or put text that contains one of `, : {{ }} [ ] #` in quotes.")


def _of_quote(error: Any, line: str) -> tuple[str, str]:
    begun = error.context_mark.line + 1 if error.context_mark is not None else 0
    return f"the quote that opens in line {begun} is not closed" if begun else "a quote is not closed", "Close it."


def _of_escape(error: Any, line: str) -> tuple[str, str]:
    return "this escape does not exist in double quotes", "Use single quotes, where a backslash is literal, or write `\\\\`."


def _of_list(error: Any, line: str) -> tuple[str, str]:
    return "a list item is on the same line as its key", "Start the list on the next line, or write `[a, b]`."


def _of_nothing(error: Any, line: str) -> tuple[str, str]:
    return "a value was expected here", OTHERWISE


def _of_name(error: Any, line: str) -> tuple[str, str]:
    return "`*` and `&` start an alias and an anchor, and the name is missing", "Put the text in quotes."


_EXPLANATIONS: Final[Mapping[str, Explanation]] = {
    "cannot start any token": _of_character,
    "tab character": _of_tab,
    "mapping values are not allowed": _of_mapping,
    "could not find expected ':'": _of_colon,
    "did not find expected key": _of_block,
    "did not find expected '-' indicator": _of_block,
    "expected <block end>": _of_block,
    "expected ',' or": _of_bracket,
    "unexpected end of stream": _of_quote,
    "unknown escape character": _of_escape,
    "block sequence entries are not allowed": _of_list,
    "sequence entries are not allowed": _of_list,
    "did not find expected node content": _of_nothing,
    "expected alphabetic or numeric character": _of_name,
}
