"""JSON values as text: what references in longer text, `str` and `join` show.

A text shows as it is, null as nothing (as GitHub Actions and Mustache have it: "Dear , …" is wrong in a kinder way than
"Dear null"), everything else as compact JSON: `true`, `2.5`, `{"a":1}`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from stepless.expressions.faults import Misfit
from stepless.expressions.values import room_for_text, weigh
from stepless.limits import MAX_TEXT_CHARACTERS
from stepless.model.json import JSON
from stepless.model.scope import Scope

Evaluate: TypeAlias = Callable[[Scope], JSON]

_encode: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def to_json(value: JSON) -> str:
    """Compact JSON text. A container is weighed before it is written, so that shared parts cannot multiply."""
    if type(value) is list or type(value) is dict:
        weigh(value, MAX_TEXT_CHARACTERS)
    try:
        return _encode(value)
    except (TypeError, ValueError):
        raise Misfit("the value cannot be written as JSON") from None


def to_text(value: JSON) -> str:
    """`value` inside a longer text."""
    if type(value) is str:
        return value
    if value is None:
        return ""
    return to_json(value)


def joined(pieces: Sequence[str | Evaluate]) -> Callable[[Scope], str]:
    """One text out of fixed pieces and pieces to be filled in. The result raises `Misfit` when it grows too long."""

    def join(scope: Scope) -> str:
        texts: list[str] = []
        characters = 0
        for piece in pieces:
            text = piece if isinstance(piece, str) else to_text(piece(scope))
            texts.append(text)
            characters += len(text)
            room_for_text(characters)
        return "".join(texts)

    return join
