"""Exporters in a world, and the check of what they delivered: every event that they select at least once, in the order of the log
except for repetitions, and nothing that is not in the log."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from faults import Line
from journal import Violation
from traced import Traces
from virtual_time import Actor, passing

from stepless.core.events import RUN_ENDS, Event, EventType
from stepless.model.graph import Graph
from stepless.ports import Blobs, Store
from stepless.runtime.exporting.exporter import ExportedRun
from stepless.runtime.exporting.relay import Relay
from stepless.runtime.metering import NullMeter
from stepless.runtime.wiring.exporting import log_reader

if TYPE_CHECKING:
    from episode import Episode


class Deliveries:
    """What systems outside have received, by exporter and run."""

    def __init__(self, episode: Episode) -> None:
        self.episode = episode
        self.received: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        self.traces = Traces(episode)

    def relay(self, actor: Actor, store: Store, blobs: Blobs) -> Relay:
        line = Line(actor, self.episode.chance)
        telemetry = self.episode.parts.traces(self.traces.telemetry(actor), log_reader(store, blobs))
        exporters = [Everything(self, line, "every"), Milestones(self, line, "miles"), telemetry]
        return self.episode.parts.relay(exporters, NullMeter())

    def receive(self, name: str, run_id: str, event: Event) -> None:
        """Receives one event. It must be in the log, as it was committed."""
        log = self.episode.journal.runs[run_id].events
        known = log[event.sequence - 1] if event.sequence <= len(log) else None
        if known is None or (known.type, known.instance, known.at_ms) != (event.type, event.instance, event.at_ms):
            violation = Violation(f"only what is in the log is exported: {event.sequence} of {run_id} is {known}, not {event}")
            self.episode.schedule.failure = self.episode.schedule.failure or violation
            raise violation
        self.received[name, run_id].append(event.sequence)

    def done(self) -> bool:
        """Whether no run is due any more to export the rest."""
        heads = {run_id: self.episode.truth.get_run(run_id) for run_id in self.episode.names}
        return all(
            run_id in self.episode.journal.erased or (head is not None and head.due_ms in (None, head.expires_ms))
            for run_id, head in heads.items()
        )

    def check(self) -> None:
        for run_id in self.episode.names:
            for exporter in (Everything, Milestones):
                name = exporter.__name__.lower()[:5]
                wanted = [event.sequence for event in self.episode.journal.runs[run_id].events if exporter.wants(event)]
                first = list(dict.fromkeys(self.received[name, run_id]))
                if first != (wanted[: len(first)] if run_id in self.episode.erasures.forced else wanted):
                    raise Violation(f"every event is exported, in order: {name} of {run_id} received {first}, not {wanted}")
        self.traces.check()


class Everything:
    """Delivers each event in a call of its own, so that a process may die between any two."""

    def __init__(self, deliveries: Deliveries, line: Line, name: str) -> None:
        self._deliveries = deliveries
        self._line = line
        self.name = name

    @staticmethod
    def wants(event: Event) -> bool:
        return True

    @property
    def at_once(self) -> int:
        return 20  # some calls are cut off: their events take up to six seconds

    def concerns(self, graph: Graph) -> bool:
        return True

    def selects(self, event: Event) -> bool:
        return self.wants(event)

    def opened(self, run: ExportedRun) -> None:
        return

    async def export(self, run: ExportedRun, events: Sequence[Event]) -> int:
        chance, last = self._deliveries.episode.chance, 0
        for event in events:
            if chance.happens(self._deliveries.episode.parts.outage):
                chance.record(self.name, f"refuses event {event.sequence}")
                if last:
                    return last
                raise ConnectionError("refused")
            await passing(chance.random.choice((0, 2, 300)))
            self._line.call("export", lambda event=event: self._deliveries.receive(self.name, run.head.run_id, event))  # type: ignore[misc]
            last = event.sequence
        return last


class Milestones(Everything):
    """Selects few events."""

    @staticmethod
    def wants(event: Event) -> bool:
        return event.type in RUN_ENDS | {EventType.RUN_STARTED, EventType.NODE_WAITING}
