"""Defines the kind `join`, a node at which branches meet."""

from __future__ import annotations

from stepless.model.kind import Group, Kind, Nature, Outcome, Work
from stepless.model.work import passed_through
from stepless.nodes.params import Params


class JoinParams(Params):
    """No parameters: the node itself says how its branches join and merge, as for every kind."""


def evaluate(work: Work) -> Outcome:
    return Outcome(passed_through(work.inputs))


KIND = Kind(
    "join", Nature.PURE, JoinParams, "a node at which branches meet; returns its input", evaluate=evaluate,
    group=Group.DECIDE,
    icon="M2 3.5h2.5L9 8h5M2 12.5h2.5L9 8",
)
