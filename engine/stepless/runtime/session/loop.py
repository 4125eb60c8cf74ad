"""The loop that executes a run: load → decide → commit → dispatch → collect, until the run ends, waits or the budget is used up
(docs/durability.md#the-runner). `runner.py` takes the lease before.

The loop relies on these rules:

* No attempt is dispatched before the batch with its start is committed (write-ahead).
* Facts that arrive during a commit share the next one (group commit).
* A conflict at append means that another process runs this run now. The state in memory is dropped, and nothing is written.
* Messages are hints. After the lease is released, the inbox is read once more, so that no signal is missed between the last read
  and the end of the invocation.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from secrets import token_hex

from stepless.core.decide import decide, is_cut_off
from stepless.core.decision import Decision, Dispatch
from stepless.core.events import Event
from stepless.core.facts import Continued, Fact, Postponed, Recovered, Tick
from stepless.core.masking import mask_for
from stepless.core.pauses import next_due_ms
from stepless.core.state import State
from stepless.errors import LeaseLost, LogUnreadable, SteplessError, StoreUnavailable
from stepless.limits import (
    INBOX_POLL_MS,
    LEASE_MARGIN_MS,
    LEASE_MS,
    MAX_DECISION_STEPS,
    MAX_DURATION_MS,
    MAX_IN_FLIGHT,
    MAX_STARTED_NOW,
    STAY_MS,
    TAKEN_AT_ONCE,
    TURN_MS,
)
from stepless.model.graph import Graph
from stepless.model.json import JSON
from stepless.model.traceparent import TRACE, trace_of
from stepless.ports import GRANTED, Lease, Message, RunHead
from stepless.runtime import inbox, metering, resting
from stepless.runtime.billing import spending
from stepless.runtime.header_notes import meta_of
from stepless.runtime.runlog import RunLog
from stepless.runtime.session import children
from stepless.runtime.session.arrivals import Arrivals
from stepless.runtime.session.attempts import Attempt, Attempts
from stepless.runtime.session.beginning import first_facts
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.execute import Executor
from stepless.runtime.session.exports import SessionExports
from stepless.runtime.session.invocation_end import InvocationEnd as InvocationEnd
from stepless.runtime.session.limited import limiter_of
from stepless.runtime.session.notice_sender import NoticeSender
from stepless.runtime.session.signals import Signals
from stepless.runtime.world import World


class Session:
    """One run in one invocation."""

    def __init__(self, world: World, head: RunHead, lease: Lease, budget: Budget) -> None:
        self._world = world
        self._commits = world.commits
        self._with_retries = world.commits.with_retries
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
        self._attempts = Attempts(self._loop, self._arrivals.add)
        known = {"depth": self._meta.get("depth", 0), **({TRACE: trace_of(head.run_id, self._meta)} if world.traces else {})}
        self._executor = Executor(head, world, self._arrivals.add, known, self._mask)
        self._signals = Signals(world, head.run_id)
        self._ahead_ms = 0  # how far the run's own time, which its events and timers use, is ahead of the clock
        self._yield_at = 0.0  # when to let others proceed, in the loop's seconds
        self._look_at = 0.0  # when to read the inbox next, in the loop's seconds
        self._renew_at = self._loop.time() + max(0, lease.until_ms - world.clock.now_ms() - LEASE_MS * 0.7) / 1000
        self._calls_children = "workflow" in self._graph.kinds
        self._notice_sender = NoticeSender(world, self._env, self._mask, self._arrivals.add)
        self._exports = SessionExports(world, head, lease)
        self._dispatched, self._stopping = 0, False
        self._decided = True  # whether the last decision was complete
        self._permitted = False  # whether permits have arrived since the last decision
        self._released = False  # whether the lease was released together with the last commit
        self._limiter = limiter_of(world, head, self._graph, lambda: self._lease, self._log, self._with_retries)

    # -- from outside -----------------------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        """The state after the last decision; of a session that has left, after its last commit."""
        return self._state

    def poke(self) -> None:
        """Makes the session read the inbox now. Called when a signal was put."""
        self._look_at = 0.0
        self._arrivals.wake()

    def stop(self) -> None:
        """Starts no more attempts, and hands over once the running ones have finished."""
        self._stopping = True
        self._arrivals.wake()

    def rest(self, error: LogUnreadable) -> bool:
        """Releases the lease of a run whose log cannot be read. False if another process has taken it."""
        return resting.rest(self._world, self._head, self._lease, error)

    def close(self) -> None:
        """Cancels the attempts, notices and exports that are still running."""
        self._arrivals.close()
        self._attempts.close()
        self._notice_sender.close()
        self._exports.close()

    # -- the loop ---------------------------------------------------------------------------------------------------

    async def go(self, message: Message) -> InvocationEnd:
        facts: list[Fact] = self._first_facts(message)
        self._exports.open(self._state, self._meta, self._env, self._mask)
        former = self._head.owner is not None and not self._granted
        if self._calls_children and former:  # the former holder may have died before it cancelled them
            await self._cancel_orphans(self._log.read(whole=False))
        while True:
            facts = await self._step(facts)
            if self._state.ended:
                return await self._end()
            if facts:
                continue
            idle = not (self._arrivals.some or self._attempts.live or self._notice_sender)
            leaving = idle and (self._decided or self._budget.over or self._stopping)
            if leaving and (ending := await self._may_leave()) is not None:
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
            return first_facts(self._world, self._head, self._meta, self._look(new=True))
        facts: list[Fact] = []
        if is_cut_off(self._state):
            facts.append(Recovered())
        elif message.reason == "continue":
            facts.append(Continued(message.hops))
        return inbox.holds_first([*facts, Tick(), *self._look()])

    async def _step(self, facts: Sequence[Fact]) -> list[Fact]:
        """Decides, commits and dispatches. Returns the facts that are known immediately."""
        if not facts and self._decided and not self._permitted:
            return []
        limiter, once = self._limiter, self._decide_once
        decision = once(facts) if limiter is None else await limiter.decide(self._state, facts, once, exhausted=self._exhausted)
        self._decided, self._permitted = not self._state.agenda or self._state.ended, False
        write = partial(self._log.write, self._log.encoded(decision.events))
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
        for instance in decision.aborts:  # before the first await: a cancelled attempt must not start in the meantime
            self._attempts.drop(instance)
        if self._signals.unmarked and inbox.is_worth_marking(self._signals.unmarked):
            await self._mark_taken()
        now = len(decision.dispatches) <= MAX_STARTED_NOW
        for dispatch in decision.dispatches:
            if dispatch.id not in decision.aborts:
                self._dispatch(dispatch, now=now)
        for pause in decision.notices:
            self._notice_sender.begin(self._state, pause)
        if self._calls_children or self._signals.orphans:
            await self._cancel_orphans(decision.events)
        if limiter is not None:
            self._permitted = await limiter.after(self._state, exhausted=self._exhausted)
        won = await self._claim_deadlines(decision) if decision.expiries else []
        return [*won, *self._signals.no_longer_early(self._state)] if won or self._signals.early else []

    def _announce(self, events: Sequence[Event]) -> None:
        """Reports committed events to those who follow the run in this process."""
        if self._metered:
            metering.committed(self._world.meter, self._head, events)
        if (news := self._world.news) is not None and news.followers:
            news.publish(self._head.run_id, events)
        if not self._exports.is_idle:
            self._exports.committed(events)

    @property
    def _may_end_at_once(self) -> bool:
        """Whether nothing has to be done between the last commit and the release of the lease."""
        alone = self._limiter is None and not self._calls_children and "parent" not in self._meta
        return alone and self._commits.can_join and self._exports.is_idle and not self._signals.unmarked

    @property
    def _exhausted(self) -> bool:
        """Whether no more attempts may begin in this invocation."""
        return self._stopping or (self._budget.over and (self._budget.hard or self._dispatched > 0))

    def _decide_once(self, facts: Sequence[Fact]) -> Decision:
        now_ms, limiter = self._world.clock.now_ms() + self._ahead_ms, self._limiter
        return decide(
            self._state, facts, now_ms, env=self._env, capacity=0 if self._exhausted else MAX_IN_FLIGHT, steps=MAX_DECISION_STEPS,
            room_ms=self._budget.room_ms if self._budget.hard else None, permits=limiter.permits if limiter else None,
        )  # fmt: skip

    async def _cancel_orphans(self, events: Iterable[Event]) -> None:
        """Cancels child runs without a waiting caller: those that `events` abandon, and those found by their own signals."""
        orphans, self._signals.orphans = self._signals.orphans, []
        for orphan in [*children.orphans(self._graph, self._head.run_id, events), *orphans]:
            await self._with_retries(partial(children.cancel, self._world, orphan))

    async def _mark_taken(self) -> None:
        """Marks the processed signals as taken. Their events are committed, so no later session needs them."""
        unmarked = self._signals.unmarked
        while unmarked:
            some = unmarked[:TAKEN_AT_ONCE]
            await self._with_retries(partial(self._world.store.take_signals, self._head.run_id, some), together=True)
            del unmarked[:TAKEN_AT_ONCE]
            if self._loop.time() >= self._renew_at:
                await self._with_retries(self._renew)

    def _dispatch(self, dispatch: Dispatch, *, now: bool) -> None:
        self._dispatched += 1
        if (kind := dispatch.instance.node.kind.name) not in self._executor.code:
            self._executor.load(kind)
        self._attempts.begin(dispatch, self._attempt, now=now)

    async def _attempt(self, attempt: Attempt) -> None:
        """Executes one attempt and reports its outcome as a fact. An error that is not an outcome ends the session."""
        world = self._world
        try:
            now_ms = world.clock.now_ms()
            if now_ms >= self._lease.until_ms - LEASE_MARGIN_MS:
                now_ms = await self._hold()
            if self._limiter is not None and not await self._limiter.in_time(attempt.dispatch.id):
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

    async def _hold(self) -> int:
        """Confirms the lease before an attempt takes effect, since a frozen process may have lost it. Returns the time."""
        while (now_ms := self._world.clock.now_ms()) >= self._lease.until_ms - LEASE_MARGIN_MS:
            await self._with_retries(self._renew)
        return now_ms

    async def _claim_deadlines(self, decision: Decision) -> list[Fact]:
        """Puts the signals of expired deadlines. A deadline and an answer compete for the same key, so exactly one wins."""
        now_ms = self._world.clock.now_ms()
        facts: list[Fact] = []
        for instance in decision.expiries:
            signal = inbox.deadline_signal(instance, now_ms)
            existing = await self._with_retries(partial(self._world.store.put_signal, self._head.run_id, signal))
            facts += self._signals.claimed(self._state, existing)
        return facts

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
        if due_ms is not None and due_ms <= self._now_ms() and not self._budget.over:
            facts.append(Tick())
        if now >= self._look_at:
            facts = inbox.holds_first([*facts, *await self._with_retries(self._look)])
            if self._limiter is not None and self._state.limited and not self._exhausted:
                self._permitted = await self._limiter.provide(self._state) or self._permitted
        return facts

    def _now_ms(self) -> int:
        return self._world.clock.now_ms() + self._ahead_ms

    def _next_look(self, due_ms: int | None) -> float:
        """When to wake if no fact arrives, in the loop's seconds."""
        at = min(self._look_at, self._renew_at)
        if due_ms is not None and not self._budget.over:
            at = min(at, self._loop.time() + max(0, due_ms - self._now_ms()) / 1000)
        return at

    def _renew(self) -> None:
        now = self._loop.time()
        self._lease = spending.renew(self._world, self._head, self._lease, self._state, self._exports.renewal())
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
        if self._stopping or not self._decided or (self._state.ready and self._state.held is None):
            return await self._hand_over()
        due_ms = next_due_ms(self._state)
        if due_ms is not None and due_ms - self._now_ms() <= STAY_MS:
            return await self._hand_over() if self._budget.over else None
        if self._limiter is not None and (self._permitted or not self._limiter.may_leave(self._state)):
            return await self._hand_over() if self._exhausted or not self._log.is_fenced else None
        return await self._park(due_ms)

    async def _hand_over(self) -> InvocationEnd:
        lease = await self._leave(self._world.clock.now_ms(), hand_over=True)
        self._world.meter.count(metering.HAND_OVERS)
        passed = (lease.epoch, not self._log.has_snapshot) if lease.until_ms else ()
        self._world.queue.send(Message(self._head.run_id, "continue", self._state.continued + 1, b"", *passed))
        return InvocationEnd.CONTINUED

    async def _park(self, due_ms: int | None) -> InvocationEnd:
        children.notify_parent(self._world, self._meta, self._state)
        refusal: SteplessError | None = None
        if due_ms is not None:
            due_ms -= self._ahead_ms
            try:
                self._world.timers.arm(self._head.run_id, due_ms)
            except SteplessError as error:  # an answer need not wait until the lease expires; the message is delivered again,
                refusal = error  # and the sweep finds the run at `due_ms`
        elif self._graph.concurrency is not None:  # admission counts it among what is due
            due_ms = self._world.clock.now_ms() + MAX_DURATION_MS
        if self._limiter is not None and (check_ms := await self._limiter.check_ms(self._state)) is not None:
            due_ms = check_ms if due_ms is None else min(due_ms, check_ms)
        await self._leave(due_ms)
        if refusal is not None:
            raise refusal
        if self._signals.unseen():
            self._world.queue.send(Message(self._head.run_id, "signal"))
        elif self._limiter is not None and await self._limiter.was_served(self._state):
            self._world.queue.send(Message(self._head.run_id, "limit"))
        return InvocationEnd.PARKED

    async def _end(self) -> InvocationEnd:
        has_left = self._head.status in inbox.ENDED  # a former session left with the end, but not all of it was exported
        if not has_left:
            children.notify_parent(self._world, self._meta, self._state)
        if not self._released:
            await self._leave(None)
        if not has_left:
            self._world.timers.disarm(self._head.run_id)
        return InvocationEnd.ENDED

    async def _leave(self, due_ms: int | None, *, hand_over: bool = False) -> Lease:
        if not self._state.ended:
            self._log.save_snapshot(self._state)
        if self._limiter is not None:
            await self._limiter.leave(self._state)
        due_ms, also = await self._exports.leave(due_ms, self._budget, hand_over=hand_over)
        passes_on = hand_over and self._log.is_fenced and not self._stopping  # a process that stops may take its queue with it
        grant_ms = self._world.clock.now_ms() + LEASE_MS if passes_on else None
        release = partial(spending.release, self._world, self._head, self._lease, self._state, due_ms, also, grant_ms)
        return await self._with_retries(release, together=True)
