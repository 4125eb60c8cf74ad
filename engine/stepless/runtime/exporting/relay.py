"""Hands the events of runs to exporters, after their commit.

Every event reaches each exporter at least once, in the order of the log. The cursor of each exporter is part of the writes that a
session makes anyway: the renewals of the lease, and its release. A process that dies before that write leaves an older cursor,
and the next session sends again from there. If an exporter has not confirmed everything when a session leaves, the release makes
the run due again, even if it has ended, so that the sweep finds it.

Exporters never stop a run. Each call is bounded in time, a session waits for them only before it leaves, and an exporter that
fails is not called again in this process for a while.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from stepless.core.events import Event
from stepless.limits import MAX_EXPORT_FAILURES
from stepless.model.graph import Graph
from stepless.ports import Meter
from stepless.runtime.exporting.backoff import Backoff
from stepless.runtime.exporting.cursors import ALL, Cursor, decode, encode, retry_after_ms
from stepless.runtime.exporting.exporter import ExportedRun, Exporter
from stepless.runtime.exporting.lane import Lane, ReadLog
from stepless.runtime.metering import EXPORT_FAILURES, EXPORTS_DROPPED

_log = logging.getLogger(__name__)

FAILED: Final = "export.failed"
DROPPED: Final = "export.dropped"


class Relaying(Protocol):
    """A `Relay`, or what makes one when it is first needed."""

    def concerns(self, graph: Graph) -> bool: ...

    def open(self, run: ExportedRun, exported: str, committed: int, read: ReadLog) -> Exports: ...


class Relay:
    """The exporters of one process. `clock` counts the seconds of their back-offs; by default it is the event loop's."""

    def __init__(self, exporters: Sequence[Exporter], meter: Meter, clock: Callable[[], float] | None = None) -> None:
        self._exporters = [(exporter, Backoff(clock or _loop_time)) for exporter in exporters]
        self._meter = meter
        self._reasons: dict[str, str] = {}  # the last logged reason by exporter

    def concerns(self, graph: Graph) -> bool:
        """Returns whether anything of the runs of this workflow version is exported."""
        return any(exporter.concerns(graph) for exporter, _ in self._exporters)

    def open(self, run: ExportedRun, exported: str, committed: int, read: ReadLog) -> Exports:
        """Returns the exports of one session. `exported` is the header's text when the lease was taken, `committed` the last
        event of the log, `read` reads the log."""
        cursors = decode(exported)
        cursors.pop(ALL, None)
        concerned = [(exporter, backoff) for exporter, backoff in self._exporters if exporter.concerns(run.graph)]
        lanes = [self._lane(exporter, backoff, run, read, cursors, committed) for exporter, backoff in concerned]
        return Exports(run, lanes, cursors, self._meter)

    def _lane(
        self, exporter: Exporter, backoff: Backoff, run: ExportedRun, read: ReadLog, cursors: dict[str, Cursor], committed: int
    ) -> Lane:
        name, meter = exporter.name, self._meter

        def failed(error: Exception) -> None:
            reason = str(getattr(error, "code", type(error).__name__))  # not its message, which may hold a secret URL
            if self._reasons.get(name) != reason:
                _log.warning("%s could not export events and will try again: %s %s", name, reason, getattr(error, "mend", ""))
            self._reasons[name] = reason
            meter.count(EXPORT_FAILURES)
            meter.report(FAILED, {**_facts(run, name), "reason": reason})

        confirmed = cursors.get(name, Cursor()).sequence
        if 0 < committed <= confirmed:
            try:
                exporter.opened(run)
            except Exception as error:  # whatever an exporter raises, the run goes on
                failed(error)
        return Lane(exporter, run, read, backoff, failed, confirmed, committed)


class Exports:
    """What one session exports."""

    def __init__(self, run: ExportedRun, lanes: Sequence[Lane], cursors: dict[str, Cursor], meter: Meter) -> None:
        self._run = run
        self._lanes = lanes
        self._cursors = cursors
        self._meter = meter
        self.nudge()

    def committed(self, events: Sequence[Event]) -> None:
        """Exports events that are committed, in the background."""
        if not events:
            return
        for lane in self._lanes:
            lane.add(events)
        self.nudge()

    def nudge(self) -> None:
        """Tries again what has failed, where the back-off is over."""
        for lane in self._lanes:
            lane.start()

    async def flush(self, limit_ms: float) -> None:
        """Waits until everything is confirmed, or failed once more, for at most `limit_ms`. Nothing is sent afterwards."""
        tasks = [task for lane in self._lanes if (task := lane.start()) is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=limit_ms / 1000)
        self.close()

    def close(self) -> None:
        for lane in self._lanes:
            lane.close()

    def cursors(self) -> str:
        """Returns the header's text now."""
        now = {lane.exporter.name: Cursor(lane.done, self._failures(lane)) for lane in self._lanes}
        return encode({**self._cursors, **now})  # the cursor of an exporter that is turned off is kept

    def _failures(self, lane: Lane) -> int:
        former = self._cursors.get(lane.exporter.name, Cursor())
        return former.failures if lane.is_behind and lane.done == former.sequence else 0

    def leave(self, now_ms: int) -> tuple[str, int | None]:
        """Returns the header's text for the release of the lease, and when to try the rest: None if nothing is left. After
        MAX_EXPORT_FAILURES sessions in a row without progress, the rest is given up and reported."""
        left: dict[str, Cursor] = {}
        due_ms: int | None = None
        for lane in self._lanes:
            name, failures = lane.exporter.name, self._failures(lane) + 1
            if not lane.is_behind:
                left[name] = Cursor(lane.done)
            elif failures > MAX_EXPORT_FAILURES:
                self._meter.count(EXPORTS_DROPPED)
                self._meter.report(DROPPED, {**_facts(self._run, name), "after": lane.done, "to": lane.committed})
                left[name] = Cursor(lane.committed)
            else:
                left[name] = Cursor(lane.done, failures)
                retry_ms = now_ms + retry_after_ms(failures)
                due_ms = retry_ms if due_ms is None else min(due_ms, retry_ms)
        return encode({**self._cursors, **left}), due_ms


def _facts(run: ExportedRun, name: str) -> dict[str, str | int]:
    return {"run": run.head.run_id, "workflow": run.head.workflow_id, "exporter": name}


def _loop_time() -> float:
    return asyncio.get_running_loop().time()
