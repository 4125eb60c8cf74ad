"""Defines the kind `condition`, which takes the exit of the first case that is true."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from stepless.errors import ExpressionError
from stepless.limits import MAX_CASES, MAX_EXPRESSION_CHARACTERS
from stepless.model.findings import Finding
from stepless.model.json import JSON
from stepless.model.kind import Case, Group, Kind, Nature, Outcome, Part, Work
from stepless.model.work import passed_through
from stepless.nodes.params import Name, Params, reserved_exits, warning

ELSE = "else"
Test = Annotated[str, StringConstraints(min_length=1, max_length=MAX_EXPRESSION_CHARACTERS)]


class ConditionParams(Params):
    """The cases; each is an exit."""

    cases: dict[Name, Test] = Field(min_length=1, max_length=MAX_CASES)
    """Exits and their expressions, evaluated in order. The text `else` is always true."""


def exits(params: ConditionParams) -> tuple[str, ...]:
    return tuple(params.cases)


def check(params: ConditionParams, path: str) -> list[Finding]:
    names = list(params.cases)
    fallback = next((place for place, test in enumerate(params.cases.values()) if test.strip() == ELSE), len(names))
    refused = reserved_exits(params.cases, f"{path}.cases")
    misspelt = any(test.strip().isalpha() for test in params.cases.values())  # a word alone is `else` or an error
    if fallback == len(names) and not refused and not misspelt:
        return [warning("no_else", f"{path}.cases", "there is no `else` case: if no case is true, no edge is taken",
                        "Add a case such as `otherwise: else`, even if no edge starts there.")]
    return refused + [
        warning("unreachable_case", f"{path}.cases.{name}",
                f"`{name}` is never reached: `{names[fallback]}` before it is always true", "Put the case with `else` last.")
        for name in names[fallback + 1:]
    ]


def evaluate(work: Work) -> Outcome:
    """Puts out its input. Cases after the first true one are not evaluated; if none is true, no exit fires."""
    value = passed_through(work.inputs)
    for case in work.cases:
        if case.expression is None or _is_true(work, case):
            return Outcome(value, handle=case.name)
    return Outcome(value, handle=None)


def _is_true(work: Work, case: Case) -> JSON:
    assert case.expression is not None
    try:
        return work.evaluate(case.expression)
    except ExpressionError as error:
        message = f"case `{case.name}`: {error.message}"
        raise ExpressionError(message, source=error.source, offset=error.offset, code=error.code) from error


KIND = Kind(
    "condition", Nature.PURE, ConditionParams, "takes the exit of the first case that is true",
    exits=exits, parts={"cases": Part.CASES}, evaluate=evaluate, check=check,
    group=Group.DECIDE, brief=("cases",), branches="cases",
    icon="M8 1.8 14.2 8 8 14.2 1.8 8 8 1.8Z",
)
