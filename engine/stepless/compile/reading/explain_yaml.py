"""What is wrong with a text that is no YAML, and what to write instead: by what the parser says and the line that it means."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from stepless.limits import PREVIEW_CHARACTERS

OTHERWISE: Final = "Text with `: ` or ` #` in it, or that begins with one of `{ [ & * ! | > % @` and the like, needs quotes."
_SECOND_COLON: Final = re.compile(r"(?P<key>\s*(?:- )?[^\s:'\"{\[][^:]*):\s+(?P<text>[^'\"{\[|>].*:(?:\s.*)?)$")

Explanation = Callable[[Any, str], tuple[str, str]]
"""Of the parser's error and the line it stands in: the sentence and the mend."""


def explained(error: Any, text: str) -> tuple[str, str]:
    """The sentence and the mend for a `yaml.MarkedYAMLError`."""
    mark = error.problem_mark or error.context_mark
    lines = text.split("\n")
    line = lines[mark.line].rstrip("\r") if mark is not None and mark.line < len(lines) else ""
    problem = error.problem or ""
    for said, explain in _EXPLANATIONS.items():
        if said in problem:
            return explain(error, line)
    return " ".join(part for part in (problem, error.context) if part), OTHERWISE


def _of_character(error: Any, line: str) -> tuple[str, str]:
    character = line[error.problem_mark.column : error.problem_mark.column + 1]
    if "\t" in line[: error.problem_mark.column + 1]:
        return _of_tab(error, line)
    return f"no value can begin with `{character}`", "Put the text in quotes."


def _of_tab(error: Any, line: str) -> tuple[str, str]:
    return "the line is indented with a tab", "Indent with spaces: YAML takes no tabs there."


def _of_mapping(error: Any, line: str) -> tuple[str, str]:
    found = _SECOND_COLON.match(line)
    if found is None:
        return ("this key is indented as if it belonged to the line above, which has a value already",
                "Line it up with the keys that it belongs to, or give the line above its `:`, or take its value away.")
    shown = found["text"].strip()[:PREVIEW_CHARACTERS]
    quote = "'" if '"' in shown else '"'
    told = f"`{found['key'].strip().removeprefix('- ')}` has a text with `: ` in it, which is not in quotes"
    return told, f"Write `{found['key'].strip()}: {quote}{shown}{quote}`."


def _of_colon(error: Any, line: str) -> tuple[str, str]:
    return "a key without its `:`", "Write `key: value`, with a space after the colon."


def _of_block(error: Any, line: str) -> tuple[str, str]:
    before = line[: error.problem_mark.column].rstrip()
    if before.endswith(("'", '"')):
        return "text follows a value that is in quotes", "Put all of the text in quotes, or none of it."
    what = "an item of a list" if "collection" in (error.context or "") or "sequence" in (error.context or "") else "a key"
    told = f"{what} was expected here, at the indentation of the ones before"
    return told, "Line the keys of one object up, and the items of one list."


def _of_bracket(error: Any, line: str) -> tuple[str, str]:
    closing = "]" if "sequence" in (error.context or "") else "}"
    begun = f", which begins in line {error.context_mark.line + 1}" if error.context_mark is not None else ""
    return (f"`,` or `{closing}` was expected here, in what is in brackets{begun}",
            f"Close it with `{closing}`, or put text that has one of `, : {{ }} [ ] #` in it in quotes.")


def _of_quote(error: Any, line: str) -> tuple[str, str]:
    begun = error.context_mark.line + 1 if error.context_mark is not None else 0
    return f"the quote that opens in line {begun} is not closed" if begun else "a quote is not closed", "Close it."


def _of_escape(error: Any, line: str) -> tuple[str, str]:
    return "there is no such escape in double quotes", "Use single quotes, in which a backslash is itself, or write `\\\\`."


def _of_list(error: Any, line: str) -> tuple[str, str]:
    return "an item of a list stands in the line of its key", "Begin the list on the next line, or write `[a, b]`."


def _of_nothing(error: Any, line: str) -> tuple[str, str]:
    return "a value was expected here", OTHERWISE


def _of_name(error: Any, line: str) -> tuple[str, str]:
    return "`*` and `&` begin an alias and an anchor, and no name follows", "Put the text in quotes."


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
