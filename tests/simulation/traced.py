"""A collector of spans in a world, and the check of what it received: every span of every run at least once, always the same,
each with its parent, and none before the event that ends it is in the log."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from faults import Line
from journal import Violation
from virtual_time import Actor, passing

from stepless.core.history.spans import Spans
from stepless.errors import CollectorUnavailable
from stepless.model.runs.span import Measure, Span
from stepless.model.runs.traceparent import node_span_id, run_span_id

if TYPE_CHECKING:
    from episode import Episode


class Traces:
    """The spans that a collector has received, by id, each with how often it came."""

    def __init__(self, episode: Episode) -> None:
        self.episode = episode
        self.received: dict[str, Span] = {}
        self.times: dict[str, int] = {}

    def telemetry(self, actor: Actor) -> Telemetry:
        return Telemetry(self, Line(actor, self.episode.chance))

    def receive(self, span: Span) -> None:
        known = self._expected(str(span.attributes["stepless.run.id"])).get(span.span_id)
        if known != span:
            self._fails(f"a span shows what is in the log: {span} is not {known}")
        self.received[span.span_id] = span
        self.times[span.span_id] = self.times.get(span.span_id, 0) + 1

    def _fails(self, why: str) -> None:
        violation = Violation(why)
        self.episode.schedule.failure = self.episode.schedule.failure or violation
        raise violation

    def _expected(self, run_id: str) -> Mapping[str, Span]:
        """The spans that have ended by what is in the log now, folded by one reader from its beginning."""
        head = self.episode.ground.created[run_id]
        graph = self.episode.plain_versions.graph(head.workflow_id, head.version)
        spans = Spans(graph, run_id, json.loads(head.meta), head.created_ms)
        for event in self.episode.journal.runs[run_id].events:
            spans.add(event)
        return {span.span_id: span for span in spans.spans}

    def check(self) -> None:
        for run_id in self.episode.names.keys() - self.episode.erasures.forced:
            missing = [span.name for own, span in self._expected(run_id).items() if own not in self.received]
            if missing:
                raise Violation(f"every span is delivered: {missing} of {run_id} are not")
        begun = {
            node_span_id(run_id, event.instance) for run_id in self.episode.names
            for event in self.episode.journal.runs[run_id].events if event.instance
        } | {run_span_id(run_id) for run_id in self.episode.names}  # fmt: skip
        for span in self.received.values():
            if span.parent_id and span.parent_id not in self.received and span.parent_id not in begun:
                raise Violation(f"every parent is there: that of {span} is not")


class Telemetry:
    """The port, with each span in a call of its own, so that a process may die between any two."""

    def __init__(self, traces: Traces, line: Line) -> None:
        self._traces = traces
        self._line = line

    async def send_spans(self, spans: Sequence[Span]) -> None:
        received = self._accepted(len(spans))
        for span in spans[:received]:
            await self._passes()
            self._line.call("export", lambda span=span: self._traces.receive(span))  # type: ignore[misc]
        if received < len(spans):
            raise CollectorUnavailable("refused")

    async def send_measures(self, measures: Sequence[Measure]) -> None:
        if self._accepted(len(measures)) < len(measures):
            raise CollectorUnavailable("refused")

    def _accepted(self, number: int) -> int:
        """How many of them arrive: all, unless the request fails in between."""
        episode = self._traces.episode
        refused = number and episode.chance.happens(episode.parts.outage)
        return episode.chance.random.randrange(number) if refused else number

    async def _passes(self) -> None:
        await passing(self._traces.episode.chance.random.choice((0, 2, 100)))
