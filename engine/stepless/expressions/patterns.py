"""`matches`: RE2 patterns, whose time grows with pattern times text and never faster. RE2 is loaded at the first pattern."""

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
_COMPILING: Final = 60  # steps for each instruction that a pattern is compiled to

Question: TypeAlias = Callable[[JSON, Payer], bool]


def pattern(text: JSON) -> Question:
    """A question for texts: is `text`, as a pattern, found anywhere in it (`^…$` for all of it)?

    The question costs instructions of the pattern times characters of the text. It raises `Misfit` for what is not a text.
    """
    return _compiled(_checked(text), None)[0]


def matches(value: JSON, text: JSON, payer: Payer) -> bool:
    """Whether a pattern that is known only now is found in a text. The pattern is compiled, and paid for, each time: what a
    process remembers of earlier ones must not change where an evaluation ends. It may take less memory than a written one."""
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
    """The question, and how many instructions the pattern has."""
    found = _load(text, most_bytes)
    size = max(1, found.programsize)

    def question(value: JSON, payer: Payer) -> bool:
        if type(value) is not str:
            raise Misfit(f"a pattern is looked for in a text, not in {kind(value)}")
        payer.spend(len(value) * size)
        try:
            return found.search(value) is not None
        except UnicodeEncodeError:
            raise Misfit("the text holds half a surrogate pair") from None

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
