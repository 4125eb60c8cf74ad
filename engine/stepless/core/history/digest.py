"""Digests a run for a view of any size: counts by node, one short row for each instance, and the spans in which something worked.

A digest folds events without the state of the run, so it costs a fraction of a trace. Times are milliseconds since the run began.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

from stepless.core.branches import holds
from stepless.core.events import NODE_FAILURES, RUN_ENDS, Event, EventType
from stepless.core.history.trace import STATUS_OF, body_of, locate
from stepless.core.state import TERMINAL, Status
from stepless.limits import MAX_BUSY_SPANS, MAX_DIGEST_FAILED, MAX_DIGEST_ROWS, MAX_ROW_PARTS, MIN_IDLE_MS
from stepless.model.graph import Edge, Graph

WORK: Final = "work"
WAIT: Final = "wait"
SOURCE: Final = "source"
ERROR: Final = "error"
_WAITING: Final = frozenset({Status.WAITING, Status.QUEUED})


def conditional(graph: Graph, path: str) -> list[Conditional]:
    """Returns the edges with conditions of the node at a path."""
    nodes = body_of(graph, path).nodes
    edges = locate(graph, path).outgoing
    return [Conditional(edge, nodes[edge.target].id) for edge in edges if edge.condition is not None]


def path_of(instance: str) -> str:
    """Returns the node that an instance is of, with the containers around it: its id without the numbers of iterations. `x@l[3]`
    is `x@l`."""
    if "[" not in instance:
        return instance
    return "@".join(part.partition("[")[0] for part in instance.split("@"))


class Conditional(NamedTuple):
    """An edge with a condition, and the id of its target."""

    edge: Edge
    target: str


@dataclass(slots=True)
class NodeDigest:
    """All instances of a node. `exits` counts those that left by each exit. `held` counts for each exit and target how often a
    condition between them held, and how often not, as far as the log has what they were over. `failed` are the first that failed;
    `iterations` and `failed_iterations` are those of a container, the latter known once it has ended; `last` is the number of the
    last event about any of them."""

    path: str
    counts: Counter[str] = field(default_factory=Counter)
    exits: Counter[str] = field(default_factory=Counter)
    held: dict[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    attempts: int = 0
    begin_ms: int | None = None
    end_ms: int | None = None
    work_ms: int = 0
    wait_ms: int = 0
    failed: list[str] = field(default_factory=list)
    iterations: int = 0
    failed_iterations: int = 0
    last: int = 0


@dataclass(slots=True)
class Row:
    """One instance. `parts` are (WORK or WAIT, begin, end or None while it goes on) in order; of very many, the last is joined
    with those after it. `first` and `last` are the numbers of its first and its last event."""

    instance: str
    path: str
    status: str
    first: int
    last: int
    attempts: int = 0
    begin_ms: int | None = None
    end_ms: int | None = None
    code: str | None = None
    parts: list[tuple[str, int, int | None]] = field(default_factory=list)


class Digest:
    """Takes the events of a run in order. `rows` has the first MAX_DIGEST_ROWS instances, in the order of first mention;
    `left_out` counts the others, which are in the counts. `conditional` has the edges with conditions of the node at a path."""

    def __init__(self, conditional: Callable[[str], Sequence[Conditional]] = lambda _: ()) -> None:
        self._conditional = conditional
        self.nodes: dict[str, NodeDigest] = {}
        self.rows: list[Row] = []
        self.left_out = 0
        self.sequence = 0
        self.began_ms = 0
        self.ended_ms: int | None = None
        self.status = "created"
        self._open: dict[str, Row] = {}
        self._containers: set[str] = set()  # by path
        self._busy: list[tuple[int, int]] = []
        self._working = 0

    def add(self, event: Event) -> None:
        """Takes the next event; one with `previews` instead of large values will do."""
        if not self.sequence:
            self.began_ms = event.at_ms
        self.sequence = event.sequence
        if event.instance:
            self._add_to_node(event)
        elif event.type is EventType.RUN_STARTED:
            self.status = "running"
        elif event.type is EventType.RUN_STATUS_CHANGED:
            self.status = str(event.data["status"]) if event.data["status"] != "ending" else self.status
        elif event.type in RUN_ENDS:
            self.status, self.ended_ms = event.type.value.partition(".")[2], event.at_ms - self.began_ms

    def busy(self, now_ms: int) -> Iterator[tuple[int, int]]:
        """Yields the spans in which an attempt was in progress or something happened, in order, with at least MIN_IDLE_MS between
        them; of very many, close ones are joined."""
        yield from self._busy[:-1]
        for begin_ms, end_ms in self._busy[-1:]:
            yield begin_ms, max(end_ms, now_ms - self.began_ms) if self._working else end_ms

    def _add_to_node(self, event: Event) -> None:
        at_ms = event.at_ms - self.began_ms
        self._happens(at_ms)
        row = self._open.get(event.instance) or self._begun(event)
        node = self.nodes[row.path]
        row.last = node.last = event.sequence
        if event.type is EventType.LOOP_STARTED:
            self._leads(row, at_ms)
        elif event.type is EventType.LOOP_NEXT:
            node.iterations += 1
        elif event.type is EventType.LOOP_COMPLETED:
            node.failed_iterations += int(event.data.get("failed") or 0)
        status = STATUS_OF.get(event.type)
        if status is not None:
            self._change(event, row, node, status, at_ms)

    def _begun(self, event: Event) -> Row:
        path = path_of(event.instance)
        row = Row(event.instance, path, "pending", event.sequence, event.sequence)
        node = self.nodes.get(path)
        if node is None:
            node = self.nodes[path] = NodeDigest(path)
        node.counts["pending"] += 1
        if len(self.rows) < MAX_DIGEST_ROWS:
            self.rows.append(row)
        else:
            self.left_out += 1
        self._open[event.instance] = row
        return row

    def _leads(self, row: Row, at_ms: int) -> None:
        """A container does not work itself: its nodes do."""
        self._containers.add(row.path)
        if row.parts and row.parts[-1][0] == WORK and row.parts[-1][2] is None:
            row.parts.pop()
            self._working -= 1

    def _change(self, event: Event, row: Row, node: NodeDigest, status: Status, at_ms: int) -> None:
        self._close(row, node, at_ms)
        node.counts[row.status] -= 1
        if not node.counts[row.status]:
            del node.counts[row.status]
        node.counts[status.value] += 1
        row.status = status.value
        if event.type is EventType.NODE_STARTED:
            attempt = int(event.data.get("attempt", 1))
            node.attempts += max(0, attempt - row.attempts)
            row.attempts = attempt
            if row.begin_ms is None:
                row.begin_ms = at_ms
            if node.begin_ms is None:
                node.begin_ms = at_ms
        self._open_part(row, status, at_ms)
        if status in TERMINAL:
            row.end_ms = node.end_ms = at_ms
            del self._open[row.instance]
            self._leave(event, node)
            if event.type in NODE_FAILURES:
                row.code = _code(event.data)
                if len(node.failed) < MAX_DIGEST_FAILED:
                    node.failed.append(row.instance)

    def _leave(self, event: Event, node: NodeDigest) -> None:
        """Notes by which exit an instance left, and which conditions on the edges of this exit held."""
        if event.type is EventType.NODE_COMPLETED:
            handle, of = event.data.get("handle", SOURCE), "output"
        elif event.type in NODE_FAILURES:
            handle, of = ERROR, "error"
        else:
            return
        if not isinstance(handle, str):
            return
        node.exits[handle] += 1
        for edge, target in self._conditional(node.path) if of in event.data else ():
            if edge.handle == handle:
                held, missed = node.held.get((handle, target), (0, 0))
                holding = holds(edge, event.data[of])
                node.held[handle, target] = (held + holding, missed + (not holding))

    def _open_part(self, row: Row, status: Status, at_ms: int) -> None:
        if status is Status.RUNNING and row.path not in self._containers:
            row.parts.append((WORK, at_ms, None))
            self._working += 1
        elif status in _WAITING:
            row.parts.append((WAIT, at_ms, None))

    def _close(self, row: Row, node: NodeDigest, at_ms: int) -> None:
        """Ends the part that goes on, if there is one."""
        if not row.parts or row.parts[-1][2] is not None:
            return
        kind, since_ms, _ = row.parts.pop()
        if kind == WORK:
            node.work_ms += at_ms - since_ms
            self._working -= 1
        else:
            node.wait_ms += at_ms - since_ms
        if at_ms == since_ms:
            return
        if len(row.parts) == MAX_ROW_PARTS:
            kind, since_ms, _ = row.parts.pop()
        row.parts.append((kind, since_ms, at_ms))

    def _happens(self, at_ms: int) -> None:
        """Extends the last span to this instant, or begins another after an idle time."""
        if self._busy and (self._working or at_ms - self._busy[-1][1] < MIN_IDLE_MS):
            self._busy[-1] = (self._busy[-1][0], max(self._busy[-1][1], at_ms))
            return
        self._busy.append((at_ms, at_ms))
        if len(self._busy) > MAX_BUSY_SPANS:
            self._busy = _joined(self._busy, MAX_BUSY_SPANS // 2)


def _code(data: Mapping[str, object]) -> str | None:
    error = data.get("error")
    found = error.get("code") if isinstance(error, Mapping) else data.get("code")
    return found if isinstance(found, str) else None


def _joined(spans: list[tuple[int, int]], count: int) -> list[tuple[int, int]]:
    """The spans in at most `count`, joined over the smallest gaps."""
    gaps = sorted((later[0] - former[1] for former, later in pairwise(spans)), reverse=True)
    least_ms = gaps[count - 1] if len(gaps) >= count else -1
    made = [spans[0]]
    for begin_ms, end_ms in spans[1:]:
        if begin_ms - made[-1][1] > least_ms:
            made.append((begin_ms, end_ms))
        else:
            made[-1] = (made[-1][0], end_ms)
    return made
