"""Caches the values of earlier runs that references can read."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import NamedTuple

from stepless.core.events import Event
from stepless.core.history.outputs import Outputs
from stepless.errors import Gone, LogUnreadable, NotFound, SteplessError
from stepless.limits import MAX_SCANNED_EVENTS, MAX_WARM_OUTPUTS
from stepless.ports import RunFilter, RunHead
from stepless.runtime.runlog import RunLog
from stepless.runtime.verbs.reads.inspecting import graph_of, head_of, read_or_reported, unknown_run
from stepless.runtime.world import World


class Former(NamedTuple):
    """A former run. `whole` is false if only the first MAX_SCANNED_EVENTS of its log were read."""

    head: RunHead
    outputs: Outputs
    whole: bool


class _Warm:
    def __init__(self) -> None:
        self.outputs: Outputs | None = None
        self.lock = Lock()


class FormerRuns:
    """The runs that were looked at last. Thread-safe."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._warm: OrderedDict[str, _Warm] = OrderedDict()
        self._lock = Lock()

    def read(self, workflow_id: str, run_id: str | None) -> Former | None:
        """Returns a run of a workflow; without an id the last one, None if there is none that can be read. Raises `NotFound`
        (unknown_run), also for a run of another workflow, and as `inspecting.view` does."""
        if run_id is not None:
            head = head_of(self._world, run_id)
            if head.workflow_id != workflow_id:
                raise _of_another(head, workflow_id)
            return self._former(head)
        for last in self._world.store.list_runs(RunFilter(workflow_id=workflow_id), limit=1, cursor=None).items:
            try:
                return self._former(head_of(self._world, last.run_id))
            except (Gone, LogUnreadable):
                return None
        return None

    def _former(self, head: RunHead) -> Former:
        warm = self._of(head.run_id)
        try:
            with warm.lock, read_or_reported(self._world, head):
                if warm.outputs is None:
                    warm.outputs = Outputs(graph_of(self._world, head), head.run_id)
                outputs = warm.outputs

                def take(event: Event) -> bool:
                    outputs.add(event)
                    return event.sequence >= MAX_SCANNED_EVENTS

                if outputs.state.sequence < min(head.sequence, MAX_SCANNED_EVENTS):
                    RunLog(self._world.store, self._world.blobs, head.run_id).replay(take, outputs.state.sequence)
                return Former(head, outputs, outputs.state.sequence >= head.sequence)
        except SteplessError:
            with self._lock:
                self._warm.pop(head.run_id, None)
            raise

    def _of(self, run_id: str) -> _Warm:
        with self._lock:
            warm = self._warm.setdefault(run_id, _Warm())
            self._warm.move_to_end(run_id)
            while len(self._warm) > MAX_WARM_OUTPUTS:
                self._warm.popitem(last=False)
            return warm


def _of_another(head: RunHead, workflow_id: str) -> NotFound:
    error = unknown_run(head.run_id)
    return NotFound(f"{error.message} of {workflow_id}", code=error.code, mend=error.mend)
