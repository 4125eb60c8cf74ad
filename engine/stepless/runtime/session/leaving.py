"""Ends a session: it hands over, parks or ends its run, and releases the lease. Two kinds of sessions cannot release it:

* One whose run has lingering code (`lingering`): the lease lapses soon after, when the process has ended itself.
* One that uses a granted lease and has appended nothing: another receiver of the lease may be at work, and a release would let a
  third process begin beside it. The run is due at the end of the lease.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from stepless.core.state import State
from stepless.errors import SteplessError
from stepless.limits import LAPSE_MS, LEASE_MS, MAX_DURATION_MS
from stepless.model.graph import Graph
from stepless.model.json import JSON
from stepless.model.runs.statuses import ENDED
from stepless.ports import Lease, Message, RunHead
from stepless.runtime import metering
from stepless.runtime.billing import spending
from stepless.runtime.exporting.cursors import NOTHING, Also
from stepless.runtime.runlog import RunLog
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.invocation_end import InvocationEnd
from stepless.runtime.session.pauses import children
from stepless.runtime.session.pauses.signals import Signals
from stepless.runtime.world import World

if TYPE_CHECKING:
    from stepless.runtime.session.exports import SessionExports
    from stepless.runtime.session.permits.limiting import Limiter

_log = logging.getLogger(__name__)


class Leaving:
    """Leaves one run. `lease` returns the present lease. A process that `is_stopping` may take its queue with it: it passes no
    lease on. `exports` are those of the session, once it has loaded its run."""

    def __init__(
        self, world: World, head: RunHead, meta: Mapping[str, JSON], graph: Graph, lease: Callable[[], Lease], log: RunLog,
        limiter: Limiter | None, signals: Signals, budget: Budget,
    ) -> None:  # fmt: skip
        self._world, self._head, self._meta, self._graph = world, head, meta, graph
        self._lease, self._log, self._limiter = lease, log, limiter
        self.exports: SessionExports | None = None
        self._signals, self._budget = signals, budget
        self._with_retries = world.commits.with_retries
        self.is_stopping = False
        self._retry_ms: int | None = None  # when to try again what an ended run could not export
        self._has_left = head.status in ENDED  # a former session left with the end, but not all of it was exported

    async def hand_over(self, state: State) -> InvocationEnd:
        """Leaves work to the next invocation."""
        passed: tuple[int, bool] | tuple[()] = ()
        if self._log.is_fenced:
            lease = await self._release(state, self._world.clock.now_ms(), hand_over=True)
            passed = (lease.epoch, not self._log.has_snapshot) if lease.until_ms else ()
        self._world.meter.count(metering.HAND_OVERS)
        self._world.queue.send(Message(self._head.run_id, "continue", state.continued + 1, b"", *passed))
        return InvocationEnd.CONTINUED

    async def park(self, state: State, due_ms: int | None, ahead_ms: int) -> InvocationEnd:
        """Leaves a run that waits, until `due_ms` of its own time, which is `ahead_ms` ahead."""
        await self._notify_parent(state)
        if not self._log.is_fenced:
            return InvocationEnd.PARKED
        refusal: SteplessError | None = None
        if due_ms is not None:
            due_ms -= ahead_ms
            try:
                self._world.timers.arm(self._head.run_id, due_ms)
            except SteplessError as error:  # an answer need not wait until the lease expires; the message is delivered again,
                refusal = error  # and the sweep finds the run at `due_ms`
        elif self._graph.concurrency is not None:  # admission counts it among what is due
            due_ms = self._world.clock.now_ms() + MAX_DURATION_MS
        if self._limiter is not None and (check_ms := await self._limiter.check_ms(state)) is not None:
            due_ms = check_ms if due_ms is None else min(due_ms, check_ms)
        await self._release(state, due_ms)
        if refusal is not None:
            raise refusal
        if self._signals.unseen():
            self._world.queue.send(Message(self._head.run_id, "signal"))
        elif self._limiter is not None and await self._limiter.was_served(state):
            self._world.queue.send(Message(self._head.run_id, "limit"))
        return InvocationEnd.PARKED

    async def announce_end(self, state: State) -> None:
        """Tells the parent that the run has ended."""
        if not self._has_left:
            await self._notify_parent(state)

    async def _notify_parent(self, state: State) -> None:
        if "parent" in self._meta:
            await self._with_retries(partial(children.notify_parent, self._world, self._meta, state))

    async def end(self, state: State, *, released: bool) -> InvocationEnd:
        """Leaves a run that has ended. `released`: the lease was released with the last commit."""
        if not released:
            await self._release(state, None)
        if not self._has_left:
            self._world.timers.disarm(self._head.run_id)
        if self._retry_ms is not None:
            self._arm_retry(self._retry_ms)
        return InvocationEnd.ENDED

    def _arm_retry(self, retry_ms: int) -> None:
        """Arms a timer for the next try of an export, which is then due at its time, however many other runs are due."""
        try:
            self._world.timers.arm(self._head.run_id, retry_ms)
        except SteplessError as error:  # the sweep finds the run
            _log.warning("the next export of run %s waits for the sweep: %s", self._head.run_id, error)

    async def lapse(self, state: State) -> InvocationEnd:
        """Leaves a run with lingering code, because the process ends. Everything that the code uses stays taken until the lease
        lapses: its slots, and the right to begin its next attempt."""
        if not state.ended:
            await self._with_retries(partial(self._log.save_snapshot, state))
        _, also = await self._leave_exports(None, hand_over=True)
        lapse = partial(spending.lapse, self._world, self._head, self._lease(), state, also)
        await self._with_retries(lapse, together=True)
        self._world.queue.send(Message(self._head.run_id, "signal"), LAPSE_MS)
        return InvocationEnd.CONTINUED

    async def _release(self, state: State, due_ms: int | None, *, hand_over: bool = False) -> Lease:
        if not state.ended:
            await self._with_retries(partial(self._log.save_snapshot, state))
        if self._limiter is not None:
            await self._limiter.leave(state)
        due_ms, also = await self._leave_exports(due_ms, hand_over=hand_over)
        self._retry_ms = due_ms if state.ended else None
        passes_on = hand_over and not self.is_stopping
        grant_ms = self._world.clock.now_ms() + LEASE_MS if passes_on else None
        release = partial(spending.release, self._world, self._head, self._lease(), state, due_ms, also, grant_ms)
        return await self._with_retries(release, together=True)

    async def _leave_exports(self, due_ms: int | None, *, hand_over: bool) -> tuple[int | None, Also]:
        """When the run is to be checked next, and what the release of the lease writes in addition."""
        return (due_ms, NOTHING) if self.exports is None else await self.exports.leave(due_ms, self._budget, hand_over=hand_over)
