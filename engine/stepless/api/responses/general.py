"""Declares the bodies of responses, as typed dictionaries from which /openapi.json is generated. Instants are ISO 8601 in UTC
with milliseconds."""

from __future__ import annotations

from typing import Any, NotRequired

from typing_extensions import TypedDict

from stepless.api.responses.details import DetailOut
from stepless.api.responses.evaluated_conditions import LoopedOut, TestedOut
from stepless.api.responses.links import RunLinks
from stepless.api.responses.messages import UnreadOut
from stepless.model.json import JSON


class FindingOut(TypedDict):
    code: str
    path: str
    message: str
    mend: str
    node: str | None
    edge: str | None
    severity: str
    key: NotRequired[str | None]


class Problem(TypedDict):
    """RFC 9457. `code` is stable; `place` says where the error is, `mend` how to fix it; `report` is the id of a log entry. Of
    `unpublished_effect`, `violations` are the paths of nodes, and `reasons` say of each why it is refused."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    place: NotRequired[str]
    mend: NotRequired[str]
    findings: NotRequired[list[FindingOut]]
    violations: NotRequired[list[str]]
    reasons: NotRequired[list[str]]
    first: NotRequired[DecisionOut]
    run_id: NotRequired[str]
    run_status: NotRequired[str]
    owner: NotRequired[str]
    report: NotRequired[str]


class DamageOut(TypedDict):
    """Damage to the store: the place, what is wrong, and what to do."""

    place: str
    why: str
    mend: str


class WorkflowLinks(TypedDict):
    workflow: str
    version: str
    start: str


class VersionOut(TypedDict):
    """One published version; `hash` names its content. One with `damage` is damaged in the store: no run of it can start."""

    id: str
    name: str
    version: int
    hash: str
    published_at: str
    links: WorkflowLinks
    damage: NotRequired[DamageOut]


class PublishedOut(VersionOut):
    warnings: list[FindingOut]


class DocumentOut(VersionOut):
    document: dict[str, Any]


class WorkflowsOut(TypedDict):
    workflows: list[VersionOut]
    cursor: str | None


class ExceptionOut(TypedDict):
    """An exception in author code. `file`, `line` and `function` are the place in the author's own code, if it is known."""

    type: str
    message: str
    file: NotRequired[str]
    line: NotRequired[int]
    function: NotRequired[str]
    traceback: str


class OutcomeOut(TypedDict):
    """How a run ended. The response to a webhook has only the status."""

    status: str
    outputs: NotRequired[JSON]
    error: NotRequired[dict[str, Any] | None]


class StartedOut(TypedDict):
    """`version` is the version that the run started with and keeps. `number` counts the runs of a workflow whose document is
    `numbered`. `replay` is true if an earlier start with the same idempotency key is returned. `key` is the key of the run in its
    workflow, and `joined` is true if the run was live already and has the key of this start. `outcome` is null until the run
    ends, and if the caller does not wait for it. `pauses` is what the run waits for, if the caller waited until then."""

    run_id: str
    workflow: str
    version: int
    number: int | None
    key: str | None
    replay: bool
    joined: bool
    outcome: OutcomeOut | None
    pauses: list[PauseOut]
    links: RunLinks


class PauseOut(TypedDict):
    """One thing that a run waits for. `resume` is the signed link that answers it; null if no answer ends it (a timer, a message,
    a child run), and without `approve`."""

    pause: str
    node: str
    reason: str
    exits: list[str]
    details: dict[str, Any]
    since: str
    deadline: str | None
    resume_at: str | None
    resume: str | None


class LimitOut(TypedDict):
    """A limit per key that attempts of the run wait for: its place in the document, the key (null without `by`), how many
    instances wait and since when, the next instant that a rate has reserved for the run, and how many runs are before it in
    line for slots, if that is known."""

    of: str
    key: str | None
    instances: int
    since: str
    until: str | None
    ahead: int | None


class HeldOut(TypedDict):
    """Who holds the run, why, and since when nothing new starts."""

    by: str | None
    reason: str | None
    at: str


DraftOfRunOut = TypedDict(
    "DraftOfRunOut", {
        "epoch": int, "seq": int, "by": str, "pins": list[str], "stop_after": str | None, "of": str | None, "from": str | None,
    },
)  # fmt: skip
DraftOfRunOut.__doc__ = """A test run is of the draft as it was after item `seq`. `pins` are the nodes whose output was taken from
the draft, by path; with `of` and `from`, the nodes that do not come after `from` have their outputs from that run."""


class ParentOut(TypedDict):
    """The run, and its instance of the kind `workflow`, that started a child run."""

    run: str
    instance: str


# What a rerun repeats: the run, where it begins (`failed`, a node or an instance; null: at the start), who asked for it and why.
RerunOut = TypedDict(
    "RerunOut", {"of": str, "from": str | None, "by": str | None, "reason": str | None, "items": str | list[int] | None}
)


class RunFacts(TypedDict):
    """What a run is in a list and alone; `replies.run_facts` reads it from the header."""

    id: str
    workflow: str
    version: int | None
    number: int | None
    key: str | None
    hash: str
    status: str
    waiting: list[str]
    summary: str
    keywords: list[str]
    tags: list[str]
    draft: DraftOfRunOut | None
    created_at: str
    duration_ms: int
    links: RunLinks


class LeftOut(TypedDict, total=False):
    pauses_left_out: int
    unread_left_out: int


class RunOut(RunFacts, LeftOut):
    """`version` is the version that the run started with, even if a newer one was published. `number` counts the runs of a
    workflow whose document is `numbered`. `waiting` is what the run waits for (held, answer, time, retry, child, limit, message,
    start); `summary` is the same as text: `waiting for an answer`, or `completed, 4 failed` if nodes failed. `held` is null
    unless an operator holds the run; a held run is `running` until its running nodes end. `keywords` are those that the run was
    started with; `tags` has them too, and `partial_success`. `non_entries` are nodes at which an admin started the run although
    they are not entries. `exception` is the cause of `error` if author code raised it. `draft` is null but for test runs, whose
    version has no number; `parent` is null but for child runs, and `rerun` but for reruns. `duration_ms` is that of the list of
    runs. A value that is too large for the response is replaced by `{"large_value": {"size", "preview", "hash", "url"}}`.
    `pauses_left_out` counts pauses that did not fit. `key` is the key of the run in its workflow, `messages` are the names that
    it may receive, and `unread` the first 100 messages that no node has taken; `unread_left_out` counts the others."""

    inputs: JSON
    outputs: JSON
    variables: dict[str, Any]
    error: dict[str, Any] | None
    exception: ExceptionOut | None
    failures: int
    non_entries: list[str]
    parent: ParentOut | None
    rerun: RerunOut | None
    steps: int
    usage: dict[str, int]
    sequence: int
    held: HeldOut | None
    limits: list[LimitOut]
    pauses: list[PauseOut]
    messages: list[str]
    unread: list[UnreadOut]
    started_at: str | None
    ended_at: str | None
    expires_at: str | None


class CallOut(TypedDict):
    """The parameters of one attempt, with references resolved and secrets shown as `***`. `previews` has the beginning of each
    parameter that is too large to be shown."""

    attempt: int
    at: str
    params: dict[str, Any]
    previews: dict[str, str]


class NodeOut(TypedDict):
    """The record of one instance; facts that do not exist are null. `usage` is the sum over all attempts, including failed ones;
    `calls` are the last ten. `fork` is the innermost fork around the instance, and `branch` the number of its branch there, from
    0: of the fork's targets in edge order, or the iteration of a parallel. `path` are the instances from an entry to this one, at
    most the last 100."""

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
    looped: LoopedOut | None
    tested: list[TestedOut]


class NodesOut(TypedDict):
    nodes: list[NodeOut]
    cursor: int | None


class TagOut(TypedDict):
    """One transition of the run, for counting. `event` is the number of its event; `instance` is null for a transition of the run
    itself. A tag always has the same `facts`: node_started {attempt, wave}, node_retried {attempt, cause, delay_ms},
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
    """A value that is too large for the log is truncated in `payload.previews`."""

    eventId: int
    sequence: int
    type: str
    runId: str
    workflowId: str
    timestamp: str
    correlation: CorrelationOut
    payload: dict[str, Any]


class EventsOut(TypedDict):
    """`cursor` continues the listing; `ended` means that no more events will follow."""

    events: list[EventOut]
    cursor: int
    ended: bool


class ScheduleLinks(TypedDict):
    pause: str
    resume: str
    fire: str


class KeyOut(TypedDict):
    """`last_used_at` is accurate to ten minutes; `former_until` is when the secret before the last rotation expires."""

    id: str
    name: str
    roles: list[str]
    created_at: str
    last_used_at: str | None
    former_until: str | None


class KeysOut(TypedDict):
    keys: list[KeyOut]


class NewKeyOut(KeyOut):
    """`secret` is returned only once."""

    secret: str


class CancelOut(TypedDict):
    run_id: str
    status: str
    links: RunLinks


class HoldOut(TypedDict):
    """`status` is `holding` or `releasing` (former names: `pausing`, `unpausing`). The change takes effect in about a second."""

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
    """What a signed link shows: the question, never the run. `asked_by` is who asks, null where the approval does not say it."""

    workflow: str
    label: str
    message: str
    details: list[DetailOut]
    asked_by: str | None
    fields: dict[str, Any]
    exits: list[str]
    deadline: str | None
    decided: DecisionOut | None
