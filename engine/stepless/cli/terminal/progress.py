"""Builds the current state of each node from a run's events, for display while the run is live."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from stepless.model.graph import Body, Graph
from stepless.model.json import JSON
from stepless.model.runs.statuses import NODE_STATUSES, SETTLED

LIVE = frozenset(NODE_STATUSES) - SETTLED - {"pending"}
_REASONS = {
    "branch_not_taken": "not taken", "upstream_failure": "upstream failed", "join_satisfied": "no longer needed",
    "join_unsatisfied": "no longer needed", "halted": "the run ended first", "empty_loop": "nothing to do",
    "container_timed_out": "out of time",
}  # fmt: skip
WAITS = {
    "human_input": "waiting for an answer", "timer": "waiting", "callback": "waiting for an answer",
    "message": "waiting for a message",
    "subrun": "waiting for a child run",
}  # fmt: skip


@dataclass(slots=True)
class Span:
    """An interval; `end_ms` is None while it is open."""

    waiting: bool
    start_ms: int
    end_ms: int | None = None


@dataclass(slots=True)
class Row:
    """One instance. `iteration` is the iteration of its container, None outside of one. `said` is its last log line."""

    instance: str
    node: str
    kind: str
    status: str = "pending"
    iteration: int | None = None
    attempts: int = 0
    note: str = ""
    said: str = ""
    until_ms: int | None = None
    iterations_done: int = 0
    iterations_first: int = 0  # the index of the first iteration of the present attempt
    iterations_total: int | None = None
    iterations_failed: int = 0
    spans: list[Span] = field(default_factory=list)
    children: dict[str, Row] = field(default_factory=dict)
    order: int = 0
    error: Mapping[str, Any] | None = None
    exception: Mapping[str, Any] | None = None

    @property
    def live(self) -> bool:
        return self.status in LIVE

    @property
    def summary(self) -> str:
        """The text next to the name; for a container, its iterations."""
        if self.status == "failed" or not (self.iterations_total is not None or self.iterations_done):
            return self.note
        if self.live:
            total = "" if self.iterations_total is None else f" of {self.iterations_total}"
            return f"iteration {self.iterations_done + 1}{total}"
        iterations = f"{self.iterations_done} iteration{'' if self.iterations_done == 1 else 's'}"
        return f"{iterations}, {self.iterations_failed} failed" if self.iterations_failed else iterations

    def elapsed_ms(self, now_ms: int) -> int:
        """Returns the time from the start to the end, including waits."""
        if not self.spans:
            return 0
        end_ms = self.spans[-1].end_ms
        return (end_ms if end_ms is not None else now_ms) - self.spans[0].start_ms


class Progress:
    """A run, built from its events so far. Nodes that have not started have a row from the beginning."""

    def __init__(self, graph: Graph) -> None:
        self.status = "created"
        self.started_ms = 0
        self.now_ms = 0  # of the newest event
        self.sequence = 0  # its number
        self.ended = False
        self.error: Mapping[str, JSON] | None = None
        self._root = graph.root
        self._rows: dict[str, Row] = {}
        self.top: dict[str, Row] = {node.id: Row(node.id, node.id, node.kind.name) for node in graph.root.nodes}
        self._rows.update(self.top)

    def add(self, envelopes: Iterable[Mapping[str, Any]]) -> None:
        for envelope in envelopes:
            self.sequence = envelope["sequence"]
            self._add(envelope["type"], envelope["payload"], instant_ms(envelope["timestamp"]))

    def rows(self, *, settled_iterations: bool = True) -> Iterator[tuple[int, Row]]:
        """Yields every row with its depth: a container before its contents, iterations in order. Without `settled_iterations`, a
        settled container lists only its failed rows."""
        stack = [(0, row) for row in reversed(self.top.values())]
        while stack:
            depth, row = stack.pop()
            yield depth, row
            inner = sorted(row.children.values(), key=lambda child: (child.iteration or 0, child.order))
            if not settled_iterations and not row.live:
                inner = [child for child in inner if child.status == "failed"]
            stack.extend((depth + 1, child) for child in reversed(inner))

    def row(self, instance: str) -> Row:
        found = self._rows.get(instance)
        if found is None:
            found = self._rows[instance] = self._new_row(instance)
        return found

    def _new_row(self, instance: str) -> Row:
        name, container, rest = _split(instance)
        owner_id, _, index = container.rstrip("]").partition("[")
        owner = self.row("@".join([owner_id, *rest]))
        body = self._body_of(owner.instance)
        node = body.nodes[body.positions[name]]
        row = Row(instance, name, node.kind.name, iteration=int(index), order=node.position)
        owner.children[instance] = row
        return row

    def _body_of(self, instance: str) -> Body:
        """The body of a container instance."""
        name, *containers = instance.split("@")
        body = self._root
        for part in [*(part.partition("[")[0] for part in reversed(containers)), name]:
            container = body.nodes[body.positions[part]].container
            if container is not None:
                body = container.body
        return body

    # -- events -----------------------------------------------------------------------------------------------------

    def _add(self, type: str, payload: Mapping[str, Any], at_ms: int) -> None:
        self.now_ms = max(self.now_ms, at_ms)
        if type.startswith("run."):
            self._add_run(type, payload, at_ms)
        elif "instance" in payload:
            row = self.row(payload["instance"])
            if type.startswith("loop."):
                self._add_loop(row, type, payload)
            else:
                self._add_node(row, type, payload, at_ms)

    def _add_run(self, type: str, payload: Mapping[str, Any], at_ms: int) -> None:
        if type == "run.started":
            self.started_ms = at_ms
        self.status = str(payload.get("status", self.status))
        if type in ("run.completed", "run.failed", "run.cancelled", "run.timed_out"):
            self.ended = True
            self.error = payload.get("error")

    @staticmethod
    def _add_loop(row: Row, type: str, payload: Mapping[str, Any]) -> None:
        if type == "loop.started":
            row.iterations_total, row.iterations_first = payload.get("total"), payload.get("first", 0)
            row.iterations_done = row.iterations_failed = 0
        elif type == "loop.next":
            # the iterations before it; of a parallel, those that have started
            row.iterations_done = payload["index"] - row.iterations_first
        else:
            row.iterations_done = payload.get("started", row.iterations_done)
            row.iterations_failed = payload.get("failed", 0)

    def _add_node(self, row: Row, type: str, payload: Mapping[str, Any], at_ms: int) -> None:
        row.status = payload.get("status", row.status)
        match type:
            case "node.started":
                row.attempts = payload.get("attempt", 1)
                row.note = f"attempt {row.attempts}" if row.attempts > 1 else ""
                _span(row, at_ms, waiting=False)
            case "node.waiting":
                row.note = WAITS.get(payload["reason"], payload["reason"].replace("_", " "))
                row.until_ms = payload.get("resume_at", payload.get("deadline"))
                _span(row, at_ms, waiting=True)
            case "node.retried":
                row.note = f"attempt {payload['attempt']} failed ({payload['code']}), retries"
                row.until_ms = payload["resume_at"]
                _span(row, at_ms, waiting=True)
            case "node.resumed":
                row.note, row.until_ms = "", None
                _span(row, at_ms, waiting=False)
            case "node.log":
                row.said = str(payload.get("text", payload.get("code", "")))
            case "node.queued":
                row.note = "queued"
            case "node.stream.delta":
                row.said = (row.said + payload["text"])[-200:]
            case _ if row.status in SETTLED:
                self._end(row, payload, at_ms)

    @staticmethod
    def _end(row: Row, payload: Mapping[str, Any], at_ms: int) -> None:
        row.until_ms = None
        if row.spans and row.spans[-1].end_ms is None:
            row.spans[-1].end_ms = at_ms
        row.error, row.exception = payload.get("error"), payload.get("exception")
        if row.status == "failed":
            row.note = str(payload.get("code", "failed"))
        elif row.status == "completed":
            attempts = f"{row.attempts} attempts" if row.attempts > 1 else ""
            row.note = f"→ {payload['handle']}" if payload.get("handle") else attempts
        else:
            reason = str(payload.get("reason", ""))
            row.note = _REASONS.get(reason, reason.replace("_", " "))


def _span(row: Row, at_ms: int, *, waiting: bool) -> None:
    """Opens an interval and closes the one before."""
    if row.spans and row.spans[-1].end_ms is None:
        row.spans[-1].end_ms = at_ms
    row.spans.append(Span(waiting, at_ms))


def _split(instance: str) -> tuple[str, str, list[str]]:
    """`x@m[0]@l[1]` → x, m[0], [l[1]]."""
    name, container, *rest = instance.split("@")
    return name, container, rest


def instant_ms(timestamp: str) -> int:
    return round(datetime.fromisoformat(timestamp).timestamp() * 1000)


def duration(ms: float) -> str:
    """Formats a duration: `0 ms`, `340 ms`, `1.25 s`, `2 m 05 s`, `1 h 03 m`, `2 d 4 h`: at most 9 characters."""
    seconds = ms / 1000
    if ms < 1000:
        return f"{round(ms)} ms"
    if seconds < 10:
        return f"{seconds:.2f} s"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, hours = int(seconds // 60), int(seconds // 3600)
    if hours < 1:
        return f"{minutes} m {int(seconds % 60):02} s"
    return f"{hours} h {minutes % 60:02} m" if hours < 48 else f"{hours // 24} d {hours % 24} h"
