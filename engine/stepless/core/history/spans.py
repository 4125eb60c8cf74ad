"""Derives finished spans and measurements from the events of a run (docs/run/observability.md).

A span is given once, when the event that ends it is added. What is still open lives here, or is read from the state of a run that
was loaded, so the spans do not depend on where one invocation ended and the next began.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from stepless.core.events import NODE_ENDS, NODE_FAILURES, ROWS, RUN_ENDS, Event, EventType
from stepless.core.history.trace import locate
from stepless.core.state import Instance, State, Status, scopes
from stepless.limits import MAX_SPAN_MESSAGE_CHARACTERS
from stepless.model.graph import Graph, Node
from stepless.model.json import JSON
from stepless.model.kind import SOURCE, Nature
from stepless.model.runs.span import CONSUMER, INTERNAL, Attributes, Measure, Span, SpanEvent, SpanLink, Value
from stepless.model.runs.traceparent import TRACE, attempt_span_id, node_span_id, run_span_id, trace_id, trace_of

_USAGE: Final[Mapping[str, str]] = {
    "input_tokens": "gen_ai.usage.input_tokens", "output_tokens": "gen_ai.usage.output_tokens",
}  # fmt: skip
_OUTCOMES: Final[Mapping[EventType, str]] = {type: ROWS[type].status for type in NODE_ENDS}
_RUN_STATUSES: Final[Mapping[EventType, str]] = {type: ROWS[type].status for type in RUN_ENDS}


class _Open:
    """An instance that has started and not settled. `attempt_ms` is when its present attempt began, None between attempts and
    for a node without any. `wait` is the reason and the beginning of its present pause."""

    __slots__ = ("node", "start_ms", "attempt", "attempt_ms", "wait", "events")

    def __init__(self, node: Node, start_ms: int) -> None:
        self.node = node
        self.start_ms = start_ms
        self.attempt = 1
        self.attempt_ms: int | None = start_ms if _has_attempts(node) else None
        self.wait: tuple[str, int] | None = None
        self.events: list[SpanEvent] = []  # its pause and its resume: an instance pauses once


class Spans:
    """The spans of one run. `meta` is that of its header, `created_ms` the instant of its creation. `spans` and `measures`
    collect what `add` found; the caller takes and clears them. An unsampled trace has measures only."""

    def __init__(self, graph: Graph, run_id: str, meta: Mapping[str, JSON], created_ms: int) -> None:
        self.trace = trace_of(run_id, meta)
        self.spans: list[Span] = []
        self.measures: list[Measure] = []
        self._graph = graph
        self._run_id = run_id
        self._meta = meta
        self._created_ms = created_ms
        self._workflow: Attributes = {"stepless.workflow.id": graph.workflow_id}
        self._open: dict[str, _Open] = {}
        self._started_ms = 0
        self._steps = 0
        self._hand_overs = 0
        self._paused_ms = 0
        self._paused_since_ms: int | None = None

    def resume(self, state: State) -> None:
        """Takes over what is open in a loaded state. Call it before the first `add`, with the state before that event."""
        self._started_ms, self._steps, self._hand_overs = state.started_ms, state.steps, state.continued
        self._paused_ms, self._paused_since_ms = max(0, state.paused_ms), state.paused_since_ms
        for scope in scopes(state):
            for instance in scope.touched():
                if instance.index and not instance.settled:
                    self._open[instance.id] = _opened(instance, state)

    def add(self, event: Event) -> None:
        """Adds the next committed event of the run."""
        if event.instance:
            fold = _NODE_FOLDS.get(event.type)
            if fold is not None:
                fold(self, event)
        elif event.type in RUN_ENDS:
            self._run_ended(event)
        elif event.type in _RUN_FOLDS:
            _RUN_FOLDS[event.type](self, event)

    # -- the run ----------------------------------------------------------------------------------------------------

    def _run_started(self, event: Event) -> None:
        self._started_ms = event.at_ms
        self._count("stepless.runs.started", {})
        if self._created_ms:
            self._time("stepless.run.start_delay", self._created_ms, event.at_ms, {})

    def _run_status(self, event: Event) -> None:
        if "held" in event.data:
            return
        if event.data["status"] == "paused":
            self._paused_since_ms = event.at_ms
        elif self._paused_since_ms is not None:
            self._paused_ms += max(0, event.at_ms - self._paused_since_ms)
            self._paused_since_ms = None

    def _run_continued(self, event: Event) -> None:
        self._hand_overs += 1

    def _run_recovered(self, event: Event) -> None:
        self._count("stepless.runs.recovered", {})
        for instance in event.data.get("instances", ()):
            open = self._open.get(instance)
            if open is not None and open.attempt_ms is not None:
                open.attempt_ms = event.at_ms

    def _run_ended(self, event: Event) -> None:
        status = _RUN_STATUSES[event.type]
        if self._paused_since_ms is not None:
            self._paused_ms += max(0, event.at_ms - self._paused_since_ms)
        labels: dict[str, Value] = {"stepless.run.status": status}
        self._count("stepless.runs.ended", labels)
        self._time("stepless.run.duration", self._started_ms, event.at_ms, labels)
        if not self.trace.sampled:
            return
        error = event.data.get("error")
        attributes: dict[str, Value] = {
            **self._of_run(), **labels, "stepless.workflow.version": self._graph.version,
            "stepless.run.steps": self._steps, "stepless.run.failures": event.data.get("failures", 0),
            "stepless.run.handovers": self._hand_overs, "stepless.run.paused_ms": self._paused_ms,
            **_origin(self._meta),
        }  # fmt: skip
        failure = None
        if status in ("failed", "timed_out"):
            attributes["error.type"] = _code(error) or status
            failure = _message(error) or "the run timed out"
        self.spans.append(Span(
            self.trace.trace_id, run_span_id(self._run_id), self.trace.parent_id, f"run {self._graph.workflow_id}", CONSUMER,
            self._started_ms, max(self._started_ms, event.at_ms), attributes, (), self._links_of_run(), failure,
            self.trace.flags, self.trace.state, bool(self.trace.parent_id),
        ))  # fmt: skip

    def _links_of_run(self) -> tuple[SpanLink, ...]:
        rerun = self._meta.get("rerun")
        if not isinstance(rerun, Mapping):
            return ()
        former = str(rerun["of"])
        return (SpanLink(self._former_trace(former), run_span_id(former), {"stepless.link": "rerun_of"}),)

    def _former_trace(self, former: str) -> str:
        """The trace of the run that this one repeats."""
        stored = self._meta.get(TRACE)
        known = stored.get("former") if isinstance(stored, Mapping) else None
        return known if isinstance(known, str) else trace_id(former)

    def _of_run(self) -> dict[str, Value]:
        return {**self._workflow, "stepless.run.id": self._run_id}

    # -- nodes ------------------------------------------------------------------------------------------------------

    def _started(self, event: Event) -> None:
        open = self._open.get(event.instance)
        if open is None:
            self._steps += 1
            self._open[event.instance] = _Open(locate(self._graph, event.instance), event.at_ms)
        else:
            open.attempt = event.data.get("attempt", 1)
            open.attempt_ms = event.at_ms if _has_attempts(open.node) else None

    def _waiting(self, event: Event) -> None:
        open = self._open.get(event.instance)
        if open is None:
            return
        details = event.data.get("details", {})
        child = details.get("run") if event.data["reason"] == "subrun" else None
        self._attempt_ended(event, open, "waiting", child=child)
        open.wait = (event.data["reason"], event.at_ms)  # of a child run that pauses or goes on: from then on

    def _resumed(self, event: Event) -> None:
        open = self._open.get(event.instance)
        if open is not None:
            self._wait_ended(event, open, {"stepless.handle": event.data.get("handle", SOURCE)})

    def _wait_ended(self, event: Event, open: _Open, more: Attributes) -> None:
        if open.wait is None:
            return
        (reason, since_ms), open.wait = open.wait, None
        labels: Attributes = {"stepless.wait.reason": reason}
        self._time("stepless.node.wait.duration", since_ms, event.at_ms, labels)
        pause, resume = ("stepless.pause", since_ms, labels), ("stepless.resume", event.at_ms, {**labels, **more})
        open.events = [SpanEvent(*pause), SpanEvent(*resume)]

    def _retried(self, event: Event) -> None:
        open = self._open.get(event.instance)
        if open is None:
            return
        if event.data.get("again"):
            open.attempt_ms = None  # the same attempt begins again, and its span with it
        else:
            self._attempt_ended(event, open, "retried")

    def _ended(self, event: Event) -> None:
        open = self._open.pop(event.instance, None)
        if open is None:
            return  # it never started: skipped, or cancelled before
        outcome, reused = _OUTCOMES[event.type], bool(event.data.get("reused"))
        if reused:
            open.attempt_ms = None
        else:
            self._attempt_ended(event, open, outcome)
        self._wait_ended(event, open, {})
        if not self.trace.sampled:
            return
        attributes = {**self._of_node(event, open), "stepless.node.status": outcome, "stepless.node.attempts": open.attempt}
        if not _has_attempts(open.node) or reused:
            del attributes["stepless.node.attempts"]
        for name in ("handle", "reason"):
            if name in event.data:
                attributes[f"stepless.node.{name}"] = str(event.data[name])
        links: tuple[SpanLink, ...] = ()
        if reused:
            attributes["stepless.node.reused"] = True
            links = self._links_of_reused(event.instance)
        own, name = node_span_id(self._run_id, event.instance), f"{open.node.kind.name} {open.node.id}"
        parent, events = self._parent_of(event.instance), tuple(open.events)
        self._span(event, own, parent, name, INTERNAL, open.start_ms, attributes, events, links)

    def _attempt_ended(self, event: Event, open: _Open, outcome: str, child: JSON = None) -> None:
        """Gives the span of an attempt, if one is in progress."""
        start_ms, open.attempt_ms = open.attempt_ms, None
        if start_ms is None:
            return
        kind = open.node.kind.name
        labels: dict[str, Value] = {"stepless.node.kind": kind, "stepless.outcome": outcome}
        self._time("stepless.node.attempt.duration", start_ms, event.at_ms, labels)
        code = _code(event.data.get("error")) or event.data.get("code")
        failed = outcome in ("failed", "retried")
        self._count("stepless.node.attempts", {**labels, "error.type": str(code)} if failed else labels)
        if not self.trace.sampled:
            return
        attributes = {**self._of_node(event, open), "stepless.outcome": outcome, "stepless.attempt": open.attempt}
        for name, count in event.data.get("usage", {}).items():
            attributes[_USAGE.get(name, f"stepless.usage.{name}")] = count
        events: tuple[SpanEvent, ...] = ()
        if outcome == "retried":
            cause, delay_ms = str(event.data["cause"]), int(event.data["delay_ms"])
            shown: Attributes = {"stepless.retry.cause": cause, "stepless.retry.delay_ms": delay_ms}
            events = (SpanEvent("stepless.retry", event.at_ms, shown),)
        links: tuple[SpanLink, ...] = ()
        if isinstance(child, str):
            attributes["stepless.child.run.id"] = child
            links = (SpanLink(self.trace.trace_id, run_span_id(child), {"stepless.link": "child_run"}),)
        own = attempt_span_id(self._run_id, event.instance, open.attempt)
        parent, span_kind = node_span_id(self._run_id, event.instance), open.node.kind.span
        self._span(event, own, parent, f"attempt {open.node.id}", span_kind, start_ms, attributes, events, links)

    def _span(
        self, event: Event, own: str, parent: str, name: str, kind: str, start_ms: int, attributes: dict[str, Value],
        events: tuple[SpanEvent, ...], links: tuple[SpanLink, ...],
    ) -> None:  # fmt: skip
        failure = None
        if event.type in NODE_FAILURES or event.type is EventType.NODE_RETRIED:
            error = event.data.get("error", event.data)  # a retry carries the code and the message itself
            failure = _message(error) or "the attempt failed"
            attributes["error.type"] = _code(error) or "unknown"
        self.spans.append(Span(
            self.trace.trace_id, own, parent, name, kind, start_ms, max(start_ms, event.at_ms), attributes, events, links,
            failure, self.trace.flags, self.trace.state,
        ))  # fmt: skip

    def _of_node(self, event: Event, open: _Open) -> dict[str, Value]:
        return {
            **self._of_run(), "stepless.node.id": open.node.id, "stepless.node.instance": event.instance,
            "stepless.node.kind": open.node.kind.name,
        }  # fmt: skip

    def _parent_of(self, instance: str) -> str:
        """The container's span for a node inside one, else the run's."""
        _, _, containers = instance.partition("@")
        if not containers:
            return run_span_id(self._run_id)
        owner, _, outer = containers.partition("]")  # `l[2]@m[0]` is iteration 2 of `l@m[0]`
        return node_span_id(self._run_id, owner.partition("[")[0] + outer)

    def _links_of_reused(self, instance: str) -> tuple[SpanLink, ...]:
        rerun = self._meta.get("rerun")
        if not isinstance(rerun, Mapping):
            return ()
        former = str(rerun["of"])
        return (SpanLink(self._former_trace(former), node_span_id(former, instance), {"stepless.link": "reused"}),)

    # -- measurements -----------------------------------------------------------------------------------------------

    def _count(self, name: str, labels: Attributes) -> None:
        self.measures.append(Measure(name, 1, {**self._workflow, **labels}))

    def _time(self, name: str, since_ms: int, until_ms: int, labels: Attributes) -> None:
        self.measures.append(Measure(name, max(0, until_ms - since_ms) / 1000, {**self._workflow, **labels}))


def _has_attempts(node: Node) -> bool:
    return node.kind.nature is Nature.EFFECT and node.enabled


def _opened(instance: Instance, state: State) -> _Open:
    """An instance of a loaded run that has started and not settled."""
    open = _Open(instance.node, state.first_starts.get(instance.id, instance.since_ms))
    open.attempt = instance.attempt
    open.attempt_ms = instance.since_ms if instance.id in state.running else None
    wait = instance.wait
    if instance.status is Status.WAITING and wait is not None and wait.reason != "retry_backoff":
        open.wait = (wait.reason, wait.since_ms)
    return open


def _origin(meta: Mapping[str, JSON]) -> Mapping[str, Value]:
    """What started the run."""
    origin: dict[str, Value] = {}
    trigger, parent, rerun = meta.get("trigger"), meta.get("parent"), meta.get("rerun")
    if isinstance(trigger, Mapping) and isinstance(trigger.get("kind"), str):
        origin["stepless.run.trigger"] = str(trigger["kind"])
    if isinstance(parent, Mapping):
        origin["stepless.parent.run.id"] = str(parent.get("run"))
    if isinstance(rerun, Mapping):
        origin["stepless.rerun_of"] = str(rerun.get("of"))
    return origin


def _code(error: Any) -> str | None:
    code = error.get("code") if isinstance(error, Mapping) else None
    return str(code) if code is not None else None


def _message(error: Any) -> str | None:
    """The message of a failure, in which secrets were masked before it was logged."""
    message = error.get("message") if isinstance(error, Mapping) else None
    return str(message)[:MAX_SPAN_MESSAGE_CHARACTERS] if message is not None else None


_Fold = Callable[[Spans, Event], None]
_RUN_FOLDS: Final[Mapping[EventType, _Fold]] = {
    EventType.RUN_STARTED: Spans._run_started,
    EventType.RUN_STATUS_CHANGED: Spans._run_status,
    EventType.RUN_CONTINUED: Spans._run_continued,
    EventType.RUN_RECOVERED: Spans._run_recovered,
}
_NODE_FOLDS: Final[Mapping[EventType, _Fold]] = {
    EventType.NODE_STARTED: Spans._started,
    EventType.NODE_WAITING: Spans._waiting,
    EventType.NODE_RESUMED: Spans._resumed,
    EventType.NODE_RETRIED: Spans._retried,
    **dict.fromkeys(_OUTCOMES, Spans._ended),
}
SPANNED: Final = frozenset({*_RUN_FOLDS, *RUN_ENDS, *_NODE_FOLDS})
"""The events that `Spans.add` takes into account."""
