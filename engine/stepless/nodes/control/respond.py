"""Defines the kind `respond`, which answers the waiting caller of a webhook."""

from __future__ import annotations

from pydantic import Field

from stepless.limits import MAX_HEADERS
from stepless.model.json import JSON
from stepless.model.kind import Kind, Nature, Outcome, Work
from stepless.nodes.params import Name, Params, Scalar, rendered


class RespondParams(Params):
    """The HTTP response. Header values that are not text are written as JSON."""

    status: int = Field(200, ge=200, le=599)
    """The HTTP status."""
    headers: dict[Name, Scalar] = Field(default_factory=dict, max_length=MAX_HEADERS)
    """Header fields."""
    body: JSON = None
    """The body, which is also the run's output."""


def no_exits(params: RespondParams) -> tuple[str, ...]:
    return ()


def evaluate(work: Work) -> Outcome:
    """Puts out the body, which becomes the run's output. Only the first response of a run counts."""
    params = rendered(RespondParams, work.params)
    answer = {"status": params.status, "headers": dict(params.headers), "body": params.body}
    return Outcome(params.body, handle=None, respond=answer)


KIND = Kind(
    "respond", Nature.PURE, RespondParams, "answers the waiting caller; its body is the run's output",
    exits=no_exits, evaluate=evaluate, terminal=True,
    brief=("status",),
    icon="M13.500 3.500v3a3 3 0 0 1-3 3h-8M5.500 6.500l-3 3 3 3",
)
