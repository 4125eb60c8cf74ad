"""Sends events to one exporter in one session: the events that it has not confirmed, and the task that sends them.

The log is the queue. The lane keeps a bounded number of events in memory; beyond that, and after a crash, it reads the log again
from its cursor.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from stepless.core.events import Event
from stepless.limits import EXPORT_TIMEOUT_MS, MAX_EXPORT_EVENTS, MAX_EXPORT_QUEUE
from stepless.runtime.exporting.backoff import Backoff
from stepless.runtime.exporting.exporter import ExportedRun, Exporter

ReadLog: TypeAlias = Callable[[int], Iterator[Event]]
"""The committed events after a sequence number, in order, without large values."""

REFILL_EVENTS: Final = 10 * MAX_EXPORT_EVENTS  # of the log, read at once: the event loop waits meanwhile


class Lane:
    """`done` is the last event that needs nothing more, `committed` the last one of the log. `failed` is called with each error,
    before the exporter backs off."""

    def __init__(
        self, exporter: Exporter, run: ExportedRun, read: ReadLog, backoff: Backoff, failed: Callable[[Exception], None],
        confirmed: int, committed: int,
    ) -> None:  # fmt: skip
        self.exporter = exporter
        self._run = run
        self._read_log = read
        self._backoff = backoff
        self._failed = failed
        self._seen = min(confirmed, committed)  # the last event that was confirmed, not selected, or is in `_pending`
        self.committed = committed
        self._pending: list[Event] = []
        self._task: asyncio.Task[None] | None = None

    @property
    def done(self) -> int:
        return self._pending[0].sequence - 1 if self._pending else self._seen

    @property
    def is_behind(self) -> bool:
        return self.done < self.committed

    def add(self, events: Sequence[Event]) -> None:
        """Takes events that were just committed."""
        if self._seen == self.committed and (selected := self._selected(events)) is not None:
            self._pending += selected
            self._seen = events[-1].sequence
            if len(self._pending) > MAX_EXPORT_QUEUE:
                self._forget()
        self.committed = events[-1].sequence

    def _selected(self, events: Sequence[Event]) -> Sequence[Event] | None:
        """None if the exporter raises: the lane then reads the events from the log, where it fails outside of the run's work.
        So it does with all events after those that it has left in the log."""
        try:
            return [event for event in events if self.exporter.selects(event)]
        except Exception:
            return None

    def _forget(self) -> None:
        """Keeps the first events only. The others are read from the log again."""
        self._seen = self._pending[MAX_EXPORT_EVENTS].sequence - 1
        del self._pending[MAX_EXPORT_EVENTS:]

    def start(self) -> asyncio.Task[None] | None:
        """Sends what is left, unless the exporter backs off. Returns the task that does, None if there is none."""
        if self._task is None and self.is_behind and self._backoff.is_over():
            self._task = asyncio.get_running_loop().create_task(self._send())
        return self._task

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _send(self) -> None:
        try:
            while self.is_behind:
                self._refill()
                if self._pending:
                    await self._send_some()
                else:
                    await asyncio.sleep(0)  # lets the run proceed while a long log is read
        except Exception as error:  # whatever an exporter raises, the run goes on
            self._failed(error)
            self._backoff.failed()
        finally:
            self._task = None

    async def _send_some(self) -> None:
        some = self._pending[: self.exporter.at_once]
        async with asyncio.timeout(EXPORT_TIMEOUT_MS / 1000):
            last = await self.exporter.export(self._run, some)
        sent = sum(event.sequence <= last for event in some)
        del self._pending[:sent]
        if not sent:
            raise NotExported(f"{self.exporter.name} confirmed none of {len(some)} events")
        self._backoff.succeeded()

    def _refill(self) -> None:
        if self._pending or self._seen == self.committed:
            return
        first = self._seen
        for event in self._read_log(self._seen):
            self._seen = event.sequence
            if self.exporter.selects(event):
                self._pending.append(event)
            if len(self._pending) == MAX_EXPORT_EVENTS or event.sequence >= min(self.committed, first + REFILL_EVENTS):
                return
        if self._seen < self.committed:
            raise EOFError(f"the log ends before event {self.committed}")


class NotExported(Exception):
    """The exporter has returned, and confirmed none of the events."""
