"""Defines finished spans and measurements, as exporters receive them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, TypeAlias

Value: TypeAlias = str | int | float | bool
Attributes: TypeAlias = Mapping[str, Value]

INTERNAL: Final = "internal"
CLIENT: Final = "client"
PRODUCER: Final = "producer"
CONSUMER: Final = "consumer"


class SpanEvent(NamedTuple):
    name: str
    at_ms: int
    attributes: Attributes


class SpanLink(NamedTuple):
    """A reference to a span of another run."""

    trace_id: str
    span_id: str
    attributes: Attributes


class Span(NamedTuple):
    """One span that has ended. `error` is the description of a failure; None for every other end. `parent_id` is empty for the
    first span of a trace, `remote` says that the parent belongs to another program or run. `state` is a `tracestate`."""

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    kind: str
    start_ms: int
    end_ms: int
    attributes: Attributes
    events: tuple[SpanEvent, ...] = ()
    links: tuple[SpanLink, ...] = ()
    error: str | None = None
    flags: int = 1
    state: str = ""
    remote: bool = False


class Measure(NamedTuple):
    """One measurement: a number to add to the counter `name`, or a duration in seconds for the histogram `name`."""

    name: str
    value: int | float
    attributes: Attributes
