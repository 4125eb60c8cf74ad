"""Exports run events, those of the run as a whole and of its pauses, to an event bus or a webhook."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from stepless.core.events import Event
from stepless.model.graph import Graph
from stepless.ports import Announcement, Announcer
from stepless.runtime.announcing.details import detail_of, id_of, type_of
from stepless.runtime.exporting.exporter import ExportedRun


class RunEvents:
    """`base_url` returns the start of links when they are made. `name` and `at_once`: see `Exporter`."""

    def __init__(self, name: str, announcer: Announcer, base_url: Callable[[], str], *, at_once: int) -> None:
        self.name = name
        self.at_once = at_once
        self._announcer = announcer
        self._base_url = base_url

    def opened(self, run: ExportedRun) -> None:
        """See `Exporter.opened`."""

    def concerns(self, graph: Graph) -> bool:
        """Returns all workflows."""
        return True

    def selects(self, event: Event) -> bool:
        """See `Exporter.selects`."""
        return type_of(event) is not None

    async def export(self, run: ExportedRun, events: Sequence[Event]) -> int:
        """See `Exporter.export`."""
        base_url = self._base_url()
        done = await self._announcer.announce([
            Announcement(
                id_of(run.head.run_id, event), type_of(event) or "", event.at_ms,
                json.dumps(detail_of(run, event, base_url), ensure_ascii=False, separators=(",", ":")),
            )
            for event in events
        ])  # fmt: skip
        return events[done - 1].sequence if done else 0
