"""Builds one page of a run's nodes: folds the whole log, and creates records only for the instances of the page."""

from __future__ import annotations

from stepless.core.events import Event
from stepless.core.history.trace import Trace
from stepless.core.state import TERMINAL, Instance
from stepless.model.graph import Graph


class Window(Trace):
    """A trace with at most `limit` nodes, starting at number `after` in the order of first mention, each with the parameters of
    its attempts; with `instance`, only that one. `more` says whether other nodes follow; `settled` says that no later event can
    change these nodes."""

    def __init__(self, graph: Graph, run_id: str, after: int, limit: int, instance: str | None = None) -> None:
        super().__init__(graph, run_id, range(limit))
        self._window = range(after, after + limit)
        self._only = instance
        self._numbers: dict[str, int] = {}
        self._open: set[str] = set()

    @property
    def more(self) -> bool:
        return self._only is None and len(self._numbers) > self._window.stop

    @property
    def settled(self) -> bool:
        return (self.more or self._only in self.nodes) and not self._open

    def _note_node(self, event: Event, instance: Instance) -> None:
        if self._only is None:
            number = self._numbers.setdefault(event.instance, len(self._numbers))
            if number not in self._window:
                return
        elif event.instance != self._only:
            return
        super()._note_node(event, instance)
        if self.nodes[event.instance].status in TERMINAL:
            self._open.discard(event.instance)
        else:
            self._open.add(event.instance)
