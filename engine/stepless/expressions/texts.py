"""Formats JSON values as text, for references in longer texts, `str` and `join`.

A text is unchanged. Null becomes the empty text, as in GitHub Actions and Mustache: "Dear , …" is better than "Dear null, …".
Other values become compact JSON: `true`, `2.5`, `{"a":1}`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from stepless.expressions.faults import Misfit
from stepless.expressions.values import pay_for_text, space_for_text, weigh
from stepless.limits import MAX_TEXT_CHARACTERS
from stepless.model.json import JSON
from stepless.model.scope import Payer, Scope

Evaluate: TypeAlias = Callable[[Scope], JSON]

READING: Final = 80  # steps for a reference, including the formatting of a short value
WRITING: Final = 60  # steps for each value written as JSON

_encode: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def to_json(value: JSON, payer: Payer) -> str:
    """Returns compact JSON text. A container is weighed before it is written: parts that it shares could multiply the text's
    size."""
    if type(value) is list or type(value) is dict:
        payer.spend(weigh(value, MAX_TEXT_CHARACTERS, payer, WRITING) >> 1)
    elif type(value) is str:
        pay_for_text(2 * len(value), payer)
    try:
        return _encode(value)
    except (TypeError, ValueError):
        raise Misfit("the value cannot be written as JSON") from None


def to_text(value: JSON, payer: Payer) -> str:
    """Returns the text of `value` inside a longer text."""
    if type(value) is str:
        return value
    if value is None:
        return ""
    return to_json(value, payer)


def joined(pieces: Sequence[str | Evaluate]) -> Callable[[Scope], str]:
    """Returns a function that joins fixed and evaluated pieces to one text. It raises `Misfit` when the text grows too long."""

    def join(scope: Scope) -> str:
        texts: list[str] = []
        characters = 0
        for piece in pieces:
            text = piece if isinstance(piece, str) else to_text(piece(scope), scope)
            texts.append(text)
            characters += len(text)
            space_for_text(characters)
        pay_for_text(characters, scope)
        return "".join(texts)

    return join
