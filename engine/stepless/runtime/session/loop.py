"""Executes a run: load → decide → commit → dispatch → collect, until the run ends, waits or the budget is used up
(docs/understand/durability.md#the-runner). `runner.py` takes the lease before. Four rules make that safe:

* *No attempt is dispatched before the batch with its start is committed.* Else a process that dies after the call and before the
  commit leaves an effect of which the log knows nothing, and the next process calls with what looks like a first attempt.
* *Facts that arrive during a commit share the next one.* A commit per fact would make a wide fan-out as slow as its commits.
* *A conflict at append means that another process runs this run now.* The state in memory contains events that are in no log, so
  it is dropped, and nothing is written; going on from it would fork the run.
* *Messages are hints.* After the lease is released, the inbox is read once more: else a signal that was put after the last read
  would wait for the sweep.

Between `_decide_once` and the end of the write, nothing of the new state may take effect outside. Attempts to abort are dropped
before: none may begin after its end, which another run's commit may include. A failed write ends the session and its attempts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from secrets import token_hex
from typing import TYPE_CHECKING

from stepless.core.decide import decide
from stepless.core.deciding.pauses import next_due_ms
from stepless.core.deciding.recovery import is_cut_off
from stepless.core.deciding.set_back import is_set_back
from stepless.core.decision import Decision, Dispatch
from stepless.core.events import Event
from stepless.core.facts import ClockSetBack, Continued, Fact, Postponed, Recovered, Tick
from stepless.core.state import State
from stepless.core.values.masking import mask_for
from stepless.errors import LeaseLost, StoreUnavailable
from stepless.limits import (
    CLOCK_TOLERANCE_MS,
    INBOX_POLL_MS,
    LEASE_MARGIN_MS,
    LEASE_MS,
    MAX_DECISION_STEPS,
    MAX_IN_FLIGHT,
    MAX_STARTED_NOW,
    PROMPT_TURNS,
    STAY_MS,
    TURN_MS,
)
from stepless.model.graph import Graph
from stepless.model.json import JSON
from stepless.model.runs.traceparent import TRACE, trace_of
from stepless.ports import GRANTED, Lease, Message, RunHead
from stepless.runtime import inbox, metering
from stepless.runtime.billing import spending
from stepless.runtime.exporting.cursors import NOTHING
from stepless.runtime.header_notes import meta_of
from stepless.runtime.runlog import RunLog
from stepless.runtime.session.arrivals import Arrivals
from stepless.runtime.session.beginning import first_facts
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.controls import Controls
from stepless.runtime.session.execution.attempts import Attempt, Attempts
from stepless.runtime.session.execution.execute import Executor
from stepless.runtime.session.invocation_end import InvocationEnd as InvocationEnd
from stepless.runtime.session.leaving import Leaving
from stepless.runtime.session.parts import limiter_of
from stepless.runtime.session.pauses import children
from stepless.runtime.session.pauses.receiving import receiving_of
from stepless.runtime.session.pauses.signals import Signals
from stepless.runtime.session.permits.exclusivity import Exclusivity
from stepless.runtime.session.permits.lingering import Lingering
from stepless.runtime.world import World
from stepless.thread_calls import count_thread_calls

if TYPE_CHECKING:
    from stepless.runtime.session.permits.limiting import Limiter


class Session(Controls):
    """One run in one invocation. `died`: attempts that no process executes were interrupted by the death of their process."""

    def __init__(
        self, world: World, head: RunHead, lease: Lease, budget: Budget, process: Lingering, exclusive: Exclusivity | None = None
    ) -> None:
        self.died, self._exclusivity = True, exclusive or Exclusivity(process)
        self._world, self._commits, self._with_retries = world, world.commits, world.commits.with_retries
        self._metered = type(world.meter) is not metering.NullMeter
        self._head = head
        self._lease = lease
        self._budget = budget
        self._meta: Mapping[str, JSON] = meta_of(head)
        self._graph: Graph = world.versions.graph(head.workflow_id, head.version, self._meta.get("entry"))
        self._granted = lease.owner in GRANTED
        self._log = RunLog(world.store, world.blobs, head.run_id, lease.epoch, token_hex(4) if self._granted else "")
        self._env = {name: value for name in self._graph.env if (value := world.secrets.get(name))}
        self._mask = mask_for(frozenset(self._env.values()))
        self._state: State = State(self._graph, head.run_id)
        self._loop = asyncio.get_running_loop()
        self._arrivals = Arrivals(self._loop)
        self._process, self._lingering = process, process.of(head.run_id)
        self._attempts = Attempts(self._loop, self._arrivals.add, process, head.run_id)
        known = {"depth": self._meta.get("depth", 0), **({TRACE: trace_of(head.run_id, self._meta)} if world.traces else {})}
        self._executor = Executor(head, world, self._arrivals.add, known, self._mask)
        self._signals = Signals(world, head.run_id)
        self._ahead_ms = 0  # how far the run's own time, which its events and timers use, is ahead of the clock
        self._yield_at = 0.0  # when to let others proceed, in the loop's seconds
        self._look_at = 0.0  # when to read the inbox next, in the loop's seconds
        left_ms = min(lease.until_ms - world.clock.now_ms(), LEASE_MS)
        self._renew_at = self._loop.time() + max(0, left_ms - LEASE_MS * 0.7) / 1000
        self._clock_ms = float("-inf")  # how far the clock was ahead of the loop's when the inbox was last read
        self._calls_children = not self._graph.kinds.isdisjoint(children.CALLERS)
        self._receiving = receiving_of(world, head, self._graph, self._meta)
        self._dispatched, self._stopping = 0, False
        self._decided = True  # whether the last decision was complete
        self._permitted = self._returned = False  # whether permits, or the return of lingering code, have come since then
        self._released = False  # whether the lease was released together with the last commit
        self.only_lingers = False  # whether the session stays for lingering code alone
        self._limiter = limiter_of(world, head, self._graph, lambda: self._lease, self._log, self._with_retries)
        if self._limiter is not None:
            self._limiter.permits.lingering = self._lingering
        self._leaving = Leaving(
            world, head, self._meta, self._graph, lambda: self._lease, self._log, self._limiter, self._signals, budget
        )  # fmt: skip

    # -- the loop ---------------------------------------------------------------------------------------------------

    async def go(self, message: Message) -> InvocationEnd:
        facts: list[Fact] = self._first_facts(message)
        self._leaving.exports = self._open_exports()
        former = self._head.owner is not None and not self._granted
        if self._receiving is not None and self._state.sequence:
            await self._with_retries(partial(self._receiving.open, self._state, repeats=former))
        if self._calls_children and former:  # the former holder may have died before it cancelled them
            await self._cancel_orphans(self._log.read(whole=False))
        while True:
            facts = await self._step(facts)
            if self._state.ended:
                return await self._end()
            if facts:
                continue
            idle = not (self._arrivals.some or self._attempts.live or self._notice_sender)
            leaving = idle and (self._decided or self._used_up or self._stopping)
            self.only_lingers = leaving and bool(self._lingering)
            if self.only_lingers:
                if self._must_leave_code:
                    return await self._leaving.lapse(self._state)
            elif leaving and (ending := await self._may_leave()) is not None:
                return ending
            facts = await self._collect()

    def _first_facts(self, message: Message) -> list[Fact]:
        if self._lease.epoch > 1:
            self._state = self._log.load(self._graph, unsaved=message.unsaved and message.epoch == self._lease.epoch)
            self._log.check_end(self._state.sequence, self._head.sequence)
            if self._granted and self._state.sequence > self._head.sequence:
                raise LeaseLost("another process received the hint before", place=self._head.run_id)
            if self._limiter is not None:
                self._limiter.recall(self._state)
        if self._state.sequence == 0:
            if self._receiving is not None:
                self._receiving.begin()
            return first_facts(self._world, self._head, self._meta, self._look(new=True))
        facts: list[Fact] = []
        if is_cut_off(self._state):
            facts.append(Recovered(self.died))
        elif message.reason == "continue":
            facts.append(Continued(message.hops))
        looked = self._look()
        return inbox.holds_first([*facts, *self._set_back(), *looked, *([] if self._signals.more else [Tick()])])

    async def _step(self, facts: Sequence[Fact]) -> list[Fact]:
        """Decides, commits and dispatches. Returns the facts that are known immediately."""
        if not facts and self._decided and not self._permitted and not self._returned:
            return []
        self._returned = False
        limiter, once = self._limiter, self._decide_once
        decision = once(facts) if limiter is None else await limiter.decide(self._state, facts, once, exhausted=self._exhausted)
        self._decided, self._permitted = not self._state.agenda or self._state.ended, False
        for instance in decision.aborts:
            self._attempts.drop(instance)
        batches = await self._commits.now_or_later(partial(self._log.encoded, decision.events))  # may store large values
        write = partial(self._log.write, batches)
        if self._state.ended and self._may_end_at_once:
            release = partial(spending.release, self._world, self._head, self._lease, self._state, None)
            write, self._released = partial(self._commits.join, write, release), True
        if self._commits.shared:
            await self._with_retries(write, together=True)
            self._yield_at = self._loop.time() + TURN_MS / 1000  # other runs had their turn
        else:
            try:
                write()
            except StoreUnavailable:
                await self._with_retries(write, together=True, failed=1)
        self._announce(decision.events)
        if self._signals.unmarked and inbox.is_worth_marking(self._signals.unmarked):
            await self._signals.mark_taken(self._state, self._with_retries, self._renew_if_due)
        now = len(decision.dispatches) <= MAX_STARTED_NOW
        for dispatch in decision.dispatches:
            if dispatch.id not in decision.aborts:
                self._dispatch(dispatch, now=now)
        if decision.notices:
            self._send_notices(decision.notices)
        if self._calls_children or self._signals.orphans:
            await self._cancel_orphans(decision.events)
        if limiter is not None:
            self._permitted = await limiter.after(self._state, exhausted=self._exhausted)
        self._exclusivity.look(self, self._state, limiter, over=self._exhausted)
        more = decision.expiries or self._signals.early or self._receiving is not None
        return await self._known_now(decision) if more else []

    async def _known_now(self, decision: Decision) -> list[Fact]:
        """The facts that follow from a commit and need no waiting: won deadlines, kept messages, signals that came too early."""
        facts = await self._signals.claim_deadlines(self._state, decision.expiries, self._with_retries)
        if self._receiving is not None and await self._with_retries(partial(self._receiving.committed, decision.events)):
            facts += await self._with_retries(self._look)
        return [*facts, *self._signals.no_longer_early(self._state)]

    @property
    def _may_end_at_once(self) -> bool:
        """Whether nothing has to be done between the last commit and the release of the lease."""
        alone = self._limiter is None and self._receiving is None and not self._calls_children and "parent" not in self._meta
        return alone and self._commits.can_join and self._exports is None and not self._signals.unmarked

    @property
    def _exhausted(self) -> bool:
        """Whether no more attempts may begin in this invocation."""
        return self._stopping or (self._used_up and (self._budget.hard or self._dispatched > 0))

    @property
    def _used_up(self) -> bool:
        """Whether the session must hand over. One with lingering code goes on while it may: its lease cannot be passed on."""
        return self._budget.over and (self._budget.hard or not self._lingering)

    @property
    def _must_leave_code(self) -> bool:
        """Whether the session leaves lingering code to the end of the process: the others have handed over, or the time is up."""
        hard = self._budget.hard
        return (hard and self._budget.over) or ((self._stopping or (hard and self._process.overdue())) and self._process.alone())

    def _decide_once(self, facts: Sequence[Fact]) -> Decision:
        now_ms, limiter = self._world.clock.now_ms() + self._ahead_ms, self._limiter
        return decide(
            self._state, facts, now_ms, env=self._env, capacity=0 if self._exhausted else MAX_IN_FLIGHT, steps=MAX_DECISION_STEPS,
            spare_ms=self._budget.spare_ms if self._budget.hard else None, permits=limiter.permits if limiter else None,
            lingering=self._lingering if self._lingering else (),
            exclusive=self._exclusivity.may_begin(self),
        )  # fmt: skip

    async def _cancel_orphans(self, events: Iterable[Event]) -> None:
        """Cancels child runs without a waiting caller: those that `events` abandon, and those found by their own signals."""
        orphans, self._signals.orphans = self._signals.orphans, []
        for orphan in [*children.orphans(self._graph, self._head.run_id, events), *orphans]:
            await self._with_retries(partial(children.cancel, self._world, orphan))

    def _dispatch(self, dispatch: Dispatch, *, now: bool) -> None:
        self._dispatched += 1
        if (kind := dispatch.instance.node.kind.name) not in self._executor.code:
            self._executor.load(kind)
        self._attempts.begin(dispatch, self._attempt, now=now)

    async def _attempt(self, attempt: Attempt) -> None:
        """Executes one attempt and reports its outcome as a fact. An error that is not an outcome ends the session."""
        world, attempt.calls = self._world, count_thread_calls(self._loop)
        gate, was_held_back = self._exclusivity, self._exclusivity.closed
        if was_held_back:
            await gate.enter(self)
        else:
            gate.attempts += 1
        try:
            now_ms = world.clock.now_ms()
            if now_ms >= self._lease.until_ms - LEASE_MARGIN_MS:
                now_ms = await self._hold()
            late = was_held_back and not self._budget.fits(attempt.dispatch.instance.node.timeout_ms)
            if late or (self._limiter is not None and not await self._limiter.in_time(attempt.dispatch.id)):
                if self._attempts.end(attempt):
                    self._arrivals.add(Postponed(attempt.dispatch.id, attempt.dispatch.attempt))
                return
            started = self._attempts.start_clock(attempt)
            fact = await self._executor.attempt(attempt.dispatch, now_ms)
            if self._metered:
                world.meter.took(metering.NODE_TIME, (self._loop.time() - started) * 1000)
        except Exception as error:
            if self._attempts.end(attempt):
                self._arrivals.fail(error, attempt.dispatch.id)
        else:
            if self._attempts.end(attempt):
                self._arrivals.add(fact)
        finally:
            gate.leave()

    async def _hold(self) -> int:
        """Confirms the lease before an attempt takes effect, since a frozen process may have lost it. Returns the time."""
        while (now_ms := self._world.clock.now_ms()) >= self._lease.until_ms - LEASE_MARGIN_MS:
            await self._with_retries(self._renew)
        return now_ms

    # -- waiting ----------------------------------------------------------------------------------------------------

    async def _collect(self) -> list[Fact]:
        """Waits for new facts: ends of attempts, due timers, signals."""
        due_ms = next_due_ms(self._state) if self._state.timers else None
        now = self._loop.time()
        if not self._decided or (self._arrivals.some and now >= self._yield_at):  # attempts that never wait take no turn
            await asyncio.sleep(0)  # lets other runs proceed, and receives what they have reported
            self._yield_at = (now := self._loop.time()) + TURN_MS / 1000
        elif not self._arrivals.some and not self._permitted:
            await self._arrivals.sleep(self._next_look(due_ms))
            self._yield_at = (now := self._loop.time()) + TURN_MS / 1000
        facts = self._arrivals.take()
        if now >= self._renew_at:
            await self._with_retries(self._renew)
        due = due_ms is not None and due_ms <= self._now_ms() and not self._used_up
        if now >= self._look_at or (due and self._state.receivers):  # a message that is there is earlier than a timeout
            facts = inbox.holds_first([*self._set_back(), *facts, *await self._with_retries(self._look)])
            if self._limiter is not None and self._state.limited and not self._exhausted:
                self._permitted = await self._limiter.provide(self._state) or self._permitted
        return [*facts, Tick()] if due and not self._signals.more else facts

    def _now_ms(self) -> int:
        return self._world.clock.now_ms() + self._ahead_ms

    def _set_back(self) -> list[Fact]:
        clock_ms = self._world.clock.now_ms() - self._loop.time() * 1000
        if clock_ms < self._clock_ms - CLOCK_TOLERANCE_MS:
            self._renew_at = self._loop.time()  # other processes take a lease that ends far ahead for one that is over
            if self._limiter is not None:
                self._limiter.clock_set_back()
        self._clock_ms = clock_ms
        return [ClockSetBack()] if is_set_back(self._state, self._now_ms()) else []

    def _next_look(self, due_ms: int | None) -> float:
        """When to wake if no fact arrives, in the loop's seconds."""
        at = min(self._look_at, self._renew_at)
        if due_ms is not None and not self._used_up:
            at = min(at, self._loop.time() + max(0, due_ms - self._now_ms()) / 1000)
        return at

    async def _renew_if_due(self) -> None:
        if self._loop.time() >= self._renew_at:
            await self._with_retries(self._renew)

    def _renew(self) -> None:
        now = self._loop.time()
        also = NOTHING if self._exports is None else self._exports.renewal()
        self._lease = spending.renew(self._world, self._head, self._lease, self._state, also)
        self._renew_at = now + LEASE_MS / 3000

    def _look(self, *, new: bool = False) -> list[Fact]:
        """The signals that arrived since the inbox was last read, as facts. The time of a `new` run has never been skipped."""
        self._look_at = self._loop.time() + INBOX_POLL_MS / 1000
        self._ahead_ms = 0 if new else self._world.ahead_ms(self._head.run_id)
        if self._limiter is not None:
            self._limiter.ahead_ms = self._ahead_ms
        return self._signals.look(self._state)

    # -- leaving ----------------------------------------------------------------------------------------------------

    async def _may_leave(self) -> InvocationEnd | None:
        """Stays for something due soon (None), hands over or parks. No attempt is running, and no fact has arrived."""
        if self._exclusivity.concerns(self) and not self._exhausted:
            return None
        if self._stopping or not self._decided or ((self._state.ready or self._state.doubted) and self._state.held is None):
            return await self._leaving.hand_over(self._state)
        due_ms = next_due_ms(self._state)
        if is_set_back(self._state, self._now_ms()) and not self._used_up:
            self._look_at = self._loop.time()  # since the last look: it would leave until an instant that lies days ahead
            return None
        if due_ms is not None and due_ms - self._now_ms() <= STAY_MS:
            return await self._leaving.hand_over(self._state) if self._used_up else None
        if self._limiter is not None and (self._permitted or not self._limiter.may_leave(self._state)):
            return await self._leaving.hand_over(self._state) if self._exhausted or not self._log.is_fenced else None
        return await self._park(due_ms)

    async def _park(self, due_ms: int | None) -> InvocationEnd:
        return await self._leaving.park(self._state, due_ms, self._ahead_ms)

    async def _end(self) -> InvocationEnd:
        await self._leaving.announce_end(self._state)
        if self._receiving is not None and self._receiving.has_key:
            await self._with_retries(self._renew)  # shows in the header that the run has ended, before the last look
            await self._with_retries(self._receiving.finish)
        if self._limiter is not None and self._lingering and not await self._keep_slots(self._limiter):
            return await self._leaving.lapse(self._state)
        return await self._leaving.end(self._state, released=self._released)

    async def _keep_slots(self, limiter: Limiter) -> bool:
        """Stays until the lingering code of a run that has ended has returned, and with it its slots. False if the process ends
        itself before that."""
        for _ in range(PROMPT_TURNS):  # most code returns at once when it is cancelled
            await asyncio.sleep(0)
        if self._lingering:
            await self._with_retries(self._renew)  # shows in the header that the run has ended
        while self._lingering:
            self.only_lingers = True
            if self._must_leave_code:
                return False
            await self._arrivals.sleep(min(self._renew_at, self._loop.time() + INBOX_POLL_MS / 1000))
            self._arrivals.take()
            await self._renew_if_due()
            await limiter.after(self._state, exhausted=True)
        return True

