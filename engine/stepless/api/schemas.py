"""What comes out over HTTP: typed dictionaries, which /openapi.json is made from. Instants are ISO 8601 in UTC with
milliseconds."""

from __future__ import annotations

from typing import Any, NotRequired

from typing_extensions import TypedDict

from stepless.model.json import JSON


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
    tags: str
    events: str
    cancel: str
    hold: str
    release: str
    pause: str
    unpause: str
    rerun: str
    view: str


class ExceptionOut(TypedDict):
    """An exception in author code. `file`, `line` and `function` are where the author's own code was, if that is known."""

    type: str
    message: str
    file: NotRequired[str]
    line: NotRequired[int]
    function: NotRequired[str]
    traceback: str


class OutcomeOut(TypedDict):
    """How a run ended. Whoever started it by a webhook is told the status alone."""

    status: str
    outputs: NotRequired[JSON]
    error: NotRequired[dict[str, Any] | None]


class StartedOut(TypedDict):
    """`version` is the version that the run began with and keeps; `number` counts the runs of a workflow whose document is
    `numbered`. `replay` is true when an earlier start with the same key is answered again; `outcome` is null while there is
    none, or when the caller does not wait for it; `pauses` is what the run waits for where the caller waited until then."""

    run_id: str
    workflow: str
    version: int
    number: int | None
    replay: bool
    outcome: OutcomeOut | None
    pauses: list[PauseOut]
    links: RunLinks


class RunHeadOut(TypedDict):
    """A run in a list. `status` is `running` while a runner holds it, else that of the last time it came to rest; `damaged_log`
    or `newer_log` when its log cannot be read: it rests unchanged until it can. `waiting` is what it waited for then: held,
    answer, time, retry, child. `summary` says both to people. `version` is null for a run of a release that did not keep it.
    `tags` is the former name of `keywords`."""

    id: str
    workflow: str
    version: int | None
    number: int | None
    hash: str
    status: str
    waiting: list[str]
    summary: str
    keywords: list[str]
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


class HeldOut(TypedDict):
    """Who holds the run, why, and since when nothing new starts."""

    by: str | None
    reason: str | None
    at: str


class RunOut(TypedDict):
    """`version` is the version that the run began with, whatever was published since; `number` counts the runs of a workflow
    whose document is `numbered`. `waiting` is what the run waits for (held, answer, time, retry, child), and `summary` says it to
    people: `waiting for an answer`. `held` is null unless an operator holds the run; it is `running` while something is still
    under way. `keywords` are those that the run was started with; `tags` has them too, beside `partial_success`. `non_entries`
    are the nodes that an admin started the run at although they are no entries. `exception` is the one behind `error`, where
    author code raised it. A value that would make the answer too large is told as `{"large_value": {"size", "preview", "hash",
    "url"}}`; `pauses_left_out` counts pauses that did not fit."""

    id: str
    workflow: str
    version: int | None
    number: int | None
    hash: str
    status: str
    waiting: list[str]
    summary: str
    inputs: JSON
    outputs: JSON
    variables: dict[str, Any]
    error: dict[str, Any] | None
    exception: ExceptionOut | None
    failures: int
    keywords: list[str]
    tags: list[str]
    non_entries: list[str]
    steps: int
    usage: dict[str, int]
    sequence: int
    held: HeldOut | None
    pauses: list[PauseOut]
    pauses_left_out: NotRequired[int]
    created_at: str
    started_at: str | None
    ended_at: str | None
    links: RunLinks


class CallOut(TypedDict):
    """What one attempt was called with: its parameters with references filled in, secrets shown as `***`. `previews` holds the
    beginnings of those that are too large to be shown whole."""

    attempt: int
    at: str
    params: dict[str, Any]
    previews: dict[str, str]


class NodeOut(TypedDict):
    """What became of one instance; what did not happen is null. `usage` is that of all its attempts, failed ones too; `calls` are
    the last ten. `fork` is the innermost fork that it is in and `branch` the number of its branch there, from 0: of the fork's
    targets in edge order, or the turn of a parallel. `path` are the instances that led to it, from an entry to itself, the last
    100 of a longer one."""

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
    exception: ExceptionOut | None
    index: int | None
    predecessor: str | None
    wave: int
    depth: int
    fork: str | None
    branch: int | None
    path: list[str]
    attempts: int
    started_at: str | None
    ended_at: str | None
    usage: dict[str, int]
    waiting: dict[str, Any] | None
    calls: list[CallOut]


class NodesOut(TypedDict):
    nodes: list[NodeOut]
    cursor: int | None


class TagOut(TypedDict):
    """One transition of the run, for counting. `event` is the number of the event that it stands for; `instance` is null for the
    run's own. `facts` are always the same for a tag: node_started {attempt, wave}, node_retried {attempt, cause, delay_ms},
    moderation_flagged {phase, error_code, error_message}, contract_violated {phase, errors}, timed_out {timeout_ms}, node_failed
    {error_code, error_message}, node_completed {duration_ms, input_tokens, output_tokens}, node_cancelled {}, partial_success
    {failures}."""

    tag: str
    instance: str | None
    event: int
    at: str
    facts: dict[str, Any]


class TagsOut(TypedDict):
    tags: list[TagOut]
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


class HoldOut(TypedDict):
    """`status` is `holding` or `releasing`, by the former names of these verbs `pausing` or `unpausing`: it is so within about a
    second."""

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
