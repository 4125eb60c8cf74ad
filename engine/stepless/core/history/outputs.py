"""Collects what references can read of a run: the results of its nodes, the iterations of its containers and its variables.

Of a node inside of containers, the first iteration of each counts, so that all values are of one iteration. Nodes are named by
their path, as in a digest: `x@l` is `x` in the body of `l`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from stepless.core.deciding.ending import variables
from stepless.core.events import Event, EventType
from stepless.core.fold import fold
from stepless.core.history.digest import path_of
from stepless.core.state import Cells, Instance, State, Status
from stepless.model.graph import Graph
from stepless.model.json import JSON

_FIRST: Final = "[0]"


class Settled(NamedTuple):
    """A node that has completed, by the exit `handle`, or failed with an `error`."""

    value: JSON
    error: Mapping[str, JSON] | None = None
    handle: str | None = None

    @property
    def readable(self) -> JSON:
        """What a reference to the node reads."""
        return self.value if self.error is None else {"error": dict(self.error)}


class Outputs:
    """Takes the events of a run in order. `settled` are its nodes, and `iterations` the fields of the first iteration of each
    container (index, iteration, item, items), both by path."""

    def __init__(self, graph: Graph, run_id: str) -> None:
        self.state = State(graph, run_id)
        self.settled: dict[str, Settled] = {}
        self.iterations: dict[str, Mapping[str, JSON]] = {}
        self._cells: dict[str, Cells] = {}

    def add(self, event: Event) -> None:
        """Takes the next event. Raises `EngineBug` for one that does not follow."""
        state = self.state
        fold(state, event)
        state.notes.clear()
        if not event.instance or event.instance.count("[") != event.instance.count(_FIRST):
            return
        instance = state.find(event.instance)
        if instance is not None:
            self._note(instance, event)

    def _note(self, instance: Instance, event: Event) -> None:
        path = path_of(instance.id)
        scope = instance.scope
        if scope.owner is not None and (around := path_of(scope.owner.id)) not in self.iterations:
            iterations = scope.owner.iterations
            number = scope.index - (iterations.first if iterations is not None else 0)
            items = iterations.items if iterations is not None else None
            self.iterations[around] = {"index": number, "iteration": number, "item": scope.item, "items": items}
        if event.type is EventType.NODE_STARTED:
            self._cells.setdefault(path, instance.cells)
        if instance.status is Status.COMPLETED or (instance.status is Status.FAILED and instance.error is not None):
            error = instance.error if instance.status is Status.FAILED else None
            self.settled[path] = Settled(instance.value, error, instance.handle)

    def variables_of(self, path: str) -> Mapping[str, JSON]:
        """Returns the variables as a node could read them; as the run has left them, for a node that it did not start."""
        cells = self._cells.get(path)
        return variables(self.state) if cells is None else {name: cell.value for name, cell in cells.items()}

    @property
    def facts(self) -> Mapping[str, JSON]:
        """The fields of `<run.…>`."""
        graph, state = self.state.graph, self.state
        return {"id": state.run_id, "workflow": graph.workflow_id, "version": graph.version, "started_at": state.started_ms}
