"""Defines the kind `set`, which writes run variables."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pydantic import Field

from stepless.model.json import JSON
from stepless.model.kind import Kind, Nature, Outcome, Work
from stepless.nodes.params import Name, Params, rendered


class SetParams(Params):
    """The variables to write."""

    variables: dict[Name, JSON] = Field(min_length=1)
    """Names and their new values."""


def evaluate(work: Work) -> Outcome:
    """Puts out the variables that it writes."""
    variables = rendered(SetParams, work.params).variables
    return Outcome(variables, variables=variables)


def fields_of(written: Mapping[str, JSON]) -> Collection[str] | None:
    variables = written.get("variables")
    return variables.keys() if isinstance(variables, dict) else None


KIND = Kind(
    "set", Nature.PURE, SetParams, "writes run variables; puts them out", evaluate=evaluate,
    brief=("variables",), output_fields=fields_of,
    icon="M3 5.500h10M3 10.500h10",
)
