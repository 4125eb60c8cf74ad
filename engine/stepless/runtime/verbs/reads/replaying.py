"""Reads the events of a run, completed with values that the log does not store: the inputs of every start and the output of every
container. Both are computed while reading, by folding the log from its beginning."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from itertools import islice

from stepless.core.events import RUN_ENDS, Event, EventType
from stepless.core.fold import apply, subject
from stepless.core.history.trace import envelope
from stepless.core.state import Instance, State
from stepless.core.values.inputs import merged_inputs
from stepless.limits import PAGE_EVENTS
from stepless.model.json import JSON
from stepless.runtime.runlog import RunLog, previewed
from stepless.runtime.verbs.reads.inspecting import EventPage, graph_of, has_ended_by, head_of, whole_or_gone
from stepless.runtime.world import World


class Replay:
    """One reader of a run's events. To continue reading costs only the new events. To read again from an earlier point, or with a
    new reader, costs the whole log before that point. Not thread-safe."""

    def __init__(self, world: World, run_id: str) -> None:
        """Raises `NotFound`."""
        self._world = world
        self._run_id = run_id
        self._graph = graph_of(world, head_of(world, run_id))
        self._begin()

    def _begin(self) -> None:
        self._state = State(self._graph, self._run_id)
        self._ready: deque[Mapping[str, JSON]] = deque()  # envelopes created and not yet acknowledged by a later `after`
        self._after = 0
        self._last = 0  # the run's terminal event, once it has been read

    def events(self, *, after: int = 0, limit: int = PAGE_EVENTS) -> EventPage:
        """Events above `after`, at most `limit`. The payload has `previews` in place of large values."""
        if after < self._after:
            self._begin()
        self._after = after
        ready = self._ready
        while ready and ready[0]["eventId"] <= after:
            ready.popleft()
        if len(ready) < limit:
            with whole_or_gone(self._world, self._run_id):
                self._read_on(after, limit)
        page = tuple(islice(ready, limit))
        cursor = page[-1]["eventId"] if page else after
        ended = self._last > 0 and cursor >= self._last
        return EventPage(page, cursor, ended or (not page and after > 0 and has_ended_by(self._world, self._run_id, after)))

    def _read_on(self, after: int, limit: int) -> None:
        state = self._state
        for event in RunLog(self._world.store, self._world.blobs, self._run_id).read(state.sequence):
            instance = subject(state, event)
            apply(state, event, instance)
            state.notes.clear()
            if event.type in RUN_ENDS:
                self._last = event.sequence
            if event.sequence > after:
                self._ready.append(self._envelope(event, instance))
                if len(self._ready) == limit:
                    return

    def _envelope(self, event: Event, instance: Instance | None) -> Mapping[str, JSON]:
        data = dict(event.data)
        if instance is not None:
            data.update(_computed(self._state, event, instance))
        whole = Event(event.sequence, event.type, event.at_ms, event.instance, event.parent, data)
        return envelope(self._graph, self._run_id, previewed(whole))


def _computed(state: State, event: Event, instance: Instance) -> Mapping[str, JSON]:
    if event.type is EventType.NODE_STARTED:
        return {"inputs": merged_inputs(state, instance)}
    if event.type is EventType.NODE_COMPLETED and "output" not in event.data:
        return {"output": instance.value}
    return {}
