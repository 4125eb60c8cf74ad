"""Serves the routes for test runs: a draft as it was after one entry, run before it is published."""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import Annotated, Any, Final

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from typing_extensions import TypedDict

from stepless.api.bodies import documented_body, read_model
from stepless.api.draft_sessions.sessions import DraftSessions, person_of
from stepless.api.guards.auditing import note
from stepless.api.guards.auth import may
from stepless.api.links import Links
from stepless.api.problems import documented
from stepless.api.replies import instant, reply
from stepless.api.requests import Body
from stepless.api.responses.links import RunLinks
from stepless.api.routes.drafts.schemas import Seq
from stepless.api.routes.drafts.texts import refusal_of
from stepless.drafts.operations.publishing import DraftRefused
from stepless.drafts.operations.runs import Asked, run_draft
from stepless.drafts.operations.verbs import DraftVerbs
from stepless.errors import Forbidden
from stepless.limits import DEFAULT_PAGE_ITEMS, MAX_INSTANCE_CHARACTERS, MAX_PINS, MAX_PINS_BYTES, MAX_REQUEST_BYTES
from stepless.model.stored.draft_run import Pin
from stepless.ports import Draft
from stepless.runtime.access.audit import AuditLog
from stepless.runtime.access.roles import Role
from stepless.runtime.draft_runs import StartedRun, noted_runs

_TAGS: Final[list[str | Enum]] = ["drafts"]
Path = Annotated[str, Field(min_length=1, max_length=MAX_INSTANCE_CHARACTERS)]


class StartedDraftRunOut(TypedDict):
    """A test run of the draft as it was after item `seq`."""

    run_id: str
    epoch: int
    seq: int
    by: str
    at: str
    links: RunLinks


class DraftRunsOut(TypedDict):
    """The last test runs, the newest first. A run may be gone by now."""

    runs: list[StartedDraftRunOut]


class PinBody(Body):
    """The output that a node has instead of working, and the exit by which it leaves; without one, the first of its exits."""

    output: Any
    handle: Annotated[str, Field(min_length=1, max_length=MAX_INSTANCE_CHARACTERS)] | None = None


class RunDraftBody(Body):
    """Runs the draft as it was after item `seq`, now without one. `pins` are by the path of the node, such as `price@each`;
    without them, those of the draft count. After the node `stop_after` nothing runs, and nothing that does not lead to it. With
    `from_run` and `from`, the nodes that do not come after `from` have the outputs that they had in that run, whose inputs count
    if there are no `inputs`. `entry` names the entry or entries to start at instead of all."""

    inputs: Any = Field(default_factory=dict)
    seq: Seq | None = None
    pins: Annotated[dict[Path, PinBody], Field(max_length=MAX_PINS)] | None = None
    stop_after: Path | None = None
    from_run: Path | None = None
    from_: Path | None = Field(None, alias="from")
    entry: str | Annotated[list[str], Field(min_length=1, max_length=DEFAULT_PAGE_ITEMS)] | None = None

    def asked(self) -> Asked:
        pins = None if self.pins is None else {path: Pin(pin.output, pin.handle) for path, pin in self.pins.items()}
        entries = [self.entry] if isinstance(self.entry, str) else self.entry
        given = "inputs" in self.model_fields_set
        return Asked(self.seq, self.inputs, given, pins, self.stop_after, self.from_run, self.from_, entries)


def add_routes(router: APIRouter, drafts: DraftVerbs, sessions: DraftSessions, links: Links, log: AuditLog) -> None:
    @router.post(
        "/drafts/{workflow_id}/runs", summary="Run a draft", status_code=202, response_model=StartedDraftRunOut,
        openapi_extra=documented_body(RunDraftBody), responses=documented(400, 401, 403, 404, 409, 410, 413, 415, 422, 429, 503),
        tags=_TAGS,
    )  # fmt: skip
    async def run_draft_now(workflow_id: str, request: Request) -> Response:
        """Starts a test run. It needs the roles `edit` and `run`, and `admin` if it could cause an effect that a run of the
        published version cannot: 403 unpublished_effect, with the nodes (`violations`) and why (`reasons`). Without `admin`, a
        test run that calls a node counts as a start for the limits of the workflow: 429. 422: the findings, each with the `key`
        of its block."""
        if not may(request, Role.RUN):
            raise Forbidden(f"this request needs the role {Role.RUN} too", code="role_missing", mend="ask an admin for it")
        body = await read_model(request, RunDraftBody, MAX_PINS_BYTES + MAX_REQUEST_BYTES)
        asked = body.asked()
        work = partial(run_draft, drafts, workflow_id, asked, person_of(request), anything=may(request, Role.ADMIN))
        try:
            started = await run_in_threadpool(work)
        except DraftRefused as error:
            return refusal_of(error)
        await note(log, request, {"seq": started.seq, "run": started.run_id})
        await sessions.announce(Draft(workflow_id, started.epoch), started)
        made = _started(started, links)
        return reply(made, 202, {"location": made["links"]["run"]})


def add_reading(router: APIRouter, drafts: DraftVerbs, links: Links) -> None:
    @router.get(
        "/drafts/{workflow_id}/runs", summary="List the test runs of a draft", response_model=DraftRunsOut,
        responses=documented(401, 404, 503), tags=_TAGS,
    )  # fmt: skip
    def list_draft_runs(workflow_id: str) -> Response:
        """Returns the last test runs of the draft that is open, the newest first, at most 20."""
        epoch = drafts.drafting.head(workflow_id).epoch
        found = [run for run in noted_runs(drafts.world, workflow_id) if run.epoch == epoch]
        return reply({"runs": [_started(run, links) for run in found]})


def _started(run: StartedRun, links: Links) -> StartedDraftRunOut:
    return {
        "run_id": run.run_id, "epoch": run.epoch, "seq": run.seq, "by": run.by, "at": str(instant(run.at_ms)),
        "links": links.run(run.run_id),
    }  # fmt: skip
