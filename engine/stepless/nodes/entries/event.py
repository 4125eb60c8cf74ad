"""Defines the kind `event`, which starts a run for an event on EventBridge."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from stepless.model.findings import Finding
from stepless.model.kind import Kind, Nature, Outcome, Part, Work
from stepless.model.triggers.event_pattern import faults
from stepless.nodes.params import Params


class EventParams(Params):
    """The events that start a run. `model.triggers.event_pattern` says which parts of EventBridge's patterns are supported."""

    pattern: dict[str, Any] = Field(min_length=1)
    """An EventBridge event pattern."""


def check(params: EventParams, path: str) -> list[Finding]:
    return [
        Finding("invalid_pattern", f"{path}.pattern.{where}".rstrip("."), fault, "See the syntax of EventBridge event patterns.")
        for where, fault in faults(params.pattern)
    ]


def evaluate(work: Work) -> Outcome:
    return Outcome(work.run_inputs)


KIND = Kind(
    "event", Nature.ENTRY, EventParams, "starts a run for every event that matches a pattern; returns the event",
    parts={"pattern": Part.LITERAL}, evaluate=evaluate, check=check,
    icon="M8.8 1.8 3.5 9h4l-.7 5.2L12.5 7h-4l.3-5.2Z",
)
