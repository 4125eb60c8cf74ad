"""Declares the bodies of responses about many runs: lists, counts, bulk changes."""

from __future__ import annotations

from typing import Any, NotRequired

from typing_extensions import TypedDict

from stepless.api.responses.general import DamageOut, RunFacts


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


class CountOut(TypedDict):
    """`statuses` counts the runs by their status. `cursor` counts on, null if all were counted."""

    count: int
    statuses: dict[str, int]
    cursor: str | None


class RunHeadOut(RunFacts):
    """A run in a list. `status` is `running` while a runner serves the run, else the status when the last session ended. It is
    `damaged_log` or `newer_log` if the log cannot be read, and `damaged` if the header cannot, with `damage`; such a run stays
    unchanged until it can. `waiting` is what the run waited for then: held, answer, time, retry, child, limit, message, start.
    `summary` is both as text. `version` is null for a run of a release that did not store it. `duration_ms` is the time from its
    creation to its end, or to now, with all waits. `failed_node` is the node whose failure made the run fail, and `error` its
    failure. `pauses` are the first five open questions. `usd` is what the run was billed for on AWS, null where requests are not
    counted. `draft` is null but for test runs. `tags` is the former name of `keywords`."""

    failed_node: str | None
    error: NotedErrorOut | None
    pauses: list[NotedPauseOut]
    usd: float | None
    updated_at: str
    damage: NotRequired[DamageOut]


class RunsOut(TypedDict):
    runs: list[RunHeadOut]
    cursor: str | None


class RefusalOut(TypedDict):
    run_id: str
    code: str
    message: str


class BulkOut(TypedDict):
    """`matched` is the number of matching runs; `done` are the changed runs, or the new runs of a rerun, each with the run that
    it repeats in `changed`; `cursor` continues with older runs, null if there are none. `left_out` counts those that were rerun
    already: a rerun is in progress, or has ended and was not cancelled. Of a dry run, `applies` is how many of the matching runs
    the action would change, and `statuses` counts the matching ones by status; with `unsure`, more of them may be left out; with
    `until` in the filter, a later request leaves runs alone that begin after the dry run."""

    action: str
    matched: int
    done: list[str]
    changed: list[str]
    left_out: int
    applies: NotRequired[int]
    unsure: NotRequired[bool]
    until: NotRequired[str]
    statuses: NotRequired[dict[str, int]]
    refused: list[RefusalOut]
    cursor: str | None


class RunDocumentOut(TypedDict):
    """The document that a run runs. `version` is null for a test run."""

    run_id: str
    version: int | None
    hash: str
    document: dict[str, Any]
