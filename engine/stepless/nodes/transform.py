"""The kind `transform`: builds a value from references and expressions."""

from __future__ import annotations

from stepless.model.json import JSON
from stepless.model.kind import Kind, Nature, Outcome, Work
from stepless.nodes.params import Params


class TransformParams(Params):
    """The output."""

    value: JSON
    """The output: any JSON, with references and expressions."""


def evaluate(work: Work) -> Outcome:
    return Outcome(work.params["value"])


KIND = Kind("transform", Nature.PURE, TransformParams, "builds a value from references and expressions", evaluate=evaluate)
