"""Delivers messages that come by the webhooks and events of a workflow's `messages`."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256

from stepless.errors import ExpressionError, InvalidRequest, NotFound, SteplessError
from stepless.model.graph import Graph, MessageSource, Node
from stepless.model.json import JSON, read_path
from stepless.model.scope import Reference
from stepless.model.steps import Steps
from stepless.model.triggers.event_pattern import matches
from stepless.ports import Version
from stepless.runtime.triggers.entry_versions import versions_with
from stepless.runtime.verbs.changes.sending import Delivered, send
from stepless.runtime.verbs.publication.publishing import MESSAGE_EVENT
from stepless.runtime.world import World

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ignored:
    """A delivery for which `where` of the source is false."""


class _Delivery(Steps):
    """What the expressions of a source read; see `model.scope.Scope`."""

    __slots__ = ("now_ms", "values")

    def __init__(self, values: Mapping[str, JSON], now_ms: int) -> None:
        super().__init__()
        self.values, self.now_ms = values, now_ms

    def read(self, reference: Reference) -> JSON:
        return read_path(self.values.get(reference.root), reference.path)


def source_of(graph: Graph, node: Node) -> MessageSource | None:
    """Returns the source that a listening node is; None for an entry."""
    return next((source for source in graph.sources if source.node is node), None)


def deliver_from(
    world: World, graph: Graph, source: MessageSource, values: Mapping[str, JSON], default: JSON, *, id: str | None, by: str
) -> Delivered | Ignored:
    """Delivers what a sender sent as a message: `values` are what the expressions read, `default` the data without `map`. Raises
    `InvalidRequest` (key_missing) if the key cannot be told, and as `send` does."""
    scope = _Delivery(values, world.clock.now_ms())
    try:
        if source.where is not None and not source.where.evaluate(scope):
            return Ignored()
        key = source.key.evaluate(scope) if source.key is not None else None
        data = default if source.map is None else source.map.render(scope)
    except ExpressionError as error:
        raise _no_key(source, f"an expression of it cannot be evaluated: {error.message}") from error
    if key in (None, ""):
        raise _no_key(source, "the delivery has no key")
    return send(world, graph.workflow_id, source.message, data, key=key, id=id, by=by)


def _no_key(source: MessageSource, why: str) -> InvalidRequest:
    mend = f"check `where`, `key` and `map` of the message `{source.message}`"
    message, place = f"the message `{source.message}` was not delivered: {why}", f"messages.{source.message}"
    return InvalidRequest(message, code="key_missing", status=422, place=place, mend=mend)


def event_sources(world: World) -> Iterator[tuple[Version, Graph, MessageSource]]:
    """Yields every event source in the newest versions."""
    for version, graph in versions_with(world, MESSAGE_EVENT):
        yield from ((version, graph, source) for source in graph.sources if source.node.kind.name == "event")


def deliver_event(world: World, event: Mapping[str, JSON]) -> list[SteplessError]:
    """Delivers an event to every source whose pattern it matches. Returns the errors of those that failed: to deliver the event
    again reaches the missing ones. An event that no run waits for is no error."""
    faults: list[SteplessError] = []
    for version, graph, source in event_sources(world):
        if not matches(source.node.config.literals["pattern"], event):
            continue
        try:
            identity, by = _event_id(event, source.message), f"event {event['source']}"
            deliver_from(world, graph, source, {"event": event}, event.get("detail"), id=identity, by=by)
        except NotFound as error:
            _log.info("the event %s of %s has no receiver: %s", event["id"], version.workflow_id, error)
        except SteplessError as error:
            _log.warning("the event %s was not delivered to %s: %s", event["id"], version.workflow_id, error)
            faults.append(error)
    return faults


def _event_id(event: Mapping[str, JSON], message: str) -> str:
    """The id of the message that an event is: one event may be several messages of a run."""
    of = f"{event['id']}\n{message}".encode("utf-8", "surrogatepass")
    return f"event_{sha256(of).hexdigest()[:40]}"
