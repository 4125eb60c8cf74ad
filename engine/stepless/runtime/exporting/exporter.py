"""Defines what an exporter is, and what it receives about a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from stepless.core.events import Event
from stepless.core.state import State
from stepless.core.values.masking import Mask
from stepless.model.graph import Graph
from stepless.model.json import JSON
from stepless.ports import RunHead


@dataclass(frozen=True, slots=True)
class ExportedRun:
    """The run whose events are exported. `head` is the header as it was before the session took the lease, `meta` its decoded
    meta. `state` is the session's own and may be ahead of the events: an exporter only looks things up in it. `env` holds the
    values of the document's `${NAME}`, which must not leave the process; `mask` hides them in texts that are not from the log."""

    head: RunHead
    meta: Mapping[str, JSON]
    graph: Graph
    state: State
    env: Mapping[str, str]
    mask: Mask


class Exporter(Protocol):
    """Sends events of runs to one system outside."""

    @property
    def name(self) -> str:
        """One to eight lower-case letters. The headers of runs hold the exporter's cursor under it, so it never changes."""
        ...

    @property
    def at_once(self) -> int:
        """How many events one call of `export` receives at most: so few that it usually ends in a small part of
        EXPORT_TIMEOUT_MS."""
        ...

    def concerns(self, graph: Graph) -> bool:
        """Returns whether anything of the runs of this workflow version is exported."""
        ...

    def selects(self, event: Event) -> bool:
        """Returns whether the event is to be sent. Called for every committed event, so it must be quick and have no effect."""
        ...

    def opened(self, run: ExportedRun) -> None:
        """Called when a session begins to continue a run all of whose events the exporter has confirmed. `run.state` is then the
        state after them, and not yet ahead. Must be quick. Not called for a new run, nor where events are left."""
        ...

    async def export(self, run: ExportedRun, events: Sequence[Event]) -> int:
        """Sends events that are committed and that `selects` accepts, in order. Returns the sequence number of the last one that
        needs no further try: delivered, or refused for good and reported. The later ones are passed again at once.

        Raises any exception if the first one was not delivered. Cancelled after EXPORT_TIMEOUT_MS. After a crash the same events
        are passed again; then `previews` may stand in place of their large values, so the output must not depend on these values.
        """
        ...
