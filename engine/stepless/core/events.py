"""Defines the events of a run and their types. The list of types is closed, and the log consists of events only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class EventType(StrEnum):
    RUN_STARTED = "run.started"
    RUN_STATUS_CHANGED = "run.status.changed"
    RUN_COMPLETED = "run.completed"
    RUN_FAILED = "run.failed"
    RUN_CANCELLED = "run.cancelled"
    RUN_TIMED_OUT = "run.timed_out"
    RUN_RECOVERED = "run.recovered"
    RUN_CONTINUED = "run.continued"
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


RUN_ENDS = frozenset({EventType.RUN_COMPLETED, EventType.RUN_FAILED, EventType.RUN_CANCELLED, EventType.RUN_TIMED_OUT})
NODE_FAILURES = frozenset({EventType.NODE_FAILED, EventType.NODE_TIMED_OUT, EventType.NODE_BLOCKED, EventType.NODE_INVALIDATED})
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
