"""Defines the events of a run and their types. The list of types is closed, and the log consists of events only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple


class EventType(StrEnum):
    RUN_STARTED = "run.started"
    RUN_STATUS_CHANGED = "run.status.changed"
    RUN_COMPLETED = "run.completed"
    RUN_FAILED = "run.failed"
    RUN_CANCELLED = "run.cancelled"
    RUN_TIMED_OUT = "run.timed_out"
    RUN_RECOVERED = "run.recovered"
    RUN_CONTINUED = "run.continued"
    MESSAGE_RECEIVED = "message.received"
    HEARTBEAT = "heartbeat"
    NODE_QUEUED = "node.queued"
    NODE_STARTED = "node.started"
    NODE_WAITING = "node.waiting"
    NODE_RESUMED = "node.resumed"
    NODE_DELTA = "node.stream.delta"
    NODE_LOG = "node.log"
    NODE_RETRIED = "node.retried"
    NODE_COMPLETED = "node.completed"
    NODE_FAILED = "node.failed"
    NODE_CANCELLED = "node.cancelled"
    NODE_SKIPPED = "node.skipped"
    NODE_TIMED_OUT = "node.timed_out"
    NODE_BLOCKED = "node.blocked"
    NODE_INVALIDATED = "node.invalidated"
    LOOP_STARTED = "loop.started"
    LOOP_NEXT = "loop.next"
    LOOP_COMPLETED = "loop.completed"
    MODERATION_FLAGGED = "moderation.flagged"
    CONTRACT_VIOLATED = "contract.violated"


class Row(NamedTuple):
    """What readers of a log make of a type. `code` stands for it in a stored log. `status` is that of the instance after it, or
    of the run where the event is the run's own; empty where it does not follow from the type. `metric` counts it, `reported`
    types are lines of the operator's log, `announced` ones are sent to exporters."""

    code: str
    status: str = ""
    metric: str = ""
    reported: bool = False
    announced: bool = False


# One row for each type. tests/contract/test_event_types.py names the readers that need more than a row, and what they leave out.
ROWS: Final[Mapping[EventType, Row]] = {
    EventType.RUN_STARTED: Row("R", "running", "RunsStarted", announced=True),
    EventType.RUN_STATUS_CHANGED: Row("S"),
    EventType.RUN_COMPLETED: Row("C", "completed", "RunsCompleted", reported=True, announced=True),
    EventType.RUN_FAILED: Row("F", "failed", "RunsFailed", reported=True, announced=True),
    EventType.RUN_CANCELLED: Row("X", "cancelled", "RunsCancelled", reported=True, announced=True),
    EventType.RUN_TIMED_OUT: Row("T", "timed_out", "RunsTimedOut", reported=True, announced=True),
    EventType.RUN_RECOVERED: Row("V", "", "RunsRecovered", reported=True),
    EventType.RUN_CONTINUED: Row("N", reported=True),
    EventType.MESSAGE_RECEIVED: Row("M", "", "MessagesReceived", announced=True),
    EventType.HEARTBEAT: Row("H"),
    EventType.NODE_QUEUED: Row("q", "queued"),
    EventType.NODE_STARTED: Row("s", "running"),
    EventType.NODE_WAITING: Row("w", "waiting", announced=True),
    EventType.NODE_RESUMED: Row("a", "running"),
    EventType.NODE_DELTA: Row("d"),
    EventType.NODE_LOG: Row("g"),
    EventType.NODE_RETRIED: Row("r", "waiting", reported=True),
    EventType.NODE_COMPLETED: Row("c", "completed"),
    EventType.NODE_FAILED: Row("f", "failed", reported=True),
    EventType.NODE_CANCELLED: Row("x", "cancelled"),
    EventType.NODE_SKIPPED: Row("k", "skipped"),
    EventType.NODE_TIMED_OUT: Row("t", "failed", reported=True),
    EventType.NODE_BLOCKED: Row("b", "failed", reported=True),
    EventType.NODE_INVALIDATED: Row("i", "failed", reported=True),
    EventType.LOOP_STARTED: Row("l"),
    EventType.LOOP_NEXT: Row("n"),
    EventType.LOOP_COMPLETED: Row("e"),
    EventType.MODERATION_FLAGGED: Row("m"),
    EventType.CONTRACT_VIOLATED: Row("v"),
}


def statuses_of(subject: str) -> Mapping[EventType, str]:
    """Returns the statuses that follow from types of `run` or of `node`."""
    return {type: row.status for type, row in ROWS.items() if row.status and type.startswith(f"{subject}.")}


RUN_ENDS = frozenset(type for type, status in statuses_of("run").items() if status != "running")
NODE_FAILURES = frozenset(type for type, status in statuses_of("node").items() if status == "failed")
NODE_ENDS = NODE_FAILURES | {EventType.NODE_COMPLETED, EventType.NODE_CANCELLED, EventType.NODE_SKIPPED}


@dataclass(slots=True)
class Event:
    """One event. Immutable after its creation.

    `sequence` starts at 1 and rises by one without a gap; `at_ms` is the instant of the decision; `instance` is the node
    instance that the event is about, or "" for the run; `parent` is the sequence number of the event that caused it, 0 for none.
    `data` is the payload without the values of these fields; docs/understand/semantics.md#events lists its keys.
    """

    sequence: int
    type: EventType
    at_ms: int
    instance: str
    parent: int
    data: Mapping[str, Any]
