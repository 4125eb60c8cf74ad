"""`manual`: a run that somebody starts by hand or by API."""

from __future__ import annotations

from stepless.model.kind import Kind, Nature, Outcome, Work
from stepless.nodes.params import Params


class ManualParams(Params):
    """Nothing to set."""


def evaluate(work: Work) -> Outcome:
    return Outcome(work.run_inputs)


KIND = Kind("manual", Nature.ENTRY, ManualParams, "starts a run by hand; puts out the run's inputs", evaluate=evaluate)
