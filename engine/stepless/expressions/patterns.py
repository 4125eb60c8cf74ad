"""`matches`: RE2 patterns, whose time grows with pattern times text and never faster. RE2 is loaded at the first pattern."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from stepless.expressions.faults import Misfit
from stepless.expressions.values import kind
from stepless.limits import MAX_MATCH_STEPS, MAX_PATTERN_CHARACTERS
from stepless.model.json import JSON

_KEPT_PATTERNS: Final = 256


def pattern(text: JSON) -> Callable[[JSON], bool]:
    """A question for texts: is `text`, as a pattern, found anywhere in it (`^…$` for all of it)?

    The question raises `Misfit` for what is not a text, and when pattern times text exceeds MAX_MATCH_STEPS.
    """
    if type(text) is not str:
        raise Misfit(f"a pattern is a text, not {kind(text)}")
    if len(text) > MAX_PATTERN_CHARACTERS:
        raise Misfit(f"a pattern has at most {MAX_PATTERN_CHARACTERS} characters")
    return _compiled(text)


@lru_cache(maxsize=_KEPT_PATTERNS)
def _compiled(text: str) -> Callable[[JSON], bool]:
    found = _load(text)
    size = max(1, found.programsize)

    def matches(value: JSON) -> bool:
        if type(value) is not str:
            raise Misfit(f"a pattern is looked for in a text, not in {kind(value)}")
        if len(value) * size > MAX_MATCH_STEPS:
            raise Misfit("the text is too long for a pattern of this size")
        try:
            return found.search(value) is not None
        except UnicodeEncodeError:
            raise Misfit("the text holds half a surrogate pair") from None

    return matches


def _load(text: str) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(text, options)
    except (re2.error, UnicodeEncodeError):
        raise Misfit("this is not a pattern", "patterns are RE2: no look-around, no back-references") from None
