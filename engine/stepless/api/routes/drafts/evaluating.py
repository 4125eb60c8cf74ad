"""Previews an expression of a node over a former run, and lists the names that it can use."""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import Annotated, Any, Final, Literal, NotRequired

from fastapi import APIRouter, Query, Request
from pydantic import ConfigDict, Field, model_validator
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from typing_extensions import TypedDict

from stepless.api.bodies import documented_body, read_model
from stepless.api.problems import documented
from stepless.api.replies import instant, reply
from stepless.api.requests import Body
from stepless.drafts.operations.preview import Asked, Evaluating
from stepless.drafts.operations.run_values import Former
from stepless.drafts.operations.verbs import DraftVerbs
from stepless.expressions.calls import CALLS
from stepless.limits import MAX_EVALUATED_SOURCE, MAX_EXPRESSION_CHARACTERS, MAX_ID_CHARACTERS, MAX_KEY_CHARACTERS
from stepless.runtime.headers import version_of

_TAGS: Final[list[str | Enum]] = ["drafts"]
_ESCAPED: Final = 6  # bytes of JSON that one character of a text may take
_AROUND_BYTES: Final = 2_000
_FUNCTIONS: Final = [
    {"name": name, "calls": [f"{call.rstrip(')')})" for call in calls.split("), ")], "about": about}
    for name, (calls, about) in CALLS.items()
]

Key = Annotated[str, Field(pattern=r"^block/", max_length=2 * MAX_KEY_CHARACTERS, examples=["block/a81Xc0Lq2M"])]
RunId = Annotated[str, Field(min_length=1, max_length=2 * MAX_ID_CHARACTERS)]


class OverRunOut(TypedDict):
    """The run whose values count. `whole` is false for a run of so many events that only the first ones were read."""

    run_id: str
    version: int | None
    status: str
    created_at: str | None
    whole: bool


class EvaluationFaultOut(TypedDict):
    """`offset` and `length` locate the fault in the source, in characters."""

    code: str
    message: str
    mend: str
    offset: int
    length: int


class EvaluatedOut(TypedDict):
    """`value`, or `preview` for one that is too large: its first characters as JSON; or `error`. `nulls` are the references that
    read null because their path leads nowhere, `unread` those to what the run has no value of."""

    epoch: int
    seq: int
    run: OverRunOut | None
    value: NotRequired[Any]
    preview: NotRequired[str]
    error: NotRequired[EvaluationFaultOut]
    nulls: list[str]
    unread: list[str]


class RootOut(TypedDict):
    """A name that a reference may start with: `<name.path>`. `key` is the block of a `node`. `certain`: it has a value whenever
    the node runs; others may read null. `shape` is a JSON Schema of the value: of the pin or the run with examples, else the
    node's `output_contract`; null if nothing is known."""

    name: str
    what: Literal["node", "turn", "input", "inputs", "workflow", "run", "message"]
    detail: str
    certain: bool
    shape: dict[str, Any] | None
    key: str | None


class FunctionOut(TypedDict):
    name: str
    calls: list[str]
    about: str


class ScopeOut(TypedDict):
    """`env` are the names that `${NAME}` may read."""

    epoch: int
    seq: int
    run: OverRunOut | None
    roots: list[RootOut]
    env: list[str]
    functions: list[FunctionOut]


class EvaluateBody(Body):
    """Either an `expression`, or a `text` with references, in the scope of the block `node`. `place` is the field that it is for.
    `run` is the run over whose values it is evaluated; default: the last run of the workflow."""

    node: Key
    expression: str | None = Field(None, max_length=2 * MAX_EXPRESSION_CHARACTERS)
    text: str | None = Field(None, max_length=MAX_EVALUATED_SOURCE)
    place: str = Field("with", pattern=r"^[A-Za-z_][\w.-]*$", max_length=200)
    run: RunId | None = None

    @model_validator(mode="after")
    def _has_one_source(self) -> EvaluateBody:
        if (self.expression is None) == (self.text is None):
            raise ValueError("give either `expression` or `text`")
        return self


class ScopeQuery(Body):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)

    node: Key
    run: RunId | None = None


def add_routes(router: APIRouter, drafts: DraftVerbs) -> None:
    evaluating = Evaluating(drafts)

    @router.post(
        "/drafts/{workflow_id}/evaluate", summary="Evaluate an expression of a draft", response_model=EvaluatedOut,
        openapi_extra=documented_body(EvaluateBody), responses=documented(400, 401, 404, 409, 410, 413, 415, 422, 503),
        tags=_TAGS,
    )  # fmt: skip
    async def evaluate_draft(workflow_id: str, request: Request) -> Response:
        """Returns the value of an expression, or of a text with references, as a node of the draft would read it over the values
        of a run, or of the pins of the draft. Nothing runs: the evaluator and its limits are those of the engine. Secrets read
        as `***`. A fault of the source is a response too, with its place."""
        body = await read_model(request, EvaluateBody, MAX_EVALUATED_SOURCE * _ESCAPED + _AROUND_BYTES)
        asked = Asked(body.expression or body.text or "", body.expression is not None, body.place)
        made = await run_in_threadpool(partial(evaluating.evaluate, workflow_id, body.node, asked, body.run))
        answer: dict[str, Any] = {
            "epoch": made.at.head.epoch, "seq": made.at.seq, "run": _run(made.former), "nulls": list(made.nulls),
            "unread": list(made.unread),
        }  # fmt: skip
        if made.fault is not None:
            answer["error"] = made.fault._asdict()
        elif made.preview is not None:
            answer["preview"] = made.preview
        elif made.value:  # none where the run has no value of what is read
            answer["value"] = made.value[0]
        return reply(answer)

    @router.get(
        "/drafts/{workflow_id}/scope", summary="List what a node of a draft may read", response_model=ScopeOut,
        responses=documented(400, 401, 404, 409, 410, 503), tags=_TAGS,
    )  # fmt: skip
    def read_draft_scope(workflow_id: str, query: Annotated[ScopeQuery, Query()]) -> Response:
        """Returns what an expression in a node of the draft may refer to, the nearest nodes first, with the shapes of values; and
        the functions of the language."""
        made = evaluating.scope(workflow_id, query.node, query.run)
        return reply({
            "epoch": made.at.head.epoch, "seq": made.at.seq, "run": _run(made.former),
            "roots": [root._asdict() for root in made.roots], "env": list(made.env), "functions": _FUNCTIONS,
        })  # fmt: skip


def _run(former: Former | None) -> dict[str, Any] | None:
    if former is None:
        return None
    head = former.head
    return {
        "run_id": head.run_id, "version": version_of(head), "status": head.status, "created_at": instant(head.created_ms),
        "whole": former.whole,
    }  # fmt: skip
