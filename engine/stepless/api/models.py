"""What goes in and out over HTTP. Bodies are pydantic and refuse unknown fields; answers are typed dictionaries, which
/openapi.json is made from. Instants are ISO 8601 in UTC with milliseconds."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from typing_extensions import TypedDict

from stepless.limits import (
    DEFAULT_PAGE_ITEMS,
    MAX_BULK_RUNS,
    MAX_CURSOR_CHARACTERS,
    MAX_KEY_NAME_CHARACTERS,
    MAX_NODES,
    MAX_PAGE_ITEMS,
    MAX_PERSON_CHARACTERS,
    MAX_REASON_CHARACTERS,
    MAX_TAG_CHARACTERS,
    MAX_TAGS,
)
from stepless.model.json import JSON

Person = Annotated[str, StringConstraints(min_length=1, max_length=MAX_PERSON_CHARACTERS, strip_whitespace=True)]
RunTag = Annotated[str, StringConstraints(pattern=rf"^[A-Za-z0-9_.:/@=+-]{{1,{MAX_TAG_CHARACTERS}}}$")]
RunTags = Annotated[list[RunTag], Field(max_length=MAX_TAGS)]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class StartBody(Body):
    """`inputs` become the run's inputs; `entry` names the node or nodes to start at instead of all roots; by its `tags`, like
    `customer:c-17`, the run is found again."""

    inputs: Any = Field(default_factory=dict)
    entry: str | Annotated[list[str], Field(min_length=1, max_length=DEFAULT_PAGE_ITEMS)] | None = None
    tags: RunTags = Field(default_factory=list)


class CancelBody(Body):
    by: Person | None = None
    reason: Annotated[str, StringConstraints(max_length=MAX_REASON_CHARACTERS)] | None = None


class RerunBody(Body):
    """`from` names the node that the new run begins at, with what stood above it; without it everything runs. `inputs` replace
    those of the old run."""

    from_: str | None = Field(None, alias="from")
    inputs: Any = None


class BulkFilter(Body):
    """All that are given must hold; at least one must be given."""

    workflow: str | None = None
    status: str | None = None
    since: str | None = None
    tags: RunTags = Field(default_factory=list)


class BulkBody(Body):
    """One page of runs, newest first; the answer's `cursor` goes on. `from` belongs to rerun, `by` and `reason` to cancel."""

    action: Literal["cancel", "rerun"]
    filter: BulkFilter
    limit: int = Field(MAX_BULK_RUNS, ge=1, le=MAX_BULK_RUNS)
    cursor: str | None = Field(None, max_length=MAX_CURSOR_CHARACTERS)
    from_: str | None = Field(None, alias="from")
    by: Person | None = None
    reason: Annotated[str, StringConstraints(max_length=MAX_REASON_CHARACTERS)] | None = None


class KeyBody(Body):
    """Every key may read. `run` starts, cancels and reruns; `approve` is shown the links that answer questions; `admin` may do
    everything."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=MAX_KEY_NAME_CHARACTERS, strip_whitespace=True)]
    roles: list[Literal["read", "run", "approve", "admin"]] = Field(min_length=1, max_length=4)


class ResumeBody(Body):
    """`decision` names one of the pause's exits and may be left out when there is only one; `answer` holds its fields."""

    decision: str | None = None
    answer: Any = None
    by: Person | None = None


class Query(BaseModel):
    """Query parameters come as text; unknown ones are refused like unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ListQuery(Query):
    limit: int = Field(DEFAULT_PAGE_ITEMS, ge=1, le=MAX_PAGE_ITEMS)
    cursor: str | None = Field(None, max_length=MAX_CURSOR_CHARACTERS)


class RunsQuery(ListQuery):
    """`since` is an instant, ISO 8601 or milliseconds since 1970; runs created then or later are listed. Of several `tag` all
    must be there. A search by tags may answer fewer runs than `limit` and still have a cursor. Runs that began less than
    ten seconds ago are found under `created`, although they are shown as `running`."""

    workflow: str | None = None
    status: str | None = None
    since: str | None = None
    tag: RunTags = Field(default_factory=list)


class NodesQuery(Query):
    """`after` is how many instances to pass over: the former page's cursor."""

    after: int = Field(0, ge=0, le=MAX_NODES * MAX_PAGE_ITEMS)
    limit: int = Field(DEFAULT_PAGE_ITEMS, ge=1, le=MAX_PAGE_ITEMS)


# -- answers ----------------------------------------------------------------------------------------------------------


class FindingOut(TypedDict):
    code: str
    path: str
    message: str
    mend: str
    node: str | None
    edge: str | None
    severity: str


class Problem(TypedDict):
    """RFC 9457. `code` is stable; `place` says where, `mend` what to do; `report` names the log entry of a fault of ours."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    place: NotRequired[str]
    mend: NotRequired[str]
    findings: NotRequired[list[FindingOut]]
    violations: NotRequired[list[str]]
    first: NotRequired[DecisionOut]
    run_id: NotRequired[str]
    run_status: NotRequired[str]
    owner: NotRequired[str]
    report: NotRequired[str]


class WorkflowLinks(TypedDict):
    workflow: str
    version: str
    start: str


class VersionOut(TypedDict):
    """One published version; `hash` names its content."""

    id: str
    name: str
    version: int
    hash: str
    published_at: str
    links: WorkflowLinks


class PublishedOut(VersionOut):
    warnings: list[FindingOut]


class DocumentOut(VersionOut):
    document: dict[str, Any]


class WorkflowsOut(TypedDict):
    workflows: list[VersionOut]
    cursor: str | None


class RunLinks(TypedDict):
    run: str
    nodes: str
    events: str
    cancel: str
    rerun: str
    view: str


class OutcomeOut(TypedDict):
    """How a run ended. Whoever started it by a webhook is told the status alone."""

    status: str
    outputs: NotRequired[JSON]
    error: NotRequired[dict[str, Any] | None]


class StartedOut(TypedDict):
    """`replay` is true when an earlier start with the same key is answered again; `outcome` is null while there is none, or
    when nobody asked to wait for it."""

    run_id: str
    workflow: str
    version: int
    replay: bool
    outcome: OutcomeOut | None
    links: RunLinks


class RunHeadOut(TypedDict):
    """A run in a list. `status` is `running` while a runner holds it, else that of the last time it came to rest."""

    id: str
    workflow: str
    hash: str
    status: str
    tags: list[str]
    created_at: str
    updated_at: str
    links: RunLinks


class RunsOut(TypedDict):
    runs: list[RunHeadOut]
    cursor: str | None


class PauseOut(TypedDict):
    """What a run waits for. `resume` is the signed link that answers it; null for timers, and for keys without the role
    `approve`."""

    pause: str
    node: str
    reason: str
    exits: list[str]
    details: dict[str, Any]
    since: str
    deadline: str | None
    resume_at: str | None
    resume: str | None


class RunOut(TypedDict):
    id: str
    workflow: str
    version: int | None
    hash: str
    status: str
    inputs: JSON
    outputs: JSON
    variables: dict[str, Any]
    error: dict[str, Any] | None
    failures: int
    tags: list[str]
    steps: int
    usage: dict[str, int]
    sequence: int
    pauses: list[PauseOut]
    created_at: str
    started_at: str | None
    ended_at: str | None
    links: RunLinks


class NodeOut(TypedDict):
    """What became of one instance; what did not happen is null."""

    instance: str
    node: str
    kind: str
    label: str
    status: str
    reason: str | None
    code: str | None
    inputs: dict[str, Any]
    output: JSON
    error: dict[str, Any] | None
    index: int | None
    predecessor: str | None
    wave: int
    depth: int
    attempts: int
    started_at: str | None
    ended_at: str | None
    usage: dict[str, int]
    waiting: dict[str, Any] | None


class NodesOut(TypedDict):
    nodes: list[NodeOut]
    cursor: int | None


class CorrelationOut(TypedDict):
    traceId: str
    parentEventId: int | None
    wave: int
    phase: str


class EventOut(TypedDict):
    """A value too large for the log stands in `payload.previews`, cut short."""

    eventId: int
    sequence: int
    type: str
    runId: str
    workflowId: str
    timestamp: str
    correlation: CorrelationOut
    payload: dict[str, Any]


class EventsOut(TypedDict):
    """`cursor` continues the listing; with `ended` there is nothing left to wait for."""

    events: list[EventOut]
    cursor: int
    ended: bool


class RefusalOut(TypedDict):
    run_id: str
    code: str
    message: str


class BulkOut(TypedDict):
    """`matched` runs fitted; `done` are those that were changed, or the new runs of a rerun; `cursor` goes on with the older
    ones, null when there are none."""

    action: str
    matched: int
    done: list[str]
    refused: list[RefusalOut]
    cursor: str | None


class KeyOut(TypedDict):
    """`last_used_at` is true to ten minutes; `former_until` is when the secret before the last rotation stops to open."""

    id: str
    name: str
    roles: list[str]
    created_at: str
    last_used_at: str | None
    former_until: str | None


class KeysOut(TypedDict):
    keys: list[KeyOut]


class NewKeyOut(KeyOut):
    """`secret` is told this once."""

    secret: str


class CancelOut(TypedDict):
    run_id: str
    status: str
    links: RunLinks


class DecisionOut(TypedDict):
    """A decision, the first and only one of its pause."""

    decision: str
    by: str | None
    at: str
    answer: JSON


class QuestionOut(TypedDict):
    """What the holder of a link may see: the question, never the run."""

    workflow: str
    label: str
    message: str
    fields: dict[str, Any]
    exits: list[str]
    deadline: str | None
    decided: DecisionOut | None


class HealthOut(TypedDict):
    status: str
