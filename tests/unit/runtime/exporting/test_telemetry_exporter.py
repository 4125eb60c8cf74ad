"""Traces of real runs at a real OTLP receiver: one trace over all processes, no span of what waits, the same ids each time."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from collector import Collector, Reply, collector, pairs

from stepless.adapters.memory.secrets import MemorySecrets
from stepless.core.events import Event, EventType
from stepless.model.runs.span import Measure, Span
from stepless.model.runs.traceparent import attempt_span_id, node_span_id, run_span_id, trace_id
from stepless.nodes.function.registry import function
from stepless.ports import OpenStore
from stepless.runtime.exporting.relay import Relay
from stepless.runtime.exporting.telemetry import TelemetryExporter
from stepless.runtime.session.pauses.children import child_id
from stepless.runtime.wiring.exporting import log_reader
from stepless.runtime.wiring.local import Local, assemble, local
from stepless.runtime.wiring.single_run import serving

CHILD = {"id": "child", "nodes": {"work": {"type": "function", "with": {"call": "traced.work"}}}}
WORKFLOW = {
    "id": "w", "env": ["KEY"],
    "nodes": {
        "fail": {"type": "function", "with": {"call": "traced.fails"}, "retry": {"attempts": 2, "backoff_ms": 1}},
        "after": {"type": "transform", "after": "fail.error", "with": {"value": 1}},
        "ask": {"type": "approval", "after": "after", "with": {"message": "Go on?"}},
        "call": {"type": "workflow", "after": "ask.approved", "with": {"workflow": "child"}},
    },
}  # fmt: skip


@function("traced.work")
def work() -> str:
    return "an output"


@function("traced.fails")
def fails() -> str:
    raise ValueError("the key hunter22hunter is wrong")


@pytest.fixture
def target() -> Iterator[Collector]:
    with collector() as ours:
        yield ours


def secrets(target: Collector) -> MemorySecrets:
    return MemorySecrets({"OTEL_EXPORTER_OTLP_ENDPOINT": target.url, "OTEL_SERVICE_NAME": "orders", "KEY": "hunter22hunter"})


def exports(built: Local) -> bool:
    """Whether anything of the runs of a workflow is exported, as a session asks. Asked twice: the answer is made once."""
    built.service.publish(CHILD)
    version = built.world.store.newest_version("child")
    relay = built.runner._world.relay
    assert version is not None
    assert relay is not None
    graph = built.world.versions.graph("child", version.hash)
    return relay.concerns(graph) and relay.concerns(graph)


def another(built: Local, target: Collector) -> Local:
    """Another process over the same store."""
    return assemble(OpenStore(built.world.store, built.world.blobs), 60_000, secrets(target))


async def until(built: Local, done: Callable[[], bool]) -> None:
    changed = asyncio.Event()
    built.host.on_ending = lambda _: changed.set()
    async with serving(built), asyncio.timeout(20):
        while not done():
            await changed.wait()
            changed.clear()


def status(built: Local, run_id: str) -> str:
    head = built.world.store.get_run(run_id)
    assert head is not None
    return head.status if head.owner is None else "in session"


def test_one_trace_over_two_processes_a_pause_a_retry_and_a_child(target: Collector) -> None:
    first = local(None, secrets=secrets(target))
    for document in (CHILD, WORKFLOW):
        first.service.publish(document)
    run_id = first.service.start("w", {}).run_id
    asyncio.run(until(first, lambda: status(first, run_id) == "paused"))
    names = sorted(span.name for span in target.spans)
    assert names == ["attempt fail", "attempt fail", "function fail", "transform after"]  # no span of what waits
    second = another(first, target)
    second.service.answer_pause(run_id, "ask", "approved", {}, "ada")
    asyncio.run(until(second, lambda: status(second, run_id) == "completed"))
    spans = {span.span_id.hex(): span for span in target.spans}
    assert len(spans) == len(target.spans)
    assert {span.trace_id.hex() for span in spans.values()} == {trace_id(run_id)}
    child = child_id(f"{run_id}:call")
    tree = {own: span.parent_span_id.hex() for own, span in spans.items()}
    assert tree == {
        run_span_id(run_id): "",
        node_span_id(run_id, "fail"): run_span_id(run_id),
        attempt_span_id(run_id, "fail", 1): node_span_id(run_id, "fail"),
        attempt_span_id(run_id, "fail", 2): node_span_id(run_id, "fail"),
        node_span_id(run_id, "after"): run_span_id(run_id),
        node_span_id(run_id, "ask"): run_span_id(run_id),
        node_span_id(run_id, "call"): run_span_id(run_id),
        attempt_span_id(run_id, "call", 1): node_span_id(run_id, "call"),
        run_span_id(child): attempt_span_id(run_id, "call", 1),
        node_span_id(child, "work"): run_span_id(child),
        attempt_span_id(child, "work", 1): node_span_id(child, "work"),
    }
    ask = spans[node_span_id(run_id, "ask")]
    assert [event.name for event in ask.events] == ["stepless.pause", "stepless.resume"]
    failed = spans[node_span_id(run_id, "fail")]
    assert (failed.status.message, pairs(failed.attributes)["error.type"]) == ("the key *** is wrong", "value_error")
    sent = b"".join(request.body for request in target.requests)
    assert all(text not in sent for text in (b"hunter22", b"an output", b"ada", b"Go on?"))
    assert {resource["service.name"] for resource in target.resources} == {"orders"}
    ended = [metrics["stepless.runs.ended"].sum.data_points for metrics in target.metrics if "stepless.runs.ended" in metrics]
    assert {(pairs(point.attributes)["stepless.workflow.id"], point.as_int) for point in ended[-1]} == {("w", 1), ("child", 1)}


def test_a_collector_that_is_down_gets_everything_later_with_the_same_ids(target: Collector) -> None:
    """The run ends meanwhile. Another process exports what is left when the run is due for it, from the log alone."""
    target.reply = lambda request: Reply(503)
    first = local(None, secrets=secrets(target))
    first.service.publish(CHILD)
    run_id = first.service.start("child", {}).run_id
    asyncio.run(until(first, lambda: status(first, run_id) == "completed"))
    assert target.spans == []
    head = first.world.store.get_run(run_id)
    assert head is not None
    assert head.due_ms is not None
    first.world.store.touch_run(run_id, 0)
    target.reply = lambda request: Reply()
    second = another(first, target)

    def exported() -> bool:
        head = second.world.store.get_run(run_id)
        return head is not None and head.owner is None and head.due_ms is None

    asyncio.run(until(second, exported))
    own = [run_span_id(run_id), node_span_id(run_id, "work"), attempt_span_id(run_id, "work", 1)]
    assert sorted(span.span_id.hex() for span in target.spans) == sorted(own)


def test_an_unsampled_run_sends_metrics_only(target: Collector) -> None:
    built = local(None, secrets=secrets(target))
    built.service.publish(CHILD)
    parent = {"trace": {"parent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"}}
    run_id = built.service.start("child", {}, meta=parent).run_id
    asyncio.run(until(built, lambda: status(built, run_id) == "completed"))
    assert target.spans == []
    assert "stepless.runs.ended" in target.metrics[-1]


@pytest.mark.parametrize("variables", [{}, {"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}])
def test_nothing_is_exported_without_an_endpoint(variables: Mapping[str, str]) -> None:
    built = local(None, secrets=MemorySecrets(dict(variables)))
    assert not exports(built)
    assert not built.world.traces


def test_a_missing_extra_is_logged_once_and_changes_nothing(
    target: Collector, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delitem(sys.modules, "stepless.adapters.otlp.telemetry", raising=False)
    monkeypatch.delitem(sys.modules, "stepless.adapters.otlp.encoding", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.proto.trace", None)
    monkeypatch.setitem(sys.modules, "opentelemetry.proto.trace.v1", None)
    built = local(None, secrets=secrets(target))
    assert not exports(built)
    assert caplog.text.count("install stepless[otel]") == 1


class Kept:
    """The port, in memory."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.measures: list[Measure] = []

    async def send_spans(self, spans: Sequence[Span]) -> None:
        self.spans += spans

    async def send_measures(self, measures: Sequence[Measure]) -> None:
        self.measures += measures


def test_a_run_in_flight_when_the_export_is_turned_on_is_exported_from_its_start(exporting: Any, node: Any) -> None:
    machine = exporting()
    run_id = machine.start({"a": node(), "ask": {"type": "approval", "after": "a", "with": {"message": "?"}}})
    machine.drain()
    kept = Kept()
    exporter = TelemetryExporter(kept, log_reader(machine.store, machine.world.blobs))
    machine.world = replace(machine.world, relay=Relay([exporter], machine.world.meter))
    machine.runner = machine.process()
    machine.service.answer_pause(run_id, "ask", "approved", {}, "ada")
    machine.drain()
    assert [span.name.partition(" ")[0] for span in kept.spans] == ["attempt", "function", "approval", "run"]


def test_it_selects_no_event_that_matters_to_no_span() -> None:
    exporter = TelemetryExporter(Kept(), lambda run_id, after: iter(()))
    chosen = {kind for kind in EventType if exporter.selects(Event(1, kind, 0, "", 0, {}))}
    assert not chosen & {EventType.NODE_LOG, EventType.NODE_DELTA, EventType.HEARTBEAT, EventType.NODE_QUEUED}
    assert len(chosen) == 19


def test_without_an_endpoint_a_run_imports_nothing_of_the_export() -> None:
    """Asked of a fresh interpreter. With an endpoint, the same run does import it: the question can be answered with yes."""
    source = (
        "import sys, stepless; stepless.run({'id': 'w', 'nodes': {'a': {'type': 'transform', 'with': {'value': 1}}}}, {});"
        "print(*sorted({'opentelemetry', 'google.protobuf', 'stepless.adapters.otlp', 'stepless.core.history.spans',"
        " 'stepless.runtime.exporting.relay', 'stepless.runtime.exporting.telemetry'} & set(sys.modules)))"
    )
    found = []
    for variables in ({}, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}):
        others = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
        done = subprocess.run(
            [sys.executable, "-c", source], env={**others, **variables}, capture_output=True, text=True, check=True, timeout=60
        )
        found.append(done.stdout.split())
    assert (found[0], len(found[1])) == ([], 6)
