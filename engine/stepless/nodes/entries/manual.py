"""Defines the kind `manual`, which starts a run by hand or by the API."""

from __future__ import annotations

from stepless.model.kind import Kind, Nature, Outcome, Work
from stepless.nodes.params import Params


class ManualParams(Params):
    """No parameters."""


def evaluate(work: Work) -> Outcome:
    return Outcome(work.run_inputs)


KIND = Kind(
    "manual", Nature.ENTRY, ManualParams, "starts a run by hand; returns the run's inputs", evaluate=evaluate,
    icon="M5 3.2v9.6l8-4.8-8-4.8Z",
)
