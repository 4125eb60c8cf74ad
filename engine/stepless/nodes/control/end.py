"""Defines the kind `end`, which ends a path, the run, or the enclosing loop."""

from __future__ import annotations

from pydantic import Field

from stepless.model.kind import Kind, Nature, Outcome, Work
from stepless.nodes.params import Params, rendered


class EndParams(Params):
    """What the node ends in addition to its path."""

    halt: bool = False
    """Ends the run now: running nodes finish, all others are skipped."""
    break_: bool = Field(False, alias="break")
    """Ends the enclosing loop after this iteration."""


def no_exits(params: EndParams) -> tuple[str, ...]:
    return ()


def evaluate(work: Work) -> Outcome:
    params = rendered(EndParams, work.params)
    return Outcome(handle=None, halt=params.halt, break_loop=params.break_)


KIND = Kind(
    "end", Nature.PURE, EndParams, "ends a path, the run (halt) or the enclosing loop (break)",
    exits=no_exits, evaluate=evaluate, terminal=True,
    icon="M3.500 3.500h9v9h-9z",
)
