"""The port `Meter` on Lambda: metrics in CloudWatch's embedded format, one line of JSON for whatever is told.

Wired by runtime/wiring/aws.py, flushed by every function of functions/.
"""

from __future__ import annotations

from collections.abc import Mapping

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit


class EmfMeter:
    """Collects until `flush`, which prints. Namespace, service and level come from the environment, as Powertools reads them.
    Values are dimensioned by the service alone: what names a run or an instance is told, not measured."""

    def __init__(self) -> None:
        self._metrics = Metrics()
        self._logger = Logger()

    def count(self, name: str, number: int = 1) -> None:
        self._metrics.add_metric(name, MetricUnit.Count, number)

    def took(self, name: str, duration_ms: float) -> None:
        self._metrics.add_metric(name, MetricUnit.Milliseconds, round(duration_ms, 1))

    def tell(self, what: str, facts: Mapping[str, str | int]) -> None:
        self._logger.info(what, extra=dict(facts))

    def flush(self) -> None:
        """Prints what was measured since the last time, if anything was."""
        if self._metrics.provider.metric_set:
            self._metrics.flush_metrics()
