"""Defines the kind `transform`, which builds a value from references and expressions."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from stepless.model.json import JSON
from stepless.model.kind import Kind, Nature, Outcome, Work
from stepless.nodes.params import Params


class TransformParams(Params):
    """The output."""

    value: JSON
    """The output: any JSON, with references and expressions."""


def evaluate(work: Work) -> Outcome:
    return Outcome(work.params["value"])


def fields_of(written: Mapping[str, JSON]) -> Collection[str] | None:
    value = written.get("value")
    return value.keys() if isinstance(value, dict) else () if isinstance(value, list) else None


KIND = Kind(
    "transform", Nature.PURE, TransformParams, "builds a value from references and expressions", evaluate=evaluate,
    brief=("value",), output_fields=fields_of,
    icon="M2.500 5h7M7 2.500 9.500 5 7 7.500M13.500 11h-7M9 8.500 6.500 11 9 13.500",
)
