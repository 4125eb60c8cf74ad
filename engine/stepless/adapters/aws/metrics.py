"""Implements the port `Meter` on Lambda: metrics in CloudWatch's embedded metric format, and one line of JSON for each report.

Wired by runtime/wiring/aws.py, flushed by every function of functions/.
"""

from __future__ import annotations

from collections.abc import Mapping

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit


class EmfMeter:
    """Collects metrics until `flush`, which prints them. Powertools reads namespace, service and log level from the environment.
    The only dimension of a metric is the service: ids of runs and instances go into the log line."""

    def __init__(self) -> None:
        self._metrics = Metrics()
        self._logger = Logger()

    def count(self, name: str, number: int = 1) -> None:
        self._metrics.add_metric(name, MetricUnit.Count, number)

    def took(self, name: str, duration_ms: float) -> None:
        self._metrics.add_metric(name, MetricUnit.Milliseconds, round(duration_ms, 1))

    def report(self, what: str, facts: Mapping[str, str | int]) -> None:
        self._logger.info(what, extra=dict(facts))

    def flush(self) -> None:
        """Prints the metrics that were collected since the last call, if there are any."""
        if self._metrics.provider.metric_set:
            self._metrics.flush_metrics()
