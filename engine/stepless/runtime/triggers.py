"""Triggers beside webhooks: schedules that the clock starts, and events that come from elsewhere.

Either starts a run under a key of its own, so that no firing and no delivery starts two: (node, instant), (node, event id).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

from stepless.core.decision import iso
from stepless.errors import AuthorError, CallerError, InvalidRequest, SteplessError
from stepless.limits import MAX_PAGE_ITEMS
from stepless.model.cron import parse_cron
from stepless.model.durations import parse_duration_ms
from stepless.model.event_pattern import matches
from stepless.model.graph import Node
from stepless.model.json import JSON
from stepless.nodes import KINDS
from stepless.ports import StoredVersion
from stepless.runtime.starting import Started, start
from stepless.runtime.versions import Versions
from stepless.runtime.world import World

_log = logging.getLogger(__name__)


def _entries(world: World, versions: Versions, kind: str) -> Iterator[tuple[StoredVersion, Node]]:
    """Every entry of this kind in the newest version of every workflow."""
    cursor: str | None = None
    while True:
        page = world.store.list_workflows(limit=MAX_PAGE_ITEMS, cursor=cursor)
        for version in page.items:
            if f'"{kind}"'.encode() in version.document:  # most have none, and compiling takes longer than looking
                graph = versions.graph(version.workflow_id, version.hash)
                yield from ((version, node) for node in graph.root.nodes if node.kind is KINDS[kind] and node.enabled)
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


class Schedules:
    """Fires the schedules of one store's workflows, for a process that serves all of them.

    The next instant of each is kept in the store. One that passed while nobody served fires once when somebody does again.
    """

    def __init__(self, world: World, versions: Versions) -> None:
        self._world = world
        self._versions = versions

    def fire(self, now_ms: int) -> Sequence[Started]:
        """Starts what is due. A schedule that cannot start now (a rate limit, a store out of reach) is told and does not stop
        the others."""
        started = []
        for version, node in _entries(self._world, self._versions, "schedule"):
            try:
                run = self._fire(version, node, now_ms)
            except SteplessError as error:
                _log.warning("the schedule %s of %s did not start: %s", node.id, version.workflow_id, error)
            else:
                started += [run] if run is not None else []
        return started

    def _fire(self, version: StoredVersion, node: Node, now_ms: int) -> Started | None:
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
        inputs = {"scheduled_at": iso(at_ms), "node": node.id}
        meta = {"trigger": {"kind": "schedule", "node": node.id, "at": iso(at_ms)}}
        key_of_start = f"schedule:{node.id}:{at_ms}"
        run = None
        try:
            run = start(self._world, self._versions, version.workflow_id, inputs, key=key_of_start, entry=[node.id], meta=meta)
        except (AuthorError, CallerError) as error:  # refused, by a rate limit for one: this instant is over
            _log.warning("the schedule %s of %s was refused: %s", node.id, version.workflow_id, error)
        self._keep(key, kept, rhythm, next_firing_ms(node, now_ms), now_ms)
        return run

    def _keep(self, key: str, kept: bytes | None, rhythm: str, at_ms: int | None, now_ms: int) -> None:
        """Moves on. Should this process die in the middle, the same instant is fired again, which starts nothing new."""
        if kept is not None:
            self._world.store.release_claim(key, kept)
        self._world.store.claim(key, json.dumps({"rhythm": rhythm, "at": at_ms}).encode(), now_ms)


# -- events -----------------------------------------------------------------------------------------------------------


def deliver(world: World, versions: Versions, payload: Mapping[str, JSON]) -> Sequence[Started]:
    """Starts a run of every workflow with an `event` entry whose pattern an event of the payload fits. The same event again
    starts nothing new.

    The payload is an event of EventBridge, or a batch of records of S3 or SQS, each of which is put into that form.
    Raises `InvalidRequest` (invalid_event) for anything else, and as `start` does.
    """
    events = events_of(payload)
    started = []
    for version, node in _entries(world, versions, "event"):
        for event in events:
            if matches(node.config.literals["pattern"], event):
                meta = {"trigger": {"kind": "event", "node": node.id, "source": event["source"], "event": event["id"]}}
                key = f"event:{node.id}:{sha256(str(event['id']).encode('utf-8', 'surrogatepass')).hexdigest()}"
                inputs, same = dict(event), event["id"]
                run = start(world, versions, version.workflow_id, inputs, key=key, entry=[node.id], meta=meta, same=same)
                started.append(run)
    return started


def events_of(payload: Mapping[str, JSON]) -> Sequence[Mapping[str, Any]]:
    """Events in EventBridge's form: id, source, detail-type, resources, detail. Raises `InvalidRequest`."""
    if all(isinstance(payload.get(name), str) for name in ("id", "source", "detail-type")):
        return [payload]
    records = payload.get("Records")
    if isinstance(records, list) and records and all(isinstance(r, dict) and r.get("eventSource") in _RECORDS for r in records):
        try:
            return [_RECORDS[record["eventSource"]](record) for record in records]
        except (KeyError, TypeError) as error:
            message = f"a record is not as its source sends it: {error}"
            raise InvalidRequest(message, code="invalid_event", mend="pass it on as it came") from error
    message = "this is neither an event of EventBridge nor records of S3 or SQS"
    raise InvalidRequest(message, code="invalid_event", mend="send an object with id, source and detail-type")


def _s3(record: Mapping[str, Any]) -> Mapping[str, Any]:
    bucket, item = record["s3"]["bucket"], record["s3"]["object"]
    return {
        "id": f"{bucket['name']}/{item['key']}#{item.get('sequencer', record.get('eventTime'))}:{record['eventName']}",
        "source": "aws.s3",
        "detail-type": record["eventName"],
        "resources": [bucket.get("arn", f"arn:aws:s3:::{bucket['name']}")],
        "time": record.get("eventTime"),
        "detail": dict(record),
    }


def _sqs(record: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        "id": record["messageId"],
        "source": "aws.sqs",
        "detail-type": "Message",
        "resources": [record.get("eventSourceARN")],
        "detail": {"body": _parsed(record["body"]), "attributes": record.get("messageAttributes", {})},
    }


def _parsed(body: str) -> JSON:
    """JSON where it is JSON, else the text."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body


_RECORDS: Final = {"aws:s3": _s3, "aws:sqs": _sqs}
