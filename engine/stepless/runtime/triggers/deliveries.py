"""Starts runs from what other systems deliver: events, and the firings of a calendar.

The start by an event has the idempotency key (node, event id), so that a repeated delivery starts no second run.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from hashlib import sha256

from stepless.errors import SteplessError
from stepless.model.graph import Node
from stepless.model.json import JSON
from stepless.model.triggers.event_pattern import matches
from stepless.ports import Version
from stepless.runtime.triggers.message_sources import deliver_event
from stepless.runtime.triggers.payloads import events_of, firing_of
from stepless.runtime.triggers.schedule_firing import entries, fire_delivered
from stepless.runtime.verbs.starts.starting import Started, start
from stepless.runtime.world import World

_log = logging.getLogger(__name__)


def arrive(world: World, payload: Mapping[str, JSON]) -> Sequence[Started]:
    """Starts the runs of a payload: the firing of a calendar, as `fire_delivered` does, or any payload that `deliver` accepts.
    Raises as `deliver` does."""
    firing = firing_of(payload)
    if firing is None:
        return deliver(world, payload)
    run = fire_delivered(world, firing)
    return [run] if run is not None else []


def deliver(world: World, payload: Mapping[str, JSON]) -> Sequence[Started]:
    """Starts a run of every workflow with an `event` entry whose pattern matches an event of the payload, and delivers the event
    as a message where a source of one matches. A repeated event starts no new run and delivers nothing twice.

    The payload is an event of EventBridge, or a batch of records of S3 or SQS, which are converted to that form. Raises
    `InvalidRequest` (invalid_event) for any other payload. If starts fail, raises the first error of `start` after all other runs
    were started. To deliver the payload again starts the missing ones.
    """
    events = events_of(payload)
    started: list[Started] = []
    faults: list[SteplessError] = []
    for version, node in entries(world, "event"):
        for event in events:
            if not matches(node.config.literals["pattern"], event):
                continue
            try:
                started.append(_start_by_event(world, version, node, event))
            except SteplessError as error:
                if error.code == "run_erased":  # it was started, which is all that a repeated event asks for
                    continue
                _log.warning("the event %s did not start %s: %s", event["id"], version.workflow_id, error)
                faults.append(error)
    for event in events:
        faults += deliver_event(world, event)
    if faults:
        raise faults[0]
    return started


def _start_by_event(
    world: World, version: Version, node: Node, event: Mapping[str, JSON]
) -> Started:
    meta = {"trigger": {"kind": "event", "node": node.id, "source": event["source"], "event": event["id"]}}
    key = f"event:{node.id}:{sha256(str(event['id']).encode('utf-8', 'surrogatepass')).hexdigest()}"
    return start(
        world, version.workflow_id, dict(event), key=key, entry=[node.id], anywhere=True, meta=meta, same=event["id"]
    )
