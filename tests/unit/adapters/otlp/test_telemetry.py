"""Spans and metrics on their way to a real HTTP receiver that decodes the real protobuf messages."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from collector import Collector, Reply, collector, pairs
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTracePartialSuccess, ExportTraceServiceResponse
from opentelemetry.proto.metrics.v1 import metrics_pb2
from opentelemetry.proto.trace.v1 import trace_pb2

from stepless.adapters.memory.clock import SettableClock
from stepless.adapters.otlp.settings import settings_of
from stepless.adapters.otlp.telemetry import OtlpTelemetry
from stepless.errors import CollectorUnavailable
from stepless.limits import MAX_METRIC_SERIES
from stepless.model.runs.span import CLIENT, Measure, Span, SpanEvent, SpanLink

SPAN = Span(
    "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", "00f067aa0ba902b7", "http charge", CLIENT, 1_000, 2_500,
    {"text": "ä", "count": 2**70, "small": -1, "flag": True, "part": 0.5, "broken": "\ud800"},
    (SpanEvent("stepless.retry", 2_500, {"n": 1}),),
    (SpanLink("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", {"x": "y"}),),
    "card declined", 3, "a=1", True,
)  # fmt: skip


@pytest.fixture
def target() -> Iterator[Collector]:
    with collector() as ours:
        yield ours


def telemetry(target: Collector, clock: SettableClock | None = None, **env: str) -> OtlpTelemetry:
    variables: Mapping[str, str] = {"OTEL_EXPORTER_OTLP_ENDPOINT": target.url, **env}
    settings = settings_of(variables.get)
    assert settings is not None
    return OtlpTelemetry(settings, variables.get, clock or SettableClock(5_000))


def test_a_span_arrives_whole(target: Collector) -> None:
    ours = telemetry(target, OTEL_SERVICE_NAME="orders")
    asyncio.run(ours.send_spans([SPAN]))
    (span,) = target.spans
    assert (span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex()) == (SPAN.trace_id, SPAN.span_id, SPAN.parent_id)
    assert (span.name, span.kind, span.trace_state) == ("http charge", trace_pb2.Span.SPAN_KIND_CLIENT, "a=1")
    assert (span.start_time_unix_nano, span.end_time_unix_nano) == (1_000_000_000, 2_500_000_000)
    assert span.flags == 3 | trace_pb2.SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK | trace_pb2.SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK
    assert pairs(span.attributes) == {"text": "ä", "count": str(2**70), "small": -1, "flag": True, "part": 0.5, "broken": "?"}
    assert (span.status.code, span.status.message) == (trace_pb2.Status.STATUS_CODE_ERROR, "card declined")
    assert [(event.name, event.time_unix_nano, pairs(event.attributes)) for event in span.events] == [
        ("stepless.retry", 2_500_000_000, {"n": 1})
    ]
    assert [(link.trace_id.hex(), pairs(link.attributes)) for link in span.links] == [
        ("4bf92f3577b34da6a3ce929d0e0e4736", {"x": "y"})
    ]
    assert target.resources[0]["service.name"] == "orders"
    (request,) = target.requests
    assert (request.path, request.headers["content-type"]) == ("/v1/traces", "application/x-protobuf")


@pytest.mark.parametrize(
    ("env", "headers"),
    [
        ({"OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b,Team=c"}, {"x-key": "a b", "team": "c"}),
        ({"OTEL_EXPORTER_OTLP_HEADERS": "a=1", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "b=2"}, {"b": "2"}),
        ({"OTEL_EXPORTER_OTLP_HEADERS": "ok=1,bad=a%0d%0ab,b ad=2"}, {"ok": "1"}),
        ({"OTEL_EXPORTER_OTLP_COMPRESSION": "gzip"}, {"content-encoding": "gzip"}),
    ],
)
def test_headers_and_compression(target: Collector, env: dict[str, str], headers: dict[str, str]) -> None:
    asyncio.run(telemetry(target, **env).send_spans([SPAN]))
    (request,) = target.requests
    assert {name: request.headers.get(name) for name in headers} == headers
    assert {"a", "bad"} & set(request.headers) == set()
    assert len(target.spans) == 1


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_what_may_be_accepted_later_raises(target: Collector, status: int) -> None:
    target.reply = lambda request: Reply(status)
    with pytest.raises(CollectorUnavailable):
        asyncio.run(telemetry(target).send_spans([SPAN]))


@pytest.mark.parametrize("status", [301, 400, 401, 404, 408, 413, 500])
def test_what_will_never_be_accepted_is_reported_and_dropped(
    target: Collector, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    target.reply = lambda request: Reply(status, {"location": "http://127.0.0.1:1/"})
    asyncio.run(telemetry(target, OTEL_EXPORTER_OTLP_HEADERS="x-key=hunter22").send_spans([SPAN]))
    assert f"answered {status}" in caplog.text
    assert "hunter22" not in caplog.text
    assert len(target.requests) == 1


def test_a_partial_success_is_reported_and_not_sent_again(target: Collector, caplog: pytest.LogCaptureFixture) -> None:
    refusal = ExportTraceServiceResponse(partial_success=ExportTracePartialSuccess(rejected_spans=1, error_message="too old"))
    target.reply = lambda request: Reply(body=refusal.SerializeToString())
    asyncio.run(telemetry(target).send_spans([SPAN]))
    assert "too old" in caplog.text


def test_a_collector_that_answers_with_something_else_is_understood(target: Collector) -> None:
    target.reply = lambda request: Reply(body=b"{}" + b"x" * 1_000_000)
    ours = telemetry(target)

    async def twice() -> None:
        await ours.send_spans([SPAN])
        await ours.send_spans([SPAN])

    asyncio.run(twice())
    assert len(target.spans) == 2


def test_a_closed_connection_is_opened_again(target: Collector) -> None:
    """The collector closes without saying so: the next request on that connection fails, and is tried on a new one."""
    ours = telemetry(target)

    async def twice() -> None:
        await ours.send_spans([SPAN])
        assert ours._traces is not None
        (idle,) = ours._traces._idle
        idle.sock.shutdown(2)
        await ours.send_spans([SPAN])
        ours.close()

    asyncio.run(twice())
    assert len(target.spans) == 2


def test_a_collector_that_is_not_there(target: Collector) -> None:
    target.url = "http://127.0.0.1:1"
    with pytest.raises(CollectorUnavailable, match="cannot be reached"):
        asyncio.run(telemetry(target).send_spans([SPAN]))


def test_a_delay_and_its_end_are_logged_once(target: Collector, caplog: pytest.LogCaptureFixture) -> None:
    ours = telemetry(target)
    target.reply = lambda request: Reply(503)
    for _ in range(3):
        with pytest.raises(CollectorUnavailable):
            asyncio.run(ours.send_spans([SPAN]))
    target.reply = lambda request: Reply()
    for _ in range(2):
        asyncio.run(ours.send_spans([SPAN]))
    logged = [record.message.partition(",")[0] for record in caplog.records]
    assert logged == ["telemetry is delayed", "telemetry is accepted again"]


def test_retry_after_is_respected(target: Collector) -> None:
    target.reply = lambda request: Reply(429, {"retry-after": "60"})
    ours = telemetry(target)
    for _ in range(2):
        with pytest.raises(CollectorUnavailable):
            asyncio.run(ours.send_spans([SPAN]))
    assert len(target.requests) == 1


# -- metrics ----------------------------------------------------------------------------------------------------------


def started(workflow: str = "w") -> Measure:
    return Measure("stepless.runs.started", 1, {"stepless.workflow.id": workflow})


def took(seconds: float) -> Measure:
    return Measure("stepless.run.duration", seconds, {"stepless.workflow.id": "w"})


def counts(target: Collector, name: str = "stepless.runs.started") -> list[list[int]]:
    return [[point.as_int for point in metrics[name].sum.data_points] for metrics in target.metrics]


def sent(ours: OtlpTelemetry, *measures: Measure) -> None:
    asyncio.run(ours.send_measures(measures))


def test_counters_and_histograms_arrive(target: Collector) -> None:
    sent(telemetry(target), started(), started(), took(0.02), took(3.0), took(1e9))
    (metrics,) = target.metrics
    total = metrics["stepless.runs.started"].sum
    assert (total.is_monotonic, total.aggregation_temporality) == (True, metrics_pb2.AGGREGATION_TEMPORALITY_CUMULATIVE)
    (point,) = total.data_points
    assert (point.as_int, point.start_time_unix_nano) == (2, 5_000_000_000)
    assert pairs(point.attributes) == {"stepless.workflow.id": "w"}
    assert metrics["stepless.run.duration"].unit == "s"
    (series,) = metrics["stepless.run.duration"].histogram.data_points
    assert (series.count, series.sum, series.min, series.max) == (3, pytest.approx(1e9 + 3.02), 0.02, 1e9)
    assert len(series.bucket_counts) == len(series.explicit_bounds) + 1
    bounds = [*series.explicit_bounds, float("inf")]
    held = [bound for bound, number in zip(bounds, series.bucket_counts, strict=True) for _ in range(number)]
    assert held == [0.025, 5.0, float("inf")]


def test_cumulative_totals_grow_and_deltas_do_not(target: Collector) -> None:
    grown = telemetry(target)
    sent(grown, started())
    sent(grown, started())
    assert counts(target) == [[1], [2]]
    clock = SettableClock(5_000)
    delta = telemetry(target, clock, OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE="delta")
    sent(delta, started())
    clock.advance(1_000)
    sent(delta, started(), started())
    assert counts(target)[2:] == [[1], [2]]
    (point,) = target.metrics[-1]["stepless.runs.started"].sum.data_points
    assert (point.start_time_unix_nano, point.time_unix_nano) == (5_000_000_000, 6_000_000_000)


@pytest.mark.parametrize(("preference", "expected"), [("cumulative", [[2], [3]]), ("delta", [[2], [1]])])
def test_what_was_not_accepted_is_counted_once_with_the_next(target: Collector, preference: str, expected: Any) -> None:
    ours = telemetry(target, OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=preference)
    target.reply = lambda request: Reply(503)
    for measures in ([started(), took(1)], [started()]):
        with pytest.raises(CollectorUnavailable):
            sent(ours, *measures)
    target.reply = lambda request: Reply()
    sent(ours)  # the same facts come again: they are counted already, and only sent
    assert counts(target) == [[2]]
    sent(ours)
    assert len(target.metrics) == 1
    sent(ours, started())
    assert counts(target) == expected


def test_the_number_of_series_is_bounded(target: Collector) -> None:
    ours = telemetry(target)
    sent(ours, *(started(str(number)) for number in range(MAX_METRIC_SERIES + 100)), started("0"))
    points = target.metrics[0]["stepless.runs.started"].sum.data_points
    assert len(points) == MAX_METRIC_SERIES + 1
    assert sum(point.as_int for point in points) == MAX_METRIC_SERIES + 101
    assert [point.as_int for point in points if pairs(point.attributes) == {"otel.metric.overflow": True}] == [100]
