"""Says which faults of a value may be none, because only a run can fill in the references in it."""

from __future__ import annotations

from typing import Final

from pydantic_core import ErrorDetails

from stepless.compile.values.fields import Known, texts_in
from stepless.errors import ExpressionError
from stepless.expressions import compile_template
from stepless.model.declaration.misfits import IsOpen
from stepless.model.json import JSON

_OF_NAMES: Final = ("missing", "extra_forbidden", "missing_argument", "unexpected_keyword_argument")
_OF_VALIDATORS: Final = ("value_error", "assertion_error")


def open_values(known: Known) -> IsOpen:
    """A text with a reference fits every type. Its place does not: a field that is missing or unknown stays so, and an object or
    a list keeps its type, whatever it contains. A validator in the code of an author may read the texts inside of one."""

    def is_open(error: ErrorDetails) -> bool:
        if error["type"] in _OF_NAMES:
            return False
        value = error["input"]
        return is_filled_in(value, known) if isinstance(value, str) else error["type"] in _OF_VALIDATORS and _holds(value, known)

    return is_open


def is_filled_in(text: str, known: Known) -> bool:
    """Returns whether only a run can fill in a text. True for a faulty reference, which another check reports."""
    try:
        return not compile_template(text, known).constant
    except ExpressionError:
        return True


def _holds(value: JSON, known: Known) -> bool:
    return any(is_filled_in(text, known) for _, text in texts_in(value, ""))
