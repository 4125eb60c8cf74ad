"""Builds from the log what readers see: envelopes of events (docs/understand/semantics.md#events), one record per instance
(docs/understand/semantics.md#trace), and tags.

All of it is computed from the log and never stored, so that it always agrees with the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stepless.core.decision import iso
from stepless.core.events import NODE_ENDS, Event, EventType, statuses_of
from stepless.core.fold import apply, subject
from stepless.core.history.call_parameters import Called, called
from stepless.core.history.evaluated_conditions import Looped, Tested, looped, tested
from stepless.core.history.forks import Forks
from stepless.core.history.tags import PARTIAL_SUCCESS, Tag, tag_of_node, tag_of_run
from stepless.core.limits.queue import LIMIT
from stepless.core.state import OUTSIDE, Instance, State, Status
from stepless.core.values.inputs import merged_inputs
from stepless.errors import EngineBug
from stepless.limits import MAX_SHOWN_CALLS, MAX_SHOWN_PATH
from stepless.model.graph import Body, Graph, Node
from stepless.model.json import JSON
from stepless.model.work import added

_NOWHERE = range(0)
_LOOPS = frozenset({EventType.LOOP_STARTED, EventType.LOOP_NEXT, EventType.LOOP_COMPLETED})


def locate(graph: Graph, instance_id: str) -> Node:
    """Returns the node that an instance id names. Raises `EngineBug` when the graph has no such node."""
    body = body_of(graph, instance_id)
    position = body.positions.get(instance_id.partition("@")[0])
    if position is None:
        raise EngineBug(f"no such instance: {instance_id}", place=graph.workflow_id)
    return body.nodes[position]


def body_of(graph: Graph, instance_id: str) -> Body:
    """Returns the body that has the node of an instance. Raises as `locate` does."""
    body = graph.root
    for part in reversed(instance_id.split("@")[1:]):
        owner = body.positions.get(part.partition("[")[0])
        container = body.nodes[owner].container if owner is not None else None
        if container is None:
            raise EngineBug(f"no such instance: {instance_id}", place=graph.workflow_id)
        body = container.body
    return body


STATUS_OF: Mapping[EventType, Status] = {type: Status(status) for type, status in statuses_of("node").items()}
_RUN_STATUS_OF = statuses_of("run")


def envelope(graph: Graph, run_id: str, event: Event) -> dict[str, JSON]:
    """Returns an event in the format of the API (docs/understand/semantics.md#events)."""
    payload: dict[str, Any] = dict(event.data)
    wave = 0
    if event.instance:
        node = locate(graph, event.instance)
        wave = node.wave
        payload = {"instance": event.instance, "node": node.id, "kind": node.kind.name, **payload}
        status = STATUS_OF.get(event.type)
        if status is not None:
            payload["status"] = status.value
        if "error" in payload:
            payload.setdefault("code", payload["error"]["code"])
    elif event.type in _RUN_STATUS_OF:
        payload["status"] = _RUN_STATUS_OF[event.type]
    if event.type is EventType.RUN_COMPLETED and payload.get("failures"):
        payload["tags"] = [PARTIAL_SUCCESS]
    return {
        "eventId": event.sequence,
        "sequence": event.sequence,
        "type": event.type.value,
        "runId": run_id,
        "workflowId": graph.workflow_id,
        "timestamp": iso(event.at_ms),
        "correlation": {
            "traceId": run_id,
            "parentEventId": event.parent or None,
            "wave": wave,
            "phase": event.type.value.split(".")[0],
        },
        "payload": payload,
    }


@dataclass(slots=True)
class NodeRecord:
    """The record of one instance. Times are milliseconds since 1970 UTC, or None for what did not happen. `usage` is the sum over
    all attempts. `fork` and `branch` are its place in the graph; see `forks.Place`."""

    instance: str
    node: str
    kind: str
    label: str
    status: str
    reason: str | None = None
    code: str | None = None
    inputs: Mapping[str, JSON] = field(default_factory=dict)
    output: JSON = None
    error: Mapping[str, JSON] | None = None
    exception: Mapping[str, JSON] | None = None  # in author code, behind the error
    index: int | None = None
    predecessor: str | None = None
    wave: int = 0
    depth: int = 0
    fork: str | None = None
    branch: int | None = None
    attempts: int = 0
    started_ms: int | None = None
    ended_ms: int | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    waiting: Mapping[str, JSON] | None = None  # reason, deadline, exits and details while it waits
    calls: list[Called] = field(default_factory=list)  # the last MAX_SHOWN_CALLS attempts, where the trace includes them
    looped: Looped | None = None  # of a container, where the trace includes calls
    tested: Sequence[Tested] = ()  # as `looped`, of a node that left
    before: NodeRecord | None = field(default=None, repr=False, compare=False)  # of the predecessor; of an entry, its container

    @property
    def path(self) -> tuple[str, ...]:
        """The instances that led to this one, from an entry to itself, containers before the nodes inside them. Only the last
        MAX_SHOWN_PATH of a longer path. Empty for an instance that never started."""
        found: list[str] = []
        record: NodeRecord | None = self if self.index is not None else None
        while record is not None and len(found) < MAX_SHOWN_PATH:
            found.append(record.instance)
            record = record.before
        return tuple(reversed(found))


class Trace:
    """A run, read from its log: `nodes` by instance id in order of first mention, `tags` in order, and the final `state`. The
    records at the positions `called` of that order also include the parameters of their attempts."""

    def __init__(self, graph: Graph, run_id: str, called: range = _NOWHERE) -> None:
        self._called = called
        self._shown: set[str] = set()  # the instances whose parameters are included
        self.state = State(graph, run_id)
        self.nodes: dict[str, NodeRecord] = {}
        self.tags: list[Tag] = []
        self._forks = Forks()

    def extend(self, events: Iterable[Event]) -> Trace:
        """Adds further events of the log."""
        for event in events:
            self.add(event)
        return self

    def add(self, event: Event) -> None:
        state = self.state
        instance = subject(state, event)
        apply(state, event, instance)
        state.notes.clear()
        if instance is not None:
            self._note_node(event, instance)
        elif event.type is EventType.RUN_RECOVERED and self._shown:
            self._note_recovery(event)
        elif (tag := tag_of_run(event)) is not None:
            self.tags.append(tag)

    def _note_node(self, event: Event, instance: Instance) -> None:
        record = self.nodes.get(event.instance)
        if record is None:
            node = instance.node
            record = NodeRecord(event.instance, node.id, node.kind.name, node.label, "pending", wave=node.wave, depth=node.depth)
            if len(self.nodes) in self._called:
                self._shown.add(event.instance)
            self.nodes[event.instance] = record
            branch = self._forks.branch_of(instance)
            if branch is not None:
                record.fork, record.branch = branch
        if "usage" in event.data and not event.data.get("reused"):  # of every attempt; another run paid for a reused result
            record.usage = added(record.usage, event.data["usage"])
        status = STATUS_OF.get(event.type)
        if status is not None:
            record.status = status.value
            if "limit" in event.data:
                record.waiting = {"reason": LIMIT, **event.data}
            else:
                record.waiting = dict(event.data) if status is Status.WAITING else None
        if event.type is EventType.NODE_STARTED:
            self._note_start(event, instance, record)
        elif event.type in NODE_ENDS:
            self._note_end(event, instance, record)
        elif event.type is EventType.CONTRACT_VIOLATED and event.data.get("phase") == "input":
            record.calls.clear()  # the contract is checked before the call
        elif event.type in _LOOPS and event.instance in self._shown:
            record.looped = looped(self.state, instance, event) or record.looped
        tag = tag_of_node(event, instance, record)
        if tag is not None:
            self.tags.append(tag)

    def _note_start(self, event: Event, instance: Instance, record: NodeRecord) -> None:
        record.attempts = event.data.get("attempt", 1)
        if event.instance in self._shown:
            self._note_call(event, instance, record)
        if record.started_ms is not None:
            return
        record.started_ms = event.at_ms
        record.index = instance.index
        scope = instance.scope
        if instance.predecessor != OUTSIDE:
            record.predecessor = scope.body.nodes[instance.predecessor].id + scope.suffix
        former = record.predecessor or (scope.owner.id if scope.owner is not None else None)
        record.before = self.nodes.get(former) if former is not None else None
        record.inputs = merged_inputs(self.state, instance)

    def _note_call(self, event: Event, instance: Instance, record: NodeRecord) -> None:
        call = called(self.state, instance, event.at_ms)
        if call is not None:
            others = [one for one in record.calls if one.attempt != call.attempt]
            record.calls = [*others[1 - MAX_SHOWN_CALLS :], call]

    def _note_recovery(self, event: Event) -> None:
        """The interrupted attempts are called again at this instant."""
        for name in event.data.get("instances", ()):
            instance = self.state.running.get(name)
            if name in self._shown and instance is not None and instance.node.delivery != "at_most_once":
                self._note_call(event, instance, self.nodes[name])

    def _note_end(self, event: Event, instance: Instance, record: NodeRecord) -> None:
        record.ended_ms = event.at_ms
        record.reason = event.data.get("reason")
        record.error = instance.error
        record.exception = event.data.get("exception")
        record.code = str(instance.error["code"]) if instance.error is not None else None
        record.output = instance.value
        if event.instance in self._shown:
            record.tested = tested(instance)
