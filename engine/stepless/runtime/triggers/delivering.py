"""Triggers beside webhooks: schedules that the clock starts, and events that come from elsewhere.

Either starts a run under a key of its own, so that no firing and no delivery starts two: (node, instant), (node, event id).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

from stepless.core.decision import iso
from stepless.errors import AuthorError, CallerError, NotFound, SteplessError
from stepless.limits import MAX_PAGE_ITEMS
from stepless.model.cron import parse_cron
from stepless.model.durations import parse_duration_ms
from stepless.model.event_pattern import matches
from stepless.model.graph import Node
from stepless.model.json import JSON
from stepless.ports import Version
from stepless.runtime.triggers.payloads import Firing, events_of, firing_of
from stepless.runtime.verbs.starting import Started, latest, start
from stepless.runtime.world import World

_log = logging.getLogger(__name__)


def _entries(world: World, kind: str) -> Iterator[tuple[Version, Node]]:
    """Every entry of this kind in the newest versions. Workflows that never had one cost nothing."""
    cursor: str | None = None
    while True:
        page = world.store.list_entries(kind, limit=MAX_PAGE_ITEMS, cursor=cursor)
        for version in page.items:
            graph = world.versions.graph(version.workflow_id, version.hash)
            yield from ((version, node) for node in graph.root.nodes if node.kind.name == kind and node.enabled)
        cursor = page.cursor
        if cursor is None:
            return


# -- schedules --------------------------------------------------------------------------------------------------------


def next_firing_ms(node: Node, after_ms: int) -> int | None:
    """The first instant after `after_ms` at which a schedule fires. A rate fires at its whole multiples since 1970 UTC."""
    literals = node.config.literals
    if literals.get("rate"):
        rate_ms = parse_duration_ms(literals["rate"])
        return (after_ms // rate_ms + 1) * rate_ms
    return parse_cron(literals["cron"]).next_ms(after_ms, literals.get("timezone") or "UTC")


def start_scheduled(world: World, firing: Firing) -> Started | None:
    """The run of one instant, however often it fires. None when it is refused, by a rate limit for one: this instant is over
    then. Raises `StoreUnavailable`."""
    at = iso(firing.at_ms)
    meta = {"trigger": {"kind": "schedule", "node": firing.node, "at": at}}
    inputs, key = {"scheduled_at": at, "node": firing.node}, f"schedule:{firing.node}:{firing.at_ms}"
    try:
        return start(world, firing.workflow_id, inputs, key=key, entry=[firing.node], anywhere=True, meta=meta)
    except (AuthorError, CallerError) as error:
        _log.warning("the schedule %s of %s was refused: %s", firing.node, firing.workflow_id, error)
        return None


class Schedules:
    """Fires the schedules of one store's workflows, for a process that serves all of them.

    The next instant of each is kept in the store. One that passed while nobody served fires once when somebody does again.
    """

    def __init__(self, world: World) -> None:
        self._world = world

    def fire(self, now_ms: int) -> Sequence[Started]:
        """Starts what is due. A schedule that cannot start now (a rate limit, a store out of reach) is told and does not stop
        the others."""
        started = []
        for version, node in _entries(self._world, "schedule"):
            try:
                run = self._fire(version, node, now_ms)
            except SteplessError as error:
                _log.warning("the schedule %s of %s did not start: %s", node.id, version.workflow_id, error)
            else:
                started += [run] if run is not None else []
        return started

    def _fire(self, version: Version, node: Node, now_ms: int) -> Started | None:
        key = f"schedule:{version.workflow_id}:{node.id}"
        rhythm = json.dumps([node.config.literals.get(name) for name in ("cron", "rate", "timezone")])
        kept = self._world.store.get_claim(key, now_ms)
        known = json.loads(kept) if kept is not None else None
        if known is None or known["rhythm"] != rhythm:  # new, or changed
            self._keep(key, kept, rhythm, next_firing_ms(node, now_ms), now_ms)
            return None
        at_ms = known["at"]
        if at_ms is None or at_ms > now_ms:
            return None
        run = start_scheduled(self._world, Firing(version.workflow_id, node.id, at_ms))
        self._keep(key, kept, rhythm, next_firing_ms(node, now_ms), now_ms)
        return run

    def _keep(self, key: str, kept: bytes | None, rhythm: str, at_ms: int | None, now_ms: int) -> None:
        """Moves on. Should this process die in the middle, the same instant is fired again, which starts nothing new."""
        if kept is not None:
            self._world.store.release_claim(key, kept)
        self._world.store.claim(key, json.dumps({"rhythm": rhythm, "at": at_ms}).encode(), now_ms)


# -- events -----------------------------------------------------------------------------------------------------------


def arrive(world: World, payload: Mapping[str, JSON]) -> Sequence[Started]:
    """Starts what a payload is for: the firing of a calendar, unless the newest version has no such schedule any more, or
    anything that `deliver` takes. Raises as that does."""
    firing = firing_of(payload)
    if firing is None:
        return deliver(world, payload)
    run = start_scheduled(world, firing) if _still_scheduled(world, firing) else None
    return [run] if run is not None else []


def _still_scheduled(world: World, firing: Firing) -> bool:
    try:
        graph = world.versions.graph(firing.workflow_id, latest(world, firing.workflow_id).hash)
    except NotFound:
        return False
    return any(node.id == firing.node and node.kind.name == "schedule" and node.enabled for node in graph.root.nodes)


def deliver(world: World, payload: Mapping[str, JSON]) -> Sequence[Started]:
    """Starts a run of every workflow with an `event` entry whose pattern an event of the payload fits. The same event again
    starts nothing new.

    The payload is an event of EventBridge, or a batch of records of S3 or SQS, each of which is put into that form.
    Raises `InvalidRequest` (invalid_event) for anything else, and as `start` does: the first of such errors, after everything
    that could be started was. To deliver the payload again then starts the rest.
    """
    events = events_of(payload)
    started: list[Started] = []
    faults: list[SteplessError] = []
    for version, node in _entries(world, "event"):
        for event in events:
            if not matches(node.config.literals["pattern"], event):
                continue
            try:
                started.append(_start_by_event(world, version, node, event))
            except SteplessError as error:
                _log.warning("the event %s did not start %s: %s", event["id"], version.workflow_id, error)
                faults.append(error)
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
