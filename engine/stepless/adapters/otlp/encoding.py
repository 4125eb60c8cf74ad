"""Encodes spans and metrics as OTLP requests, with the message classes of `opentelemetry-proto`, and reads the responses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest, ExportTraceServiceResponse
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.metrics.v1 import metrics_pb2
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1 import trace_pb2

from stepless.adapters.otlp.aggregates import BOUNDS_S, Aggregates, Point, is_timed
from stepless.model.runs.span import CLIENT, CONSUMER, INTERNAL, PRODUCER, Attributes, Span, Value

SCOPE: Final = "stepless"
_HAS_REMOTE: Final = 0x100  # the flags of OTLP say whether the parent is remote
_REMOTE: Final = 0x200
_KINDS: Final[Mapping[str, trace_pb2.Span.SpanKind.ValueType]] = {
    INTERNAL: trace_pb2.Span.SPAN_KIND_INTERNAL, CLIENT: trace_pb2.Span.SPAN_KIND_CLIENT,
    PRODUCER: trace_pb2.Span.SPAN_KIND_PRODUCER, CONSUMER: trace_pb2.Span.SPAN_KIND_CONSUMER,
}  # fmt: skip
_NS: Final = 1_000_000


def encoded_spans(spans: Sequence[Span], resource: Mapping[str, str]) -> bytes:
    """Returns one request to `v1/traces`."""
    scoped = trace_pb2.ScopeSpans(scope=InstrumentationScope(name=SCOPE), spans=map(_span, spans))
    ours = trace_pb2.ResourceSpans(resource=_resource(resource), scope_spans=[scoped])
    encoded: bytes = ExportTraceServiceRequest(resource_spans=[ours]).SerializeToString()
    return encoded


def encoded_metrics(aggregates: Aggregates, resource: Mapping[str, str], now_ms: int, *, delta: bool) -> bytes:
    """Returns one request to `v1/metrics`."""
    metrics: dict[str, metrics_pb2.Metric] = {}
    temporality = metrics_pb2.AGGREGATION_TEMPORALITY_DELTA if delta else metrics_pb2.AGGREGATION_TEMPORALITY_CUMULATIVE
    for name, labels, point in aggregates:
        metric = metrics.setdefault(name, _metric(name, temporality))
        _add_point(metric, labels, point, aggregates.since_ms * _NS, now_ms * _NS)
    scoped = metrics_pb2.ScopeMetrics(scope=InstrumentationScope(name=SCOPE), metrics=metrics.values())
    ours = metrics_pb2.ResourceMetrics(resource=_resource(resource), scope_metrics=[scoped])
    encoded: bytes = ExportMetricsServiceRequest(resource_metrics=[ours]).SerializeToString()
    return encoded


def rejected(body: bytes, *, traces: bool) -> tuple[int, str]:
    """Returns how many spans or points a collector refused for good although it accepted the request, and why."""
    try:
        if traces:
            spans = ExportTraceServiceResponse.FromString(body).partial_success
            return spans.rejected_spans, spans.error_message
        points = ExportMetricsServiceResponse.FromString(body).partial_success
        return points.rejected_data_points, points.error_message
    except DecodeError:
        return 0, ""  # a status of 200 decides; some collectors answer with JSON, or with nothing


def _span(span: Span) -> trace_pb2.Span:
    status = trace_pb2.Status()
    if span.error is not None:
        status = trace_pb2.Status(code=trace_pb2.Status.STATUS_CODE_ERROR, message=_text(span.error))
    return trace_pb2.Span(
        trace_id=bytes.fromhex(span.trace_id),
        span_id=bytes.fromhex(span.span_id),
        parent_span_id=bytes.fromhex(span.parent_id),
        trace_state=span.state,
        flags=span.flags | _HAS_REMOTE | (_REMOTE if span.remote else 0),
        name=_text(span.name),
        kind=_KINDS[span.kind],
        start_time_unix_nano=span.start_ms * _NS,
        end_time_unix_nano=span.end_ms * _NS,
        attributes=_pairs(span.attributes),
        events=[
            trace_pb2.Span.Event(time_unix_nano=event.at_ms * _NS, name=event.name, attributes=_pairs(event.attributes))
            for event in span.events
        ],
        links=[
            trace_pb2.Span.Link(
                trace_id=bytes.fromhex(link.trace_id), span_id=bytes.fromhex(link.span_id), attributes=_pairs(link.attributes)
            )
            for link in span.links
        ],
        status=status,
    )


def _metric(name: str, temporality: metrics_pb2.AggregationTemporality.ValueType) -> metrics_pb2.Metric:
    if is_timed(name):
        return metrics_pb2.Metric(name=name, unit="s", histogram=metrics_pb2.Histogram(aggregation_temporality=temporality))
    total = metrics_pb2.Sum(aggregation_temporality=temporality, is_monotonic=True)
    return metrics_pb2.Metric(name=name, unit="1", sum=total)


def _add_point(metric: metrics_pb2.Metric, labels: Attributes, point: Point, since_ns: int, now_ns: int) -> None:
    if point.buckets:
        metric.histogram.data_points.add(
            start_time_unix_nano=since_ns, time_unix_nano=now_ns, attributes=_pairs(labels), count=point.count, sum=point.total,
            min=point.low, max=point.high, bucket_counts=point.buckets, explicit_bounds=BOUNDS_S,
        )  # fmt: skip
    else:
        metric.sum.data_points.add(
            start_time_unix_nano=since_ns, time_unix_nano=now_ns, attributes=_pairs(labels), as_int=int(point.total)
        )


def _resource(attributes: Mapping[str, str]) -> Resource:
    return Resource(attributes=_pairs(attributes))


def _pairs(attributes: Attributes) -> Iterable[KeyValue]:
    return [KeyValue(key=key, value=_value(value)) for key, value in attributes.items()]


def _value(value: Value) -> AnyValue:
    if isinstance(value, bool):  # before int: True is an int
        return AnyValue(bool_value=value)
    if isinstance(value, int):
        return AnyValue(int_value=value) if -(2**63) <= value < 2**63 else AnyValue(string_value=str(value))
    if isinstance(value, float):
        return AnyValue(double_value=value)
    return AnyValue(string_value=_text(value))


def _text(text: str) -> str:
    """The text without lone surrogates, which protobuf cannot hold."""
    return text.encode("utf-8", "replace").decode()
