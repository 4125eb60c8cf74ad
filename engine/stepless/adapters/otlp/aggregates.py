"""Adds up measurements to the points of metrics: counters and histograms, by their attributes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Final

from stepless.limits import MAX_METRIC_SERIES
from stepless.model.runs.span import Attributes, Measure, Value

BOUNDS_S: Final = (
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3_600.0, 14_400.0, 86_400.0,
    604_800.0,
)  # fmt: skip
"""Upper bounds of the buckets of every histogram: a run may take milliseconds or weeks."""
_OVERFLOW: Final[Attributes] = {"otel.metric.overflow": True}
_Key = tuple[str, tuple[tuple[str, Value], ...]]


class Point:
    """One series. `buckets` is empty for a counter, whose sum is `total`."""

    __slots__ = ("count", "total", "low", "high", "buckets")

    def __init__(self, *, timed: bool) -> None:
        self.count = 0
        self.total: float = 0
        self.low = float("inf")
        self.high = float("-inf")
        self.buckets = [0] * (len(BOUNDS_S) + 1) if timed else []

    def add(self, value: float) -> None:
        self.count += 1
        self.total += value
        if self.buckets:
            self.low, self.high = min(self.low, value), max(self.high, value)
            self.buckets[bisect_left(BOUNDS_S, value)] += 1

    def merge(self, other: Point) -> None:
        self.count += other.count
        self.total += other.total
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.buckets = [mine + theirs for mine, theirs in zip(self.buckets, other.buckets, strict=True)]


class Aggregates:
    """The series of one process, at most MAX_METRIC_SERIES; measurements beyond them share one series for each metric, as
    OpenTelemetry asks. `since_ms` is when they began to count."""

    def __init__(self, now_ms: int) -> None:
        self.since_ms = now_ms
        self._points: dict[_Key, Point] = {}

    def __bool__(self) -> bool:
        return bool(self._points)

    def __iter__(self) -> Iterator[tuple[str, Attributes, Point]]:
        return ((name, dict(labels), point) for (name, labels), point in self._points.items())

    def add(self, measures: Iterable[Measure]) -> None:
        for measure in measures:
            self._point(measure.name, measure.attributes).add(measure.value)

    def take(self, now_ms: int) -> Aggregates:
        """Returns the series so far, which are then forgotten here."""
        taken = Aggregates(self.since_ms)
        taken._points, self._points, self.since_ms = self._points, {}, now_ms
        return taken

    def put_back(self, taken: Aggregates) -> None:
        """Adds series that were taken and could not be sent."""
        self.since_ms = taken.since_ms
        for (name, labels), point in taken._points.items():
            self._point(name, dict(labels)).merge(point)

    def _point(self, name: str, labels: Attributes) -> Point:
        key = (name, tuple(sorted(labels.items())))
        known = self._points.get(key)
        if known is None and len(self._points) >= MAX_METRIC_SERIES:
            key = (name, tuple(_OVERFLOW.items()))
            known = self._points.get(key)
        if known is None:
            known = self._points[key] = Point(timed=is_timed(name))
        return known


def is_timed(name: str) -> bool:
    """Returns whether a metric is a histogram of durations in seconds, and not a counter."""
    return name.endswith((".duration", ".start_delay"))
