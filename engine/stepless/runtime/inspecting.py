"""Inspect: what a run is and was, read from its log alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stepless.core.ending import outputs
from stepless.core.events import RUN_ENDS
from stepless.core.state import RUN_TERMINAL
from stepless.core.tags import Tag
from stepless.core.trace import NodeRecord, Trace, envelope
from stepless.core.variables import outgoing_cells
from stepless.core.waits import summary, until_of, waits_of
from stepless.errors import NotFound
from stepless.limits import LINK_LIFE_MS, PAGE_EVENTS, PAGE_READ_BYTES
from stepless.model.graph import Graph
from stepless.model.json import JSON
from stepless.ports import RunHead
from stepless.runtime.runlog import RunLog
from stepless.runtime.tokens import Claims, Signer
from stepless.runtime.versions import Versions
from stepless.runtime.world import World


@dataclass(frozen=True, slots=True)
class OpenPause:
    """A pause that somebody may answer. `token` is None for timers."""

    pause: str
    node: str
    reason: str
    exits: tuple[str, ...]
    details: Mapping[str, JSON]
    since_ms: int
    deadline_ms: int | None
    resume_at_ms: int | None
    token: str | None


@dataclass(frozen=True, slots=True)
class RunView:
    """A run as its log tells it. `head` is the store's header, which may lag behind. `held` is {by, reason, at} while somebody
    holds it."""

    head: RunHead
    status: str
    inputs: JSON
    outputs: JSON
    response: Mapping[str, JSON] | None
    variables: Mapping[str, JSON]
    error: Mapping[str, JSON] | None
    failures: int
    steps: int
    sequence: int
    started_ms: int | None
    ended_ms: int | None
    tags: Sequence[Tag]
    usage: Mapping[str, int]
    pauses: tuple[OpenPause, ...]
    nodes: Mapping[str, NodeRecord]
    held: Mapping[str, JSON] | None = None
    exception: Mapping[str, JSON] | None = None  # in author code, behind the error
    waits: tuple[str, ...] = ()  # for what, in the words of `core.waits`
    summary: str = ""  # what it is at, for people


@dataclass(frozen=True, slots=True)
class EventPage:
    """Envelopes in order. `ended` is true when the run's terminal event is at or before the end of this page."""

    events: tuple[Mapping[str, JSON], ...]
    cursor: int
    ended: bool


def head_of(world: World, run_id: str) -> RunHead:
    head = world.store.get_run(run_id)
    if head is None:
        raise NotFound(f"there is no run {run_id}", code="unknown_run", mend="look at the list of runs")
    return head


def graph_of(versions: Versions, head: RunHead) -> Graph:
    entry = json.loads(head.meta).get("entry")
    return versions.graph(head.workflow_id, head.version, entry)


def view(world: World, versions: Versions, signer: Signer, run_id: str, called: range) -> RunView:
    """The whole run. Linear in its log. The records of the nodes at the places `called`, in the order of first mention, tell what
    their attempts were called with. Raises `NotFound`."""
    head = head_of(world, run_id)
    graph = graph_of(versions, head)
    trace = Trace(graph, run_id, called)
    error: Mapping[str, JSON] | None = None
    for event in RunLog(world.store, world.blobs, run_id).read():
        trace.add(event)
        if event.type in RUN_ENDS:
            error = event.data.get("error")
    state = trace.state
    usage: dict[str, int] = {}
    for record in trace.nodes.values():
        for name, count in record.usage.items():
            usage[name] = usage.get(name, 0) + count
    cells = outgoing_cells(state.root, lambda expression, values: values[-1])
    return RunView(
        head=head,
        status=state.status.value,
        inputs=state.inputs if state.sequence else json.loads(head.inputs),
        outputs=outputs(state),
        response=state.response,
        variables={name: cell.value for name, cell in cells.items()},
        error=error,
        failures=state.failures,
        steps=state.steps,
        sequence=state.sequence,
        started_ms=state.started_ms or None,
        ended_ms=state.ended_ms or None,
        tags=trace.tags,
        usage=usage,
        pauses=() if state.ended else tuple(_pauses(trace, signer)),
        nodes=trace.nodes,
        held=state.held,
        exception=exception_behind(world, run_id, error),
        waits=waits_of(state),
        summary=summary(state.status.value, waits_of(state), busy=bool(state.running), until_ms=until_of(state)),
    )


def exception_behind(world: World, run_id: str, error: Mapping[str, JSON] | None) -> Mapping[str, JSON] | None:
    """What the log tells of the exception in author code behind a run's error: it stands in the event that the error names, of
    this run or of the child run that the error comes from."""
    number = error.get("event") if error is not None else None
    if error is None or not isinstance(number, int):
        return None
    for event in RunLog(world.store, world.blobs, str(error.get("run", run_id))).read(number - 1, whole=False, stride_bytes=1):
        exception: Mapping[str, JSON] | None = event.data.get("exception") if event.sequence == number else None
        return exception
    return None


def _pauses(trace: Trace, signer: Signer) -> Sequence[OpenPause]:
    found = []
    for pause, instance in trace.state.waiting.items():
        wait = instance.wait
        if wait is None:
            continue
        token = None
        if wait.resume_at_ms is None:
            expires_ms = wait.deadline_ms if wait.deadline_ms is not None else wait.since_ms + LINK_LIFE_MS
            token = signer.sign(Claims(trace.state.run_id, pause, expires_ms))
        found.append(
            OpenPause(
                pause=pause,
                node=instance.node.id,
                reason=wait.reason,
                exits=wait.exits,
                details=wait.details,
                since_ms=wait.since_ms,
                deadline_ms=wait.deadline_ms,
                resume_at_ms=wait.resume_at_ms,
                token=token,
            )
        )
    return found


def events(world: World, versions: Versions, run_id: str, *, after: int = 0, limit: int = PAGE_EVENTS) -> EventPage:
    """Events above `after`, at most `limit` of them; of large values the payload has `previews`. Raises `NotFound`."""
    head = head_of(world, run_id)
    graph = graph_of(versions, head)
    page: list[Mapping[str, JSON]] = []
    cursor, ended = after, False
    for event in RunLog(world.store, world.blobs, run_id).read(after, whole=False, stride_bytes=PAGE_READ_BYTES):
        if len(page) == limit:
            break
        page.append(envelope(graph, run_id, event))
        cursor, ended = event.sequence, event.type in RUN_ENDS
    if not page and after:
        ended = has_ended_by(world, run_id, after)
    return EventPage(tuple(page), cursor, ended)


def has_ended_by(world: World, run_id: str, cursor: int) -> bool:
    """Whether the run's terminal event is at or before a cursor at the head of its log."""
    head = head_of(world, run_id)
    if head.status not in {status.value for status in RUN_TERMINAL}:
        return False
    return cursor >= head.sequence
