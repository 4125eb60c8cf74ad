"""Exports spans and metrics (docs/run/observability.md): folds the committed events of a run to spans that have ended.

It remembers what is open in a run between two calls. That is a cache: for a run that another process worked on before, it takes
what is open from the loaded state, or, after a crash or a failed export, reads the log up to the cursor again.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from stepless.core.events import RUN_ENDS, Event
from stepless.core.history.spans import SPANNED, Spans
from stepless.limits import MAX_EXPORT_EVENTS, MAX_SPANNED_RUNS
from stepless.model.graph import Graph
from stepless.ports import Telemetry
from stepless.runtime.exporting.exporter import ExportedRun

ReadRun: TypeAlias = Callable[[str, int], Iterator[Event]]
"""The committed events of a run after a sequence number, in order, without large values."""

_AT_ONCE: Final = 1_000  # events of a log that are read before other runs may proceed


class _Known:
    """The open spans of one run, up to event `folded`, in the session that began at `epoch`. The run's state, which may be large,
    is not held. `current` says that the events before the session's first ones are folded too; from then on, the relay passes
    every event that matters."""

    __slots__ = ("run_id", "epoch", "spans", "folded", "current")

    def __init__(self, run: ExportedRun) -> None:
        self.run_id = run.head.run_id
        self.epoch = run.head.epoch
        self.spans = Spans(run.graph, run.head.run_id, run.meta, run.head.created_ms)
        self.folded = 0
        self.current = False


class TelemetryExporter:
    """Sends the spans and measurements of every run to `telemetry`. `read` reads the logs."""

    name: Final = "otel"
    at_once: Final = MAX_EXPORT_EVENTS

    def __init__(self, telemetry: Telemetry, read: ReadRun) -> None:
        self._telemetry = telemetry
        self._read = read
        self._runs: OrderedDict[str, _Known] = OrderedDict()

    def concerns(self, graph: Graph) -> bool:
        """See `Exporter.concerns`: every run has spans."""
        return True

    def selects(self, event: Event) -> bool:
        """See `Exporter.selects`: the events that begin, interrupt or end a span."""
        return event.type in SPANNED

    def opened(self, run: ExportedRun) -> None:
        """See `Exporter.opened`: takes what is open from the loaded state, so that the log need not be read."""
        known = _Known(run)
        known.spans.resume(run.state)
        known.folded, known.current = run.state.sequence, True
        self._remember(known)

    async def export(self, run: ExportedRun, events: Sequence[Event]) -> int:
        """See `Exporter.export`. Events that were folded before and could not be sent are not folded again: their spans are
        kept."""
        known = self._runs.get(run.head.run_id)
        if known is None or known.epoch != run.head.epoch:
            known = self._remember(_Known(run))
        if not known.current:
            await self._catch_up(known, events[0].sequence - 1)
        for event in events:
            if event.sequence > known.folded:
                known.spans.add(event)
                known.folded = event.sequence
        await self._telemetry.send_spans(known.spans.spans)
        known.spans.spans = []
        measures, known.spans.measures = known.spans.measures, []  # counted from now on, even if they cannot be sent yet
        await self._telemetry.send_measures(measures)
        if events[-1].type in RUN_ENDS:
            self._runs.pop(run.head.run_id, None)
        return events[-1].sequence

    async def _catch_up(self, known: _Known, before: int) -> None:
        """Folds the log up to event `before`. What ended there was sent earlier."""
        for event in self._read(known.run_id, known.folded) if before else ():
            if event.sequence > before:
                break
            known.spans.add(event)
            known.folded = event.sequence
            if event.sequence % _AT_ONCE == 0:
                known.spans.spans, known.spans.measures = [], []
                await asyncio.sleep(0)
        known.spans.spans, known.spans.measures = [], []
        known.current = True

    def _remember(self, known: _Known) -> _Known:
        self._runs[known.run_id] = known
        self._runs.move_to_end(known.run_id)
        while len(self._runs) > MAX_SPANNED_RUNS:
            self._runs.popitem(last=False)
        return known
