"""What the spans of a run say: names, kinds, parents, times, failures, pauses, retries, links."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from stepless.compile import compile_document
from stepless.core.decide import decide
from stepless.core.events import Event
from stepless.core.facts import (
    Answered,
    Begin,
    CancelRequested,
    ChildChanged,
    Completed,
    Fact,
    Failed,
    Failure,
    Recovered,
    Suspended,
    Tick,
)
from stepless.core.history.spans import Spans
from stepless.core.state import State
from stepless.limits import MAX_SPAN_MESSAGE_CHARACTERS
from stepless.model.kind import Outcome, Pause
from stepless.model.runs.span import Span
from stepless.model.runs.traceparent import attempt_span_id, node_span_id, run_span_id, trace_id
from stepless.nodes import KINDS

RUN = "run_1"
Nodes = Mapping[str, Any]


def work(after: Any = None, kind: str = "function", **more: Any) -> dict[str, Any]:
    params = {"function": {"call": "test.echo"}, "http": {"url": "https://a.example"}, "workflow": {"workflow": "child"}}[kind]
    return {"type": kind, "with": params, **({"after": after} if after else {}), **more}


class Told:
    """A run whose facts come from the test, and its spans."""

    def __init__(self, nodes: Nodes, meta: Mapping[str, Any], env: Mapping[str, str], **top: Any) -> None:
        self.graph = compile_document({"id": "small", "env": list(env), **top, "nodes": nodes}, KINDS)
        self.state, self.env = State(self.graph, RUN), env
        self.events: list[Event] = []
        self.traced = Spans(self.graph, RUN, meta, 500)

    def at(self, now_ms: int, *facts: Fact) -> Told:
        for event in decide(self.state, facts, now_ms, env=self.env).events:
            self.traced.add(event)
            self.events.append(event)
        return self

    def find(self, name: str) -> Span:
        (span,) = (span for span in self.traced.spans if span.name == name)
        return span


@pytest.fixture
def tell() -> Callable[..., Told]:
    def made(nodes: Nodes, *, meta: Mapping[str, Any] | None = None, env: Mapping[str, str] | None = None, **top: Any) -> Told:
        return Told(nodes, meta or {}, env or {}, **top)

    return made


def test_a_run_has_a_span_with_its_nodes_and_their_attempts_below(tell: Any) -> None:
    told = tell({"a": work(kind="http")}, meta={"trigger": {"kind": "webhook"}}).at(1_000, Begin())
    assert told.traced.spans == []
    told.at(1_250, Completed("a", 1, Outcome("secret output"), {"input_tokens": 3, "images": 2}))
    attempt, node, run = told.traced.spans
    assert (run.name, run.kind, run.parent_id, run.start_ms, run.end_ms) == ("run small", "consumer", "", 1_000, 1_250)
    assert (node.name, node.kind, node.parent_id) == ("http a", "internal", run_span_id(RUN))
    assert (attempt.name, attempt.kind, attempt.parent_id) == ("attempt a", "client", node_span_id(RUN, "a"))
    assert {span.trace_id for span in told.traced.spans} == {trace_id(RUN)}
    assert (run.span_id, node.span_id) == (run_span_id(RUN), node_span_id(RUN, "a"))
    assert attempt.span_id == attempt_span_id(RUN, "a", 1)
    assert run.attributes == {
        "stepless.workflow.id": "small", "stepless.run.id": RUN, "stepless.run.status": "completed",
        "stepless.workflow.version": told.graph.version, "stepless.run.steps": 1, "stepless.run.failures": 0,
        "stepless.run.handovers": 0, "stepless.run.paused_ms": 0, "stepless.run.trigger": "webhook",
    }  # fmt: skip
    assert node.attributes == {
        "stepless.workflow.id": "small", "stepless.run.id": RUN, "stepless.node.id": "a", "stepless.node.instance": "a",
        "stepless.node.kind": "http", "stepless.node.status": "completed", "stepless.node.attempts": 1,
    }  # fmt: skip
    assert attempt.attributes["gen_ai.usage.input_tokens"] == 3
    assert attempt.attributes["stepless.usage.images"] == 2
    assert "secret output" not in repr(told.traced.spans)
    assert [span.error for span in told.traced.spans] == [None] * 3


def test_each_attempt_has_a_span_and_a_retry_is_its_event(tell: Any) -> None:
    told = tell({"a": work(retry={"attempts": 2, "backoff_ms": 100})}).at(1_000, Begin())
    told.at(1_010, Failed("a", 1, Failure("provider_error", "busy", "come back"), 1.0))
    (first,) = told.traced.spans
    assert (first.start_ms, first.end_ms, first.error) == (1_000, 1_010, "come back")
    assert (first.attributes["stepless.outcome"], first.attributes["error.type"]) == ("retried", "busy")
    shown = {"stepless.retry.cause": "provider_error", "stepless.retry.delay_ms": 100}
    assert first.events == (("stepless.retry", 1_010, shown),)
    told.at(1_200, Tick()).at(1_300, Failed("a", 2, Failure("provider_error", "busy", "never"), 1.0))
    second, node, run = told.traced.spans[1:]
    assert (second.span_id, second.start_ms, second.end_ms) == (attempt_span_id(RUN, "a", 2), 1_200, 1_300)
    assert (node.start_ms, node.end_ms, node.error, node.attributes["stepless.node.attempts"]) == (1_000, 1_300, "never", 2)
    assert (run.error, run.attributes["error.type"], run.attributes["stepless.run.status"]) == ("never", "busy", "failed")


def test_a_pause_leaves_no_span_open_and_is_told_by_the_nodes_events(tell: Any) -> None:
    told = tell({"ask": {"type": "approval", "with": {"message": "?"}}}).at(1_000, Begin())
    assert told.traced.spans == []
    told.at(90_000_000, Answered("ask", "approved"))
    node, run = told.traced.spans
    assert (node.name, node.start_ms, node.end_ms) == ("approval ask", 1_000, 90_000_000)
    assert [(event.name, event.at_ms) for event in node.events] == [("stepless.pause", 1_000), ("stepless.resume", 90_000_000)]
    assert node.events[1].attributes == {"stepless.wait.reason": "human_input", "stepless.handle": "approved"}
    assert "stepless.node.attempts" not in node.attributes
    assert run.attributes["stepless.run.paused_ms"] == 90_000_000 - 1_000


def test_an_attempt_that_suspends_ends_and_the_child_run_is_linked(tell: Any) -> None:
    told = tell({"call": work(kind="workflow")}).at(1_000, Begin())
    told.at(1_100, Suspended("call", 1, Pause("subrun", exits=(), details={"workflow": "child", "run": "run_2"})))
    (attempt,) = told.traced.spans
    assert (attempt.kind, attempt.start_ms, attempt.end_ms) == ("producer", 1_000, 1_100)
    assert attempt.attributes["stepless.child.run.id"] == "run_2"
    assert attempt.links == ((trace_id(RUN), run_span_id("run_2"), {"stepless.link": "child_run"}),)
    told.at(1_200, ChildChanged("call", "paused")).at(1_300, ChildChanged("call", "completed", {"x": 1}))
    assert [span.name for span in told.traced.spans[1:]] == ["workflow call", "run small"]


def test_a_child_run_and_a_traced_start_have_a_remote_parent(tell: Any) -> None:
    stored = {"parent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "state": "a=1"}
    told = tell({"a": {"type": "transform", "with": {"value": 1}}}, meta={"trace": stored, "parent": {"run": "run_0"}})
    told.at(1_000, Begin())
    node, run = told.traced.spans
    assert (run.parent_id, run.remote, run.state) == ("b7ad6b7169203331", True, "a=1")
    assert (node.remote, node.state, node.start_ms, node.end_ms) == (False, "a=1", 1_000, 1_000)
    assert {span.trace_id for span in told.traced.spans} == {"0af7651916cd43dd8448eb211c80319c"}
    assert run.attributes["stepless.parent.run.id"] == "run_0"


def test_an_unsampled_run_has_measurements_and_no_spans(tell: Any) -> None:
    stored = {"parent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"}
    told = tell({"a": work()}, meta={"trace": stored}).at(1_000, Begin()).at(1_500, Completed("a", 1, Outcome(1)))
    assert told.traced.spans == []
    assert [(one.name, one.value, one.attributes.get("stepless.outcome") or one.attributes.get("stepless.run.status"))
            for one in told.traced.measures] == [
        ("stepless.runs.started", 1, None), ("stepless.run.start_delay", 0.5, None),
        ("stepless.node.attempt.duration", 0.5, "completed"), ("stepless.node.attempts", 1, "completed"),
        ("stepless.runs.ended", 1, "completed"), ("stepless.run.duration", 0.5, "completed"),
    ]  # fmt: skip


@pytest.mark.parametrize(("trace", "former"), [({}, trace_id("run_0")), ({"trace": {"former": "ab" * 16}}, "ab" * 16)])
def test_a_rerun_links_to_the_former_run_and_to_what_it_reuses(tell: Any, trace: Mapping[str, Any], former: str) -> None:
    meta = {"rerun": {"of": "run_0", "from": "b"}, **trace}
    told = tell({"a": work(), "b": work("a")}, meta=meta)
    told.at(1_000, Begin({}, {}, {"a": {"output": 1}})).at(1_100, Completed("b", 1, Outcome(2)))
    run, reused = told.find("run small"), told.find("function a")
    assert run.links == ((former, run_span_id("run_0"), {"stepless.link": "rerun_of"}),)
    assert reused.links == ((former, node_span_id("run_0", "a"), {"stepless.link": "reused"}),)
    assert reused.attributes["stepless.node.reused"] is True
    assert [span.name for span in told.traced.spans] == ["function a", "attempt b", "function b", "run small"]


def test_a_recovered_attempt_spans_its_last_repetition_and_its_node_all(tell: Any) -> None:
    told = tell({"a": work()}).at(1_000, Begin()).at(5_000, Recovered()).at(5_100, Completed("a", 1, Outcome(1)))
    attempt, node, _ = told.traced.spans
    assert (attempt.start_ms, attempt.end_ms, node.start_ms) == (5_000, 5_100, 1_000)
    assert "stepless.runs.recovered" in [one.name for one in told.traced.measures]


def test_what_is_cancelled_or_never_ran(tell: Any) -> None:
    told = tell({"a": work(), "b": work("a")}).at(1_000, Begin()).at(1_100, CancelRequested())
    assert [span.name for span in told.traced.spans] == ["attempt a", "function a", "run small"]
    attempt, node, run = told.traced.spans
    assert (attempt.attributes["stepless.outcome"], node.attributes["stepless.node.status"]) == ("cancelled", "cancelled")
    assert node.attributes["stepless.node.reason"] == "run_cancelled"
    assert run.attributes["stepless.run.status"] == "cancelled"
    assert [span.error for span in told.traced.spans] == [None] * 3


def test_a_run_that_times_out_is_an_error(tell: Any) -> None:
    told = tell({"a": work()}, timeout="10s").at(1_000, Begin()).at(12_000, Tick())
    run = told.find("run small")
    assert (run.attributes["stepless.run.status"], run.attributes["error.type"]) == ("timed_out", "timed_out")
    assert run.error == "the run timed out"


def test_turns_are_below_their_container(tell: Any) -> None:
    body = {"a": {"type": "transform", "with": {"value": 1}}}
    inner = {"type": "parallel", "with": {"items": [1, 2], "body": {"nodes": body}}}
    outer = {"type": "loop", "with": {"times": 2, "body": {"nodes": {"inner": inner}}}}
    told = tell({"outer": outer}).at(1_000, Begin())
    parents = {str(span.attributes["stepless.node.instance"]): span.parent_id for span in told.traced.spans[:-1]}
    assert len(parents) == 1 + 2 + 4
    assert parents["outer"] == run_span_id(RUN)
    assert parents["inner@outer[1]"] == node_span_id(RUN, "outer")
    assert parents["a@inner[0]@outer[1]"] == node_span_id(RUN, "inner@outer[1]")


def test_messages_are_masked_and_bounded(tell: Any) -> None:
    told = tell({"a": work()}, env={"KEY": "hunter22hunter"}).at(1_000, Begin())
    told.at(1_100, Failed("a", 1, Failure("provider_error", "x", "hunter22hunter " + "y" * 5_000), 1.0))
    assert "hunter22" not in repr(told.traced.spans)
    for span in told.traced.spans:
        assert span.error is not None
        assert span.error.startswith("*** yyy")
        assert len(span.error) == MAX_SPAN_MESSAGE_CHARACTERS
