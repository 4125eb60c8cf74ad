"""Names what rewritten sources call: words of the compiler, and helpers that Python evaluates. No source has these names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from stepless.flow.words import mark, result, result_of, results


class _Word:
    """A word of the compiler, which no code calls."""


GROUP: Final = "__stepless_group__"
FIRST: Final = "__stepless_first__"
BEGIN: Final = "__stepless_begin__"
RESULT: Final = "__stepless_result__"
RESULT_OF: Final = "__stepless_result_of__"
RESULTS: Final = "__stepless_results__"
WINDOW: Final = "__stepless_window__"
"""The keyword of a `gather` that says how many of its calls run at once."""
WORDS: Final[Mapping[str, Any]] = {
    GROUP: mark(_Word(), "group"), FIRST: mark(_Word(), "first"), BEGIN: mark(_Word(), "begin"),
    RESULT: result, RESULT_OF: result_of, RESULTS: results,
}  # fmt: skip
