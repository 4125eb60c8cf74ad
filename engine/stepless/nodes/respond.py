"""`respond`: answers the caller of a webhook who waits."""

from __future__ import annotations

from pydantic import Field

from stepless.limits import MAX_HEADERS
from stepless.model.json import JSON
from stepless.model.kind import Kind, Nature, Outcome, Work
from stepless.nodes.params import Name, Params, Scalar, rendered


class RespondParams(Params):
    """The answer. Header values that are no text are written as JSON."""

    status: int = Field(200, ge=200, le=599)
    """The HTTP status."""
    headers: dict[Name, Scalar] = Field(default_factory=dict, max_length=MAX_HEADERS)
    """Header fields."""
    body: JSON = None
    """The body, which is the run's output too."""


def no_exits(params: RespondParams) -> tuple[str, ...]:
    return ()


def evaluate(work: Work) -> Outcome:
    """Puts out the body, which becomes the run's output. The first answer of a run wins."""
    params = rendered(RespondParams, work.params)
    answer = {"status": params.status, "headers": dict(params.headers), "body": params.body}
    return Outcome(params.body, handle=None, respond=answer)


KIND = Kind(
    "respond", Nature.PURE, RespondParams, "answers the waiting caller; its body is the run's output",
    exits=no_exits, evaluate=evaluate, terminal=True,
)
