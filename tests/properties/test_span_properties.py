"""What must hold for the spans of every run, wherever one invocation ended and the next began."""

from __future__ import annotations

from typing import Any

from graphs import scenarios
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepless.compile import compile_document
from stepless.core.decide import decide
from stepless.core.deciding.pauses import next_due_ms
from stepless.core.events import NODE_ENDS, RUN_ENDS, Event, EventType
from stepless.core.facts import Answered, Begin, Completed, Fact, Failed, Failure, Recovered, Tick
from stepless.core.fold import fold
from stepless.core.history.spans import Spans
from stepless.core.state import State
from stepless.core.stored.snapshot import decode_state, encode_state
from stepless.model.graph import Graph
from stepless.model.kind import Outcome
from stepless.model.runs.span import Span
from stepless.model.runs.traceparent import node_span_id, run_span_id, trace_id
from stepless.nodes import KINDS

relaxed = settings(max_examples=100, suppress_health_check=list(HealthCheck))
RUN = "run_1"


def played(graph: Graph, outcomes: dict[str, Any], draw: Any) -> tuple[list[Event], list[int]]:
    """A run to its end, with the sequence numbers after its decisions. Some invocations die, some attempts fail at first."""
    state, events, ends, now_ms = State(graph, RUN), list[Event](), list[int](), 1_000
    facts: list[Fact] = [Begin()]
    while not state.ended:
        now_ms += draw(st.integers(1, 50))
        events += decide(state, facts, now_ms).events
        ends.append(state.sequence)
        under_way = sorted([*state.running, *state.waiting])
        if not under_way:
            now_ms = max(now_ms, next_due_ms(state) or 0)
            facts = [Tick()]
        elif state.running and len(events) < 200 and draw(st.integers(0, 9)) == 0:
            facts = [Recovered()]
        else:
            facts = [_end_of(state, outcomes, draw(st.sampled_from(under_way)), again=draw(st.booleans()))]
    return events, ends


def _end_of(state: State, outcomes: dict[str, Any], instance: str, *, again: bool) -> Fact:
    ((what, options),) = outcomes[instance.partition("@")[0]].items()
    if instance in state.waiting:
        return Answered(instance, options["handle"])
    attempt = state.running[instance].attempt
    if what == "fail" or (again and attempt < state.running[instance].node.retry.attempts):
        return Failed(instance, attempt, Failure(options.get("cause", "provider_error") if what == "fail" else "provider_error"))
    return Completed(instance, attempt, Outcome(instance.partition("@")[0], options.get("handle", "source")))


def _retrying(document: dict[str, Any]) -> dict[str, Any]:
    for node in document["nodes"].values():
        if node["type"] == "function":
            node.setdefault("retry", {"attempts": 3, "backoff_ms": 10})
    return document


def spans_of(graph: Graph, events: list[Event]) -> list[Span]:
    spans = Spans(graph, RUN, {}, 1)
    for event in events:
        spans.add(event)
    return spans.spans


@relaxed
@given(scenarios(), st.data())
def test_every_instance_that_started_has_one_span_and_every_parent_is_there(scenario: Any, data: st.DataObject) -> None:
    document, outcomes = scenario
    graph = compile_document(_retrying(document), KINDS)
    events, _ = played(graph, outcomes, data.draw)
    spans = spans_of(graph, events)
    ids = [span.span_id for span in spans]
    assert len(ids) == len(set(ids))
    assert {span.parent_id for span in spans} - {""} <= set(ids)
    assert {span.trace_id for span in spans} == {trace_id(RUN)}
    assert [span.span_id for span in spans if not span.parent_id] == [run_span_id(RUN)] == ids[-1:]
    started = {event.instance for event in events if event.type is EventType.NODE_STARTED}
    nodes = {span.span_id for span in spans if "stepless.node.status" in span.attributes}
    assert nodes == {node_span_id(RUN, instance) for instance in started}
    within = {span.span_id: span for span in spans}
    for span in spans:
        around = within.get(span.parent_id, span)
        assert around.start_ms <= span.start_ms <= span.end_ms <= around.end_ms


@relaxed
@given(scenarios(), st.data())
def test_no_span_is_given_before_the_event_that_ends_it(scenario: Any, data: st.DataObject) -> None:
    document, outcomes = scenario
    graph = compile_document(_retrying(document), KINDS)
    events, _ = played(graph, outcomes, data.draw)
    spans, ending = Spans(graph, RUN, {}, 1), NODE_ENDS | RUN_ENDS | {EventType.NODE_RETRIED, EventType.NODE_WAITING}
    for event in events:
        before = len(spans.spans)
        spans.add(event)
        assert len(spans.spans) == before or event.type in ending
        assert all(span.end_ms == event.at_ms for span in spans.spans[before:])


@relaxed
@given(scenarios(), st.data())
def test_the_spans_do_not_depend_on_where_an_invocation_ended(scenario: Any, data: st.DataObject) -> None:
    document, outcomes = scenario
    graph = compile_document(_retrying(document), KINDS)
    events, ends = played(graph, outcomes, data.draw)
    whole = Spans(graph, RUN, {}, 1)
    cuts = sorted(data.draw(st.sets(st.sampled_from(ends), max_size=4)))
    found, measures, state = list[Span](), list[Any](), State(graph, RUN)
    for first, last in zip([0, *cuts], [*cuts, len(events)], strict=True):
        part = Spans(graph, RUN, {}, 1)
        if data.draw(st.booleans()) and first:
            state = decode_state(encode_state(state), graph, RUN)
        part.resume(state)
        for event in events[first:last]:
            part.add(event)
            fold(state, event)
            state.notes.clear()
        found += part.spans
        measures += part.measures
    for event in events:
        whole.add(event)
    assert found == whole.spans
    assert measures == whole.measures
