"""What a session does for the exporters of its process: nothing if there are none (`runtime/exporting/relay.py`)."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from stepless.core.events import Event
from stepless.limits import EXPORT_HAND_OVER_MS, EXPORT_LEAVE_MS, MAX_EXPORT_FAILURES, PAGE_READ_BYTES
from stepless.model.json import JSON
from stepless.ports import Lease, RunHead
from stepless.runtime.exporting.cursors import ALL, NOTHING, Also, Cursor, decode, encode, retry_after_ms
from stepless.runtime.metering import EXPORT_FAILURES, NullMeter, committed
from stepless.runtime.runlog import RunLog
from stepless.runtime.session.budget import Budget
from stepless.runtime.world import World

if TYPE_CHECKING:
    from stepless.core.masking import Mask
    from stepless.core.state import State
    from stepless.runtime.exporting.relay import Exports


_log = logging.getLogger(__name__)


class SessionExports:
    """The exports of one session. Nothing is exported before `open`. `is_idle` says whether this session exports nothing, so that
    it leaves without waiting."""

    def __init__(self, world: World, head: RunHead, lease: Lease) -> None:
        self._world = world
        self._head = head
        self._lease = lease
        self._metered = type(world.meter) is not NullMeter
        self._exports: Exports | None = None
        self._is_broken = False  # the exporters could not be made
        self.is_idle = True

    def open(self, state: State, meta: Mapping[str, JSON], env: Mapping[str, str], mask: Mask) -> None:
        """Continues from the cursors that the former session stored. Everything in `state` is committed."""
        relay = self._world.relay
        if relay is None:
            return
        try:
            if not relay.concerns(state.graph):
                return
            from stepless.runtime.exporting.exporter import ExportedRun

            run = ExportedRun(self._head, meta, state.graph, state, env, mask)
            self._exports = relay.open(run, self._lease.exported, state.sequence, self._read)
            self.is_idle = self._exports is None
        except Exception:  # no exporter may stop a run, even one that cannot be made
            _log.exception("nothing of run %s can be exported in this session", self._head.run_id)
            self._world.meter.count(EXPORT_FAILURES)
            self._is_broken, self.is_idle = True, False

    def _read(self, after: int) -> Iterator[Event]:
        log = RunLog(self._world.store, self._world.blobs, self._head.run_id)  # the session's own counts what it reads
        return log.read(after, whole=False, stride_bytes=PAGE_READ_BYTES)

    def committed(self, events: Sequence[Event]) -> None:
        """Exports events that are committed, in the background."""
        if self._exports is not None:
            self._exports.committed(events)

    def announce(self, events: Sequence[Event]) -> None:
        """Reports committed events to those who follow the run in this process: meters, followers and exporters."""
        if self._metered:
            committed(self._world.meter, self._head, events)
        if (news := self._world.news) is not None and news.followers:
            news.publish(self._head.run_id, events)
        if not self.is_idle:
            self.committed(events)

    def renewal(self) -> Also:
        """What a renewal of the lease writes besides. Tries again what has failed."""
        if self._exports is None:
            return NOTHING
        self._exports.nudge()
        return {"exported": self._exports.cursors()}

    async def leave(self, due_ms: int | None, budget: Budget, *, hand_over: bool) -> tuple[int | None, Also]:
        """When the run is to be checked next, `due_ms` or earlier, and what the release of the lease writes besides. Waits for
        the exporters, within bounds. After a hand-over, the next session continues at once with what is left."""
        if self._exports is None:
            return self._leave_broken(due_ms) if self._is_broken and not hand_over else (due_ms, NOTHING)
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
