"""Declares the bodies of responses about open questions, failures in groups, and the health of a workflow."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict

from stepless.api.responses.details import DetailOut


class ApprovalOut(TypedDict):
    """An open question. `name` is that of the workflow, `asked_by` who asks, where the approval says it. `fields` are the JSON
    Schemas of the fields of its answer, `exits` the decisions that it takes, `approvers` those whom it
    was sent to. `resume` is the signed link that answers it; `run` is the path of its run."""

    run_id: str
    workflow: str
    name: str
    version: int | None
    pause: str
    node: str
    message: str
    details: list[DetailOut]
    asked_by: str | None
    fields: dict[str, Any]
    exits: list[str]
    approvers: list[str]
    since: str
    deadline: str | None
    resume: str | None
    run: str


class ApprovalsOut(TypedDict):
    """The nearest deadline first, then those without one, the newest first. `count` is how many questions there are, listed or
    not; with `at_least`, there may be more. `cursor` continues with those that come after, null if there are none. `left_out` did
    not fit into the response: the cursor continues with them. `deciding_as` is the person whom the links record as the decider;
    null if the answer says who. `unreadable` are runs whose log cannot be read."""

    approvals: list[ApprovalOut]
    count: int
    at_least: bool
    left_out: int
    cursor: str | None
    deciding_as: str | None
    unreadable: list[str]


class MadeDecisionOut(TypedDict):
    """A decision by a link. `decision` is null if the question had only one. `workflow` is null once the run is removed."""

    run_id: str
    workflow: str | None
    pause: str
    decision: str | None
    by: str | None
    comment: str | None
    at: str


class DecisionsOut(TypedDict):
    decisions: list[MadeDecisionOut]
    cursor: str | None


class ErrorGroupOut(TypedDict):
    """Failures of one workflow, node, code and message, without what differs from run to run: `message`. `example` is the message
    of the last one. `status` is that of all their runs, `failed` or `timed_out`. `count` is how many; `runs` are their ids, the
    last failure first. `bars` counts them in equal parts of the time between `since` and `until`."""

    fingerprint: str
    workflow: str
    status: str
    node: str | None
    code: str
    message: str
    example: str
    count: int
    runs: list[str]
    versions: list[int]
    first_at: str
    last_at: str
    bars: list[int]


class ErrorsOut(TypedDict):
    """The last failure first. `count` is the number of failures in all groups, of which there are `group_count`. With `at_least`,
    there may be more: the newest 2,000 failed runs were searched. With `unsure`, there may be fewer: not every rerun could be
    looked up."""

    errors: list[ErrorGroupOut]
    group_count: int
    count: int
    at_least: bool
    unsure: bool
    since: str
    until: str


class StatsOut(TypedDict):
    """The runs that were created since `since`, by status. `failure_rate` is that of the runs that completed, failed or timed
    out, and the durations are theirs; null without such runs. `usd` is what the runs were billed for on AWS, null where
    requests are not counted. With `at_least`, there are more runs in the window: the newest 2,000 were read (100 of each workflow
    in `GET /stats`), and `since` is when the oldest of them was created. `bars` counts the runs in 24 equal parts of the time
    between `since` and `until`, `failed_bars` those of them that failed or timed out."""

    workflow: str
    since: str
    until: str
    runs: int
    at_least: bool
    statuses: dict[str, int]
    failure_rate: float | None
    p50_ms: int | None
    p95_ms: int | None
    usd: float | None
    bars: list[int]
    failed_bars: list[int]
    next_at: str | None


class WorkflowStatsOut(StatsOut):
    """`version` is the newest one. `starts` are the kinds of its entries. `next_at` is when the first of its schedules fires;
    `paused_schedules` counts those that are paused."""

    name: str
    version: int
    published_at: str
    starts: list[str]
    schedules: int
    paused_schedules: int


class AllStatsOut(TypedDict):
    workflows: list[WorkflowStatsOut]
    cursor: str | None
