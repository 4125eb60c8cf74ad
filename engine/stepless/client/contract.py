"""Declares the responses of the API that the client returns. Generated from contract/openapi.json: `make contract`.

At run time they are plain dictionaries: a field that a later server adds is there, and nothing is checked.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class RunFilters(TypedDict, total=False):
    """The filters of `GET /runs`: a run must match all that are given."""

    workflow: str | None
    status: str | None
    waiting: Literal["held", "answer", "time", "retry", "child", "limit", "message", "start"] | None
    since: str | None
    until: str | None
    key: str | None
    search: str | None
    error: str | None
    min_duration_ms: int | None
    max_duration_ms: int | None
    keyword: list[str]


class CorrelationOut(TypedDict):
    traceId: str
    parentEventId: int | None
    wave: int
    phase: str


class DamageOut(TypedDict):
    """Damage to the store: the place, what is wrong, and what to do."""

    place: str
    why: str
    mend: str


class DecisionOut(TypedDict):
    """A decision, the first and only one of its pause."""

    decision: str
    by: str | None
    at: str
    answer: Any


class DeliveredOut(TypedDict):
    """`delivered` are the runs that have the message: in their log, or among their unread messages if they end first.
    `started` is the run that was started for it. `kept_until` says until when runs that begin to answer to the key
    receive it, too."""

    id: str
    delivered: list[str]
    kept_until: str | None
    started: str | None


DraftOfRunOut = TypedDict("DraftOfRunOut", {
    "epoch": "int",
    "seq": "int",
    "by": "str",
    "pins": "list[str]",
    "stop_after": "str | None",
    "of": "str | None",
    "from": "str | None",
})
DraftOfRunOut.__doc__ = """A test run is of the draft as it was after item `seq`. `pins` are the nodes whose output was
taken from the draft, by path; with `of` and `from`, the nodes that do not come after `from` have their outputs from
that run."""


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


class ExceptionOut(TypedDict):
    """An exception in author code. `file`, `line` and `function` are the place in the author's own code, if it is
    known."""

    type: str
    message: str
    file: NotRequired[str]
    line: NotRequired[int]
    function: NotRequired[str]
    traceback: str


class FindingOut(TypedDict):
    code: str
    path: str
    message: str
    mend: str
    node: str | None
    edge: str | None
    severity: str
    key: NotRequired[str | None]


class HeldOut(TypedDict):
    """Who holds the run, why, and since when nothing new starts."""

    by: str | None
    reason: str | None
    at: str


class LimitOut(TypedDict):
    """A limit per key that attempts of the run wait for: its place in the document, the key (null without `by`), how
    many instances wait and since when, the next instant that a rate has reserved for the run, and how many runs are
    before it in line for slots, if that is known."""

    of: str
    key: str | None
    instances: int
    since: str
    until: str | None
    ahead: int | None


class NotedErrorOut(TypedDict):
    """Why a run failed; a long message is cut."""

    code: str
    message: str
    node: str | None


class NotedPauseOut(TypedDict):
    """An open question of a run, as its header keeps it; a long message is cut."""

    pause: str
    node: str
    reason: str
    message: str
    since: str
    deadline: str | None


class OutcomeOut(TypedDict):
    """How a run ended. The response to a webhook has only the status."""

    status: str
    outputs: NotRequired[Any]
    error: NotRequired[dict[str, Any] | None]


class ParentOut(TypedDict):
    """The run, and its instance of the kind `workflow`, that started a child run."""

    run: str
    instance: str


class PauseOut(TypedDict):
    """One thing that a run waits for. `resume` is the signed link that answers it; null if no answer ends it (a timer,
    a message, a child run), and without `approve`."""

    pause: str
    node: str
    reason: str
    exits: list[str]
    details: dict[str, Any]
    since: str
    deadline: str | None
    resume_at: str | None
    resume: str | None


class Problem(TypedDict):
    """RFC 9457. `code` is stable; `place` says where the error is, `mend` how to fix it; `report` is the id of a log
    entry. Of `unpublished_effect`, `violations` are the paths of nodes, and `reasons` say of each why it is
    refused."""

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


RerunOut = TypedDict("RerunOut", {
    "of": "str",
    "from": "str | None",
    "by": "str | None",
    "reason": "str | None",
    "items": "str | list[int] | None",
})


class RunHeadOut(TypedDict):
    """A run in a list. `status` is `running` while a runner serves the run, else the status when the last session
    ended. It is `damaged_log` or `newer_log` if the log cannot be read, and `damaged` if the header cannot, with
    `damage`; such a run stays unchanged until it can. `waiting` is what the run waited for then: held, answer,
    time, retry, child, limit, message, start. `summary` is both as text. `version` is null for a run of a release
    that did not store it. `duration_ms` is the time from its creation to its end, or to now, with all waits.
    `failed_node` is the node whose failure made the run fail, and `error` its failure. `pauses` are the first five
    open questions. `usd` is what the run was billed for on AWS, null where requests are not counted. `draft` is
    null but for test runs. `tags` is the former name of `keywords`."""

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
    failed_node: str | None
    error: NotedErrorOut | None
    pauses: list[NotedPauseOut]
    usd: float | None
    updated_at: str
    damage: NotRequired[DamageOut]


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


class RunOut(TypedDict):
    """`version` is the version that the run started with, even if a newer one was published. `number` counts the runs
    of a workflow whose document is `numbered`. `waiting` is what the run waits for (held, answer, time, retry,
    child, limit, message, start); `summary` is the same as text: `waiting for an answer`, or `completed, 4 failed`
    if nodes failed. `held` is null unless an operator holds the run; a held run is `running` until its running
    nodes end. `keywords` are those that the run was started with; `tags` has them too, and `partial_success`.
    `non_entries` are nodes at which an admin started the run although they are not entries. `exception` is the
    cause of `error` if author code raised it. `draft` is null but for test runs, whose version has no number;
    `parent` is null but for child runs, and `rerun` but for reruns. `duration_ms` is that of the list of runs. A
    value that is too large for the response is replaced by `{"large_value": {"size", "preview", "hash", "url"}}`.
    `pauses_left_out` counts pauses that did not fit. `key` is the key of the run in its workflow, `messages` are
    the names that it may receive, and `unread` the first 100 messages that no node has taken; `unread_left_out`
    counts the others."""

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
    pauses_left_out: NotRequired[int]
    unread_left_out: NotRequired[int]
    inputs: Any
    outputs: Any
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


class RunsOut(TypedDict):
    runs: list[RunHeadOut]
    cursor: str | None


class StartedOut(TypedDict):
    """`version` is the version that the run started with and keeps. `number` counts the runs of a workflow whose
    document is `numbered`. `replay` is true if an earlier start with the same idempotency key is returned. `key` is
    the key of the run in its workflow, and `joined` is true if the run was live already and has the key of this
    start. `outcome` is null until the run ends, and if the caller does not wait for it. `pauses` is what the run
    waits for, if the caller waited until then."""

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


class UnreadOut(TypedDict):
    """A message that no node of the run has taken, without its data."""

    id: str
    name: str
    key: str | None
    by: str | None
    at: str
