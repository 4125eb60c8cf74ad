"""Starts runs from schedules and from events of other systems.

Each start has an idempotency key, so that a repeated firing or delivery starts no second run: (node, instant), (node, event id).
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
    """Every entry of this kind in the newest versions. Only workflows that ever had such an entry are read."""
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
    """The first instant after `after_ms` at which a schedule fires. A rate fires at whole multiples since 1970 UTC."""
    literals = node.config.literals
    if literals.get("rate"):
        rate_ms = parse_duration_ms(literals["rate"])
        return (after_ms // rate_ms + 1) * rate_ms
    return parse_cron(literals["cron"]).next_ms(after_ms, literals.get("timezone") or "UTC")


def start_scheduled(world: World, firing: Firing) -> Started | None:
    """Starts the run of one instant; a repeated firing returns the same run. Returns None if the start is refused, for example by
    a rate limit: this instant is then skipped. Raises `StoreUnavailable`."""
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

    The next instant of each schedule is kept in the store. If instants pass while no process is running, the first one fires
    after the next start, and the others are skipped.
    """

    def __init__(self, world: World) -> None:
        self._world = world

    def fire(self, now_ms: int) -> Sequence[Started]:
        """Starts the runs that are due. A schedule that cannot start its run (rate limit, store unavailable) is logged and does
        not stop the others."""
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
        """Stores the next instant. If the process dies before, the same instant fires again, which starts no new run."""
        if kept is not None:
            self._world.store.release_claim(key, kept)
        self._world.store.claim(key, json.dumps({"rhythm": rhythm, "at": at_ms}).encode(), now_ms)


# -- events -----------------------------------------------------------------------------------------------------------


def arrive(world: World, payload: Mapping[str, JSON]) -> Sequence[Started]:
    """Starts the runs of a payload: the firing of a calendar, if the newest version still has that schedule, or any payload that
    `deliver` accepts. Raises as `deliver` does."""
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
    """Starts a run of every workflow with an `event` entry whose pattern matches an event of the payload. A repeated event starts
    no new run.

    The payload is an event of EventBridge, or a batch of records of S3 or SQS, which are converted to that form. Raises
    `InvalidRequest` (invalid_event) for any other payload. If starts fail, raises the first error of `start` after all other runs
    were started. To deliver the payload again starts the missing ones.
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
                if error.code == "run_erased":  # it was started, which is all that a repeated event asks for
                    continue
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
