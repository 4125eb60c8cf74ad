"""Planted bugs of exports: each loses or invents an event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from episode import Parts
from weathers import deadly, storm

from stepless.core.events import Event
from stepless.core.state import State
from stepless.runtime.exporting.exporter import ExportedRun
from stepless.runtime.exporting.lane import Lane
from stepless.runtime.exporting.relay import Exports, Relay
from stepless.runtime.exporting.telemetry import TelemetryExporter
from stepless.runtime.session.loop import Session
from stepless.runtime.session.runner import Runner


class _WithLanes(Relay):
    lane: type[Lane] = Lane

    def _lane(self, *given: Any) -> Lane:
        lane = super()._lane(*given)
        lane.__class__ = self.lane
        return lane


class _Hopeful(Lane):
    @property
    def done(self) -> int:
        return self.committed


class ConfirmsBeforeItSends(_WithLanes):
    """The cursor is at the end of the log, whatever the exporter has confirmed."""

    lane = _Hopeful


class _Forgetful(Lane):
    def add(self, events: Sequence[Event]) -> None:
        self._seen = self.committed
        super().add(events)


class SkipsWhatIsBehind(_WithLanes):
    """New events are sent although older ones are left in the log."""

    lane = _Forgetful


class LeavesNothingDue(Relay):
    """A run is not due again when events are left."""

    def open(self, *given: Any) -> Exports:
        exports = super().open(*given)
        leave = exports.leave
        exports.leave = lambda now_ms: (leave(now_ms)[0], None)  # type: ignore[method-assign]
        return exports


class ExportsBeforeItCommits(Session):
    """Events are handed over before the batch that holds them is written."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        write = self._log.write

        def early(batches: Sequence[Any]) -> Any:
            if self._exports is not None:
                self._exports.committed(_events(batches))
            return write(batches)

        self._log.write = early  # type: ignore[method-assign]


def _events(batches: Sequence[Any]) -> list[Event]:
    from stepless.core.stored.codec import decode_batch

    return [event for batch in batches for event in decode_batch(batch.data, batch.first)]


class _EarlyRunner(Runner):
    def _open(self, *given: Any) -> Session:
        return ExportsBeforeItCommits(self._world, *given, self.lingering)


class ForgetsWhatIsOpen(TelemetryExporter):
    """A session knows nothing of the spans that began before it."""

    def opened(self, run: ExportedRun) -> None:
        super().opened(replace(run, state=State(run.graph, run.head.run_id)))


class SkipsTheLog(TelemetryExporter):
    """After a crash, the log before the cursor is not read."""

    async def _catch_up(self, known: Any, before: int) -> None:
        known.current = True


class FoldsTwice(TelemetryExporter):
    """Events that come again in the same session are folded again."""

    async def export(self, run: ExportedRun, events: Sequence[Event]) -> int:
        known = self._runs.get(run.head.run_id)
        if known is not None:
            known.folded = 0
        return await super().export(run, events)


EXPORT_MUTANTS: Mapping[str, Parts] = {
    "an event is confirmed before it is sent": Parts(exports=True, outage=0.3, relay=ConfirmsBeforeItSends, weather=deadly),
    "new events overtake those in the log": Parts(exports=True, outage=0.3, relay=SkipsWhatIsBehind, weather=deadly),
    "an ended run with events left is not due": Parts(exports=True, outage=0.3, relay=LeavesNothingDue, weather=deadly),
    "a session forgets the spans that are open": Parts(exports=True, traces=ForgetsWhatIsOpen),
    "spans that began before a crash are lost": Parts(exports=True, outage=0.3, traces=SkipsTheLog, weather=deadly),
    "events that come again are folded again": Parts(exports=True, outage=0.3, traces=FoldsTwice),
    "events are exported before their commit": Parts(exports=True, runner=_EarlyRunner, weather=storm),
}
