"""Hands what a session commits to the exporters of its process (`runtime/exporting/relay.py`)."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from stepless.core.events import Event
from stepless.limits import EXPORT_HAND_OVER_MS, EXPORT_LEAVE_MS, MAX_EXPORT_FAILURES, PAGE_READ_BYTES
from stepless.model.json import JSON
from stepless.ports import Lease, RunHead
from stepless.runtime.exporting.cursors import ALL, NOTHING, Also, Cursor, decode, encode, retry_after_ms
from stepless.runtime.exporting.exporter import ExportedRun
from stepless.runtime.metering import EXPORT_FAILURES
from stepless.runtime.runlog import RunLog
from stepless.runtime.session.budget import Budget
from stepless.runtime.world import World

if TYPE_CHECKING:
    from stepless.core.state import State
    from stepless.core.values.masking import Mask
    from stepless.runtime.exporting.relay import Exports, Relaying

_log = logging.getLogger(__name__)


class SessionExports:
    """The exports of one session. Nothing is exported before `open`."""

    def __init__(self, world: World, head: RunHead, lease: Lease) -> None:
        self._world = world
        self._head = head
        self._lease = lease
        self._exports: Exports | None = None

    def open(self, relay: Relaying, state: State, meta: Mapping[str, JSON], env: Mapping[str, str], mask: Mask) -> None:
        """Continues from the cursors that the former session stored. Everything in `state` is committed."""
        try:
            run = ExportedRun(self._head, meta, state.graph, state, env, mask)
            self._exports = relay.open(run, self._lease.exported, state.sequence, self._read)
        except Exception as error:  # no exporter may stop a run, even one that cannot be made
            self.put_off(error)

    def put_off(self, error: Exception) -> None:
        """Leaves everything to a later session, because the exporters cannot be made in this one."""
        _log.error("nothing of run %s can be exported in this session", self._head.run_id, exc_info=error)
        self._world.meter.count(EXPORT_FAILURES)

    def _read(self, after: int) -> Iterator[Event]:
        log = RunLog(self._world.store, self._world.blobs, self._head.run_id)  # the session's own counts what it reads
        return log.read(after, whole=False, stride_bytes=PAGE_READ_BYTES)

    def committed(self, events: Sequence[Event]) -> None:
        """Exports events that are committed, in the background."""
        if self._exports is not None:
            self._exports.committed(events)

    def renewal(self) -> Also:
        """Returns what a renewal of the lease writes in addition. Tries again what has failed."""
        if self._exports is None:
            return NOTHING
        self._exports.nudge()
        return {"exported": self._exports.cursors()}

    async def leave(self, due_ms: int | None, budget: Budget, *, hand_over: bool) -> tuple[int | None, Also]:
        """Returns when the run is to be checked next, `due_ms` or earlier, and what the release of the lease writes in addition.
        Waits for the exporters, within bounds. After a hand-over, the next session continues at once with what is left."""
        if self._exports is None:
            return (due_ms, NOTHING) if hand_over else self._leave_broken(due_ms)
        await self._exports.flush(min(EXPORT_HAND_OVER_MS if hand_over else EXPORT_LEAVE_MS, budget.leaving_ms))
        if hand_over:
            return due_ms, {"exported": self._exports.cursors()}
        text, retry_ms = self._exports.leave(self._world.clock.now_ms())
        return min((at for at in (due_ms, retry_ms) if at is not None), default=None), {"exported": text}

    def _leave_broken(self, due_ms: int | None) -> tuple[int | None, Also]:
        cursors = decode(self._lease.exported)
        failures = cursors.get(ALL, Cursor()).failures + 1
        if failures > MAX_EXPORT_FAILURES:
            return due_ms, NOTHING
        retry_ms = self._world.clock.now_ms() + retry_after_ms(failures)
        text = encode({**cursors, ALL: Cursor(0, failures)})
        return retry_ms if due_ms is None else min(due_ms, retry_ms), {"exported": text}

    def close(self) -> None:
        if self._exports is not None:
            self._exports.close()
