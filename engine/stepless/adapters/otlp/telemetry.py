"""Implements the port `Telemetry` over OTLP. Imported only when an endpoint is set."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from stepless.adapters.otlp.aggregates import Aggregates
from stepless.adapters.otlp.encoding import encoded_metrics, encoded_spans, rejected
from stepless.adapters.otlp.sender import Refused, Sender
from stepless.adapters.otlp.settings import Setting, Settings
from stepless.errors import CollectorUnavailable
from stepless.model.runs.span import Measure, Span
from stepless.ports import Clock

_log = logging.getLogger(__name__)


class OtlpTelemetry:
    """Spans and metrics of one process. Changes no global state: no provider, no exporter and no thread of its own."""

    def __init__(self, settings: Settings, secret: Setting, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._traces = Sender(settings.traces, secret) if settings.traces is not None else None
        self._metrics = Sender(settings.metrics, secret) if settings.metrics is not None else None
        self._aggregates = Aggregates(clock.now_ms())
        self._delayed = False
        self._added = self._delivered = 0  # how many additions there were, and up to which one the collector has them

    async def send_spans(self, spans: Sequence[Span]) -> None:
        """See `Telemetry.send_spans`."""
        if self._traces is not None and spans:
            await self._send(self._traces, encoded_spans(spans, self._settings.resource), traces=True)

    async def send_measures(self, measures: Sequence[Measure]) -> None:
        """See `Telemetry.send_measures`."""
        if self._metrics is None or not (measures or self._added > self._delivered):
            return
        self._aggregates.add(measures)
        self._added += 1
        await self._flush(self._metrics)

    def close(self) -> None:
        """Closes the connections."""
        for sender in (self._traces, self._metrics):
            if sender is not None:
                sender.close()

    async def _flush(self, sender: Sender) -> None:
        now_ms, delta, included = self._clock.now_ms(), self._settings.delta, self._added
        sent = self._aggregates.take(now_ms) if delta else self._aggregates
        try:
            await self._send(sender, encoded_metrics(sent, self._settings.resource, now_ms, delta=delta), traces=False)
        except BaseException:
            if delta:
                self._aggregates.put_back(sent)
            raise
        self._delivered = max(self._delivered, included)

    async def _send(self, sender: Sender, body: bytes, *, traces: bool) -> None:
        try:
            count, why = rejected(await sender.send(body), traces=traces)
        except Refused as error:
            _log.error("telemetry is lost: %s", error)
            return
        except CollectorUnavailable as error:
            if not self._delayed:  # once, however often it is tried again
                _log.warning("telemetry is delayed, and will be sent again: %s", error)
            self._delayed = True
            raise
        if self._delayed:
            _log.warning("telemetry is accepted again")
        self._delayed = False
        if count:
            _log.error("the collector refused %s items: %.500s", count, why)


