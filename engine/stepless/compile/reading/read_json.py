"""Reads strict JSON within limits: no NaN, no duplicate keys, no numbers that other programs cannot read."""

from __future__ import annotations

import json
import re
from math import isinf
from typing import Final

from stepless.compile.reading.syntax import SyntaxFault, given_twice, too_deep
from stepless.limits import MAX_DOCUMENT_DEPTH, MAX_INTEGER_BITS
from stepless.model.json import JSON

_JSON_FIX: Final = "Check the commas, quotes and brackets there; JSON has no comments, and no comma after the last item."
MAX_DIGITS: Final = MAX_INTEGER_BITS * 301 // 1000  # decimal digits that always fit
_TOKEN: Final = re.compile(r'\\.|["\[{\]}]', re.DOTALL)


def read_json(text: str) -> JSON:
    """Returns the value. Raises `SyntaxFault`."""
    _bound_depth(text)
    try:
        return json.loads(
            text, object_pairs_hook=_unique, parse_constant=_no_constant, parse_int=bounded_int, parse_float=bounded_float,
        )
    except json.JSONDecodeError as error:
        raise SyntaxFault(error.msg[:1].lower() + error.msg[1:], error.lineno, error.colno, _JSON_FIX) from None


def bounded_int(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise SyntaxFault(f"a whole number of {len(digits)} digits; at most {MAX_DIGITS} are allowed", mend="Write it as text.")
    return int(digits)


def bounded_float(digits: str) -> float:
    number = float(digits)
    if isinf(number):
        raise SyntaxFault(f"the number {digits[:40]} is too large", mend="Write it as text.")
    return number


def _bound_depth(text: str) -> None:
    """Refuses deep nesting before the recursive parser runs. An escape outside of a text is left to that parser, which refuses it
    there."""
    depth, quoted = 0, False
    for token in _TOKEN.finditer(text):
        if token[0] == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif token[0] in "[{":
            depth += 1
            if depth > MAX_DOCUMENT_DEPTH:
                line = text.count("\n", 0, token.start()) + 1
                raise too_deep(line, token.start() - text.rfind("\n", 0, token.start()))
        elif token[0] in "]}":
            depth -= 1


def _unique(pairs: list[tuple[str, JSON]]) -> dict[str, JSON]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise given_twice(key)
            seen.add(key)
    return mapping


def _no_constant(name: str) -> JSON:
    raise SyntaxFault(f"{name} is not a number in JSON", mend="Write null or a text.")
