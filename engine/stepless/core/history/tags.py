"""Derives tags from events: one row per transition of an instance, with a fixed set of facts
(docs/understand/semantics.md#events). Tags are for counting: how often a node was retried, how long it took, what it cost. (The
words that a run is found by are its *keywords*.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from stepless.core.events import Event, EventType
from stepless.core.state import Instance
from stepless.model.json import JSON

PARTIAL_SUCCESS: Final = "partial_success"


class Record(Protocol):
    """The facts of an instance that a trace has collected so far."""

    attempts: int
    wave: int
    started_ms: int | None
    usage: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Tag:
    """One transition. `instance` is None for the run's own. `sequence` is the number of its event, and `at_ms` its instant.

    node_started {attempt, wave} · node_retried {attempt, cause, delay_ms} · moderation_flagged {phase, error_code,
    error_message} · contract_violated {phase, errors} · timed_out {timeout_ms} · node_failed {error_code, error_message} ·
    node_completed {duration_ms, input_tokens, output_tokens} · node_cancelled {} · partial_success {failures}
    """

    tag: str
    instance: str | None
    facts: Mapping[str, JSON]
    sequence: int = field(default=0, compare=False)
    at_ms: int = field(default=0, compare=False)


def tag_of_node(event: Event, instance: Instance, record: Record) -> Tag | None:
    """Returns the tag of an event about an instance, whose `record` is up to date; None for an event that is not a transition."""
    known = _TAGS.get(event.type)
    if known is None:
        return None
    name, facts = known
    return Tag(name, event.instance, facts(event, instance, record), event.sequence, event.at_ms)


def tag_of_run(event: Event) -> Tag | None:
    """Returns the tag of one of the run's own events."""
    failures = event.data.get("failures") if event.type is EventType.RUN_COMPLETED else None
    return Tag(PARTIAL_SUCCESS, None, {"failures": failures}, event.sequence, event.at_ms) if failures else None


Facts = Mapping[str, Any]


def _started(event: Event, instance: Instance, record: Record) -> Facts:
    return {"attempt": record.attempts, "wave": record.wave}


def _retried(event: Event, instance: Instance, record: Record) -> Facts:
    return {name: event.data.get(name) for name in ("attempt", "cause", "delay_ms")}


def _flagged(event: Event, instance: Instance, record: Record) -> Facts:
    data = event.data
    return {"phase": data.get("phase"), "error_code": data.get("code"), "error_message": data.get("message")}


def _violated(event: Event, instance: Instance, record: Record) -> Facts:
    return {"phase": event.data["phase"], "errors": event.data["violations"]}


def _timed_out(event: Event, instance: Instance, record: Record) -> Facts:
    return {"timeout_ms": instance.node.timeout_ms}


def _failed(event: Event, instance: Instance, record: Record) -> Facts:
    error = event.data["error"]
    return {"error_code": error["code"], "error_message": error["message"]}


def _completed(event: Event, instance: Instance, record: Record) -> Facts:
    began_ms = event.at_ms if record.started_ms is None else record.started_ms
    tokens = {name: record.usage.get(name, 0) for name in ("input_tokens", "output_tokens")}
    return {"duration_ms": event.at_ms - began_ms, **tokens}


def _cancelled(event: Event, instance: Instance, record: Record) -> Facts:
    return {}


_TAGS: Final[Mapping[EventType, tuple[str, Callable[[Event, Instance, Record], Facts]]]] = {
    EventType.NODE_STARTED: ("node_started", _started),
    EventType.NODE_RETRIED: ("node_retried", _retried),
    EventType.MODERATION_FLAGGED: ("moderation_flagged", _flagged),
    EventType.CONTRACT_VIOLATED: ("contract_violated", _violated),
    EventType.NODE_TIMED_OUT: ("timed_out", _timed_out),
    EventType.NODE_FAILED: ("node_failed", _failed),
    EventType.NODE_BLOCKED: ("node_failed", _failed),
    EventType.NODE_INVALIDATED: ("node_failed", _failed),
    EventType.NODE_COMPLETED: ("node_completed", _completed),
    EventType.NODE_CANCELLED: ("node_cancelled", _cancelled),
}
