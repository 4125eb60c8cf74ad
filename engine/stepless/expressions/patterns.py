"""Implements `matches` with RE2, whose time grows at most with pattern times text. RE2 is loaded at the first pattern."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, TypeAlias

from stepless.expressions.faults import Misfit
from stepless.expressions.values import kind
from stepless.limits import MAX_DYNAMIC_PATTERN_BYTES, MAX_PATTERN_CHARACTERS
from stepless.model.json import JSON
from stepless.model.scope import Payer

_KEPT_PATTERNS: Final = 256
_COMPILING: Final = 60  # steps for each instruction of a compiled pattern

Question: TypeAlias = Callable[[JSON, Payer], bool]


def pattern(text: JSON) -> Question:
    """Compiles the pattern `text` to a test for texts: does it match anywhere (`^…$` for the whole text)?

    The test costs the pattern's instructions times the characters of the text. It raises `Misfit` for other values than texts.
    """
    return _compiled(_checked(text), None)[0]


def matches(value: JSON, text: JSON, payer: Payer) -> bool:
    """Returns whether a pattern that is computed at run time matches a text. Each call charges for the compilation, even of a
    cached pattern, so that a process's cache does not change where an evaluation ends. Its memory limit is lower than a
    literal's."""
    payer.spend(_COMPILING * len(_checked(text)))
    found, size = _compiled(text, MAX_DYNAMIC_PATTERN_BYTES)
    payer.spend(_COMPILING * size)
    return found(value, payer)


def _checked(text: JSON) -> str:
    if type(text) is not str:
        raise Misfit(f"a pattern is a text, not {kind(text)}")
    if len(text) > MAX_PATTERN_CHARACTERS:
        raise Misfit(f"a pattern has at most {MAX_PATTERN_CHARACTERS} characters")
    return text


@lru_cache(maxsize=_KEPT_PATTERNS)
def _compiled(text: str, most_bytes: int | None) -> tuple[Question, int]:
    """The test, and the number of the pattern's instructions."""
    found = _load(text, most_bytes)
    size = max(1, found.programsize)

    def question(value: JSON, payer: Payer) -> bool:
        if type(value) is not str:
            raise Misfit(f"a pattern is matched against a text, not against {kind(value)}")
        payer.spend(len(value) * size)
        try:
            return found.search(value) is not None
        except UnicodeEncodeError:
            raise Misfit("the text contains an unpaired surrogate") from None

    return question, size


def _load(text: str, most_bytes: int | None) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    if most_bytes is not None:
        options.max_mem = most_bytes
    try:
        return re2.compile(text, options)
    except (re2.error, UnicodeEncodeError):
        raise Misfit("this is not a pattern", "patterns are RE2: no look-around, no back-references") from None
