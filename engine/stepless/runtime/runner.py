"""THE loop: lease → load → decide → commit → dispatch → collect, until the run ends, waits or the budget is used up (3.3).

What a reader must know to trust it:

* Nothing is dispatched before the batch with its start is committed (write-ahead).
* Whatever arrives while a commit is under way shares the next one (group commit).
* A conflict at append means that somebody else runs this run now: everything in memory is dropped, nothing is written.
* Messages are hints. After the lease is released the inbox is looked at once more, so no signal can fall between a last look
  and the end of the invocation.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from secrets import token_hex
from typing import TypeVar

from stepless.core.decide import decide, is_cut_off
from stepless.core.decision import Decision, Dispatch
from stepless.core.events import Event
from stepless.core.facts import AttemptFact, Begin, Continued, Fact, Noticed, Recovered, Tick
from stepless.core.masking import mask_for
from stepless.core.pauses import next_due_ms
from stepless.core.state import State
from stepless.errors import EngineBug, Fenced, SteplessError, StoreUnavailable
from stepless.limits import (
    BUSY_DELAY_MS,
    COMMIT_TRIES,
    INBOX_LOOK_MS,
    LEASE_MARGIN_MS,
    LEASE_MS,
    MAX_IN_FLIGHT,
    STAY_MS,
    TRANSIENT_BACKOFF_MS,
)
from stepless.model.graph import Graph
from stepless.model.json import JSON
from stepless.nodes import KINDS
from stepless.ports import Lease, Message, RunHead, Signal
from stepless.runtime import children, inbox, metering
from stepless.runtime.alarm import Alarm
from stepless.runtime.budget import Budget
from stepless.runtime.endings import Ending as Ending
from stepless.runtime.execute import attempt
from stepless.runtime.moderation import Gate
from stepless.runtime.publishing import all_nodes
from stepless.runtime.reruns import reused_outputs
from stepless.runtime.runlog import RunLog
from stepless.runtime.telling import Telling
from stepless.runtime.versions import Versions
from stepless.runtime.world import World

T = TypeVar("T")


class Runner:
    """Runs runs, each invocation one of them. `sessions` are those under way in this process, by run id."""

    def __init__(self, world: World, versions: Versions) -> None:
        self._world = world
        self._versions = versions
        self.sessions: dict[str, Session] = {}

    async def run(self, message: Message, budget: Budget) -> Ending:
        """Takes a run as far as it goes within the budget. Raises `StoreUnavailable` when the store stays out of reach: the
        message must then come again."""
        world, run_id = self._world, message.run_id
        now_ms = world.clock.now_ms()
        active = self.sessions.get(run_id)
        if active is not None:
            active.poke()
            return Ending.BUSY
        head = world.store.get_run(run_id)
        if head is None or (head.status in inbox.ENDED and head.owner is None and head.due_ms is None):
            return Ending.GONE
        lease = world.store.take_lease(run_id, token_hex(8), now_ms, now_ms + LEASE_MS)
        if lease is None:
            return self._turned_away(message)
        session = self._open(head, lease, budget.start())
        self.sessions[run_id] = session
        try:
            return await session.go(message)
        except Fenced:
            world.meter.count(metering.LEASE_CONFLICTS)
            world.queue.send(Message(run_id, "fenced"), BUSY_DELAY_MS)  # the other may have left before our last commit came
            return Ending.FENCED
        finally:
            session.close()
            del self.sessions[run_id]

    def _open(self, head: RunHead, lease: Lease, budget: Budget) -> Session:
        return Session(self._world, self._versions, head, lease, budget)

    def _turned_away(self, message: Message) -> Ending:
        self._world.meter.count(metering.LEASE_CONFLICTS)
        self._world.queue.send(message, BUSY_DELAY_MS)
        return Ending.BUSY


class Session:
    """One run in one invocation."""

    def __init__(self, world: World, versions: Versions, head: RunHead, lease: Lease, budget: Budget) -> None:
        self._world = world
        self._versions = versions
        self._head = head
        self._lease = lease
        self._budget = budget
        self._meta: Mapping[str, object] = json.loads(head.meta)
        self._graph: Graph = versions.graph(head.workflow_id, head.version, self._meta.get("entry"))
        self._log = RunLog(world.store, world.blobs, head.run_id, lease.epoch)
        self._env = {name: value for name in self._graph.env if (value := world.secrets.get(name)) is not None}
        self._mask = mask_for(frozenset(self._env.values()))
        self._state: State = State(self._graph, head.run_id)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._arrived: deque[Fact] = deque()
        self._wake = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._alarm = Alarm(self._loop, self._wake.set)
        self._seen: set[tuple[str, str]] = set()  # signals that this session knows of
        self._early: list[Signal] = []  # answers to pauses that are not recorded yet
        self._told: list[Signal] = []  # told to the core, and not marked taken yet
        self._strays: list[str] = []  # child runs that are at work although their caller has settled
        self._look_at = 0.0  # when the inbox is looked into next, in the loop's seconds
        self._renew_at = self._loop.time() + LEASE_MS / 3000
        self._calls_children = any(node.kind is KINDS["workflow"] for node in all_nodes(self._graph.root))
        self._fault: SteplessError | None = None  # what an attempt met that is no end of it
        self._gate = Gate(world.moderator)
        self._telling = Telling(world, self._env, self._mask, self._arrive)
        self._dispatched = 0
        self._stopping = False

    # -- from outside -----------------------------------------------------------------------------------------------

    def poke(self) -> None:
        """Something is in the inbox: look now rather than at the next second."""
        self._look_at = 0.0
        self._wake.set()

    def stop(self) -> None:
        """Begin nothing new; hand over once what is under way has drained."""
        self._stopping = True
        self._wake.set()

    def close(self) -> None:
        """Lets go of what is still under way: nobody waits for it any more."""
        self._alarm.clear()
        for task in self._tasks.values():
            task.cancel()
        self._telling.close()

    # -- the loop ---------------------------------------------------------------------------------------------------

    async def go(self, message: Message) -> Ending:
        facts: list[Fact] = self._first_facts(message)
        if self._calls_children and self._head.owner is not None:  # the former holder died, perhaps before it told them
            await self._cancel_orphans(self._log.read(whole=False))
        while True:
            facts = await self._step(facts)
            if self._state.ended:
                await self._patiently(self._take_signals)
                return self._end()
            if facts:
                continue
            if not self._tasks and not self._telling and (ending := self._may_leave()) is not None:
                return ending
            facts = await self._collect()

    def _first_facts(self, message: Message) -> list[Fact]:
        if self._lease.epoch > 1:
            self._state = self._log.load(self._graph)
        if self._state.sequence == 0:
            meta = {name: value for name, value in self._meta.items() if name in ("trigger", "tags", "parent", "rerun")}
            reused = reused_outputs(self._world, self._versions, self._meta.get("rerun"))
            return [Begin(json.loads(self._head.inputs), meta, reused), *self._look()]
        facts: list[Fact] = []
        if is_cut_off(self._state):
            facts.append(Recovered())
        elif message.reason == "continue":
            facts.append(Continued(message.hops))
        return [*facts, Tick(), *self._look()]

    async def _step(self, facts: Sequence[Fact]) -> list[Fact]:
        """Decides, commits, does what follows; answers facts that are known at once."""
        if not facts:
            return []
        exhausted = self._stopping or (self._budget.over and self._dispatched > 0)
        decision = decide(
            self._state,
            facts,
            self._world.clock.now_ms(),
            env=self._env,
            capacity=0 if exhausted else MAX_IN_FLIGHT,
            room_ms=self._budget.room_ms if self._dispatched else None,
        )
        await self._patiently(lambda: self._log.append(decision.events))
        metering.committed(self._world.meter, self._head, decision.events)
        for instance in decision.aborts:  # before anything that waits: what was cancelled must not begin meanwhile
            task = self._tasks.pop(instance, None)
            if task is not None:
                task.cancel()
        await self._patiently(self._take_signals)
        for dispatch in decision.dispatches:
            if dispatch.id not in decision.aborts:
                self._dispatch(dispatch)
        for pause in decision.notices:
            self._telling.begin(self._state, pause)
        await self._cancel_orphans(decision.events)
        return [*await self._claim_deadlines(decision), *self._ripe()]

    async def _cancel_orphans(self, events: Iterable[Event]) -> None:
        """Children that nobody waits for any more, or that tell of themselves when nobody does."""
        strays, self._strays = self._strays, []
        for orphan in [*children.orphans(self._graph, self._head.run_id, events), *strays]:
            await self._patiently(partial(children.cancel, self._world, orphan))

    def _take_signals(self) -> None:
        """What the core was told is committed: it need not be told again."""
        if self._told:
            self._world.store.take_signals(self._head.run_id, self._told)
            self._told = []

    async def _patiently(self, call: Callable[[], T]) -> T:
        """A call that may be repeated: a store that is out of reach for a moment slows the run, and cuts off nothing that is
        under way."""
        for tries in range(1, COMMIT_TRIES):
            try:
                return call()
            except StoreUnavailable:
                await asyncio.sleep(TRANSIENT_BACKOFF_MS / 1000 * 2 ** min(tries, 6))
        return call()

    def _dispatch(self, dispatch: Dispatch) -> None:
        self._dispatched += 1
        self._tasks[dispatch.id] = self._loop.create_task(self._attempt(dispatch))

    async def _attempt(self, dispatch: Dispatch) -> None:
        """One attempt, whose end becomes a fact. What is no end of an attempt ends the session."""
        try:
            await self._hold()
            fact = await self._try(dispatch)
        except SteplessError as error:
            self._fault = error
        except Exception as error:
            self._fault = EngineBug(f"{type(error).__name__}: {error}", place=dispatch.id)
        else:
            self._tasks.pop(dispatch.id, None)
            self._arrive(fact)
        self._wake.set()

    async def _try(self, dispatch: Dispatch) -> AttemptFact:
        head, run = self._head, self._world.runs[dispatch.instance.node.kind.name]
        now_ms = self._world.clock.now_ms()
        facts = {"depth": self._meta.get("depth", 0)}
        started = self._loop.time()
        fact = await attempt(dispatch, head.run_id, head.workflow_id, run, self._gate, now_ms, self._arrive, facts, self._mask)
        self._world.meter.took(metering.NODE_TIME, (self._loop.time() - started) * 1000)
        return fact

    async def _hold(self) -> None:
        """Whoever was frozen may have lost the lease meanwhile: asked about right before anything takes effect outside."""
        while self._world.clock.now_ms() >= self._lease.until_ms - LEASE_MARGIN_MS:
            await self._patiently(self._renew)

    def _arrive(self, fact: AttemptFact | Noticed) -> None:
        """An attempt's end, or what it says meanwhile."""
        self._arrived.append(fact)
        self._wake.set()

    async def _claim_deadlines(self, decision: Decision) -> list[Fact]:
        """A deadline claims the same key that an answer would: exactly one of them wins."""
        now_ms = self._world.clock.now_ms()
        facts: list[Fact] = []
        for instance in decision.expiries:
            signal = inbox.deadline_signal(instance, now_ms)
            standing = await self._patiently(partial(self._world.store.put_signal, self._head.run_id, signal))
            self._seen.add((standing.kind, standing.identity))
            facts += self._tell_core([standing])
        return facts

    # -- waiting ----------------------------------------------------------------------------------------------------

    async def _collect(self) -> list[Fact]:
        """What has happened since: ends of attempts, due timers, signals."""
        if not self._arrived:
            await self._sleep()
        self._wake.clear()
        if self._fault is not None:
            raise self._fault
        now = self._loop.time()
        if now >= self._renew_at:
            await self._patiently(self._renew)
        facts: list[Fact] = list(self._arrived)
        self._arrived.clear()
        due_ms = next_due_ms(self._state)
        if due_ms is not None and due_ms <= self._world.clock.now_ms() and not self._budget.over:
            facts.append(Tick())
        if now >= self._look_at:
            facts.extend(await self._patiently(self._look))
        return facts

    async def _sleep(self) -> None:
        at = min(self._look_at, self._renew_at)
        due_ms = next_due_ms(self._state)
        if due_ms is not None and not self._budget.over:
            at = min(at, self._loop.time() + max(0, due_ms - self._world.clock.now_ms()) / 1000)
        self._alarm.set(at)
        await self._wake.wait()

    def _renew(self) -> None:
        now, now_ms = self._loop.time(), self._world.clock.now_ms()
        status = self._state.status.value  # told along, so that whoever lists runs sees the long ones running
        self._lease = self._world.store.update_run(self._lease, now_ms, status=status, until_ms=now_ms + LEASE_MS)
        self._renew_at = now + LEASE_MS / 3000

    def _look(self) -> list[Fact]:
        """The signals that came since the last look, as facts."""
        self._look_at = self._loop.time() + INBOX_LOOK_MS / 1000
        new = [s for s in self._world.store.read_inbox(self._head.run_id) if (s.kind, s.identity) not in self._seen]
        early = [signal for signal in new if inbox.is_early(self._state, signal)]
        facts = self._tell_core(signal for signal in new if signal not in early)
        self._early += early
        self._seen.update((signal.kind, signal.identity) for signal in new)
        return facts

    def _ripe(self) -> list[Fact]:
        """Early answers whose pause has been recorded, or never will be."""
        if not self._early:
            return []
        ripe = [signal for signal in self._early if not inbox.is_early(self._state, signal)]
        self._early = [signal for signal in self._early if signal not in ripe]
        return self._tell_core(ripe)

    def _tell_core(self, signals: Iterable[Signal]) -> list[Fact]:
        told = list(signals)
        facts = [inbox.fact_of(signal, self._outcome_of) for signal in told]
        self._told += told
        self._strays += [run for signal in told if (run := inbox.stray_child(self._state, signal)) is not None]
        return [fact for fact in facts if fact is not None]

    def _outcome_of(self, run_id: str) -> tuple[JSON, Mapping[str, JSON] | None]:
        return children.outcome(self._world, self._versions, run_id)

    # -- leaving ----------------------------------------------------------------------------------------------------

    def _may_leave(self) -> Ending | None:
        """Nothing is under way: stay for something that is due soon, hand over, or park."""
        if self._arrived:
            return None
        if self._stopping or self._state.ready:
            return self._hand_over()
        due_ms = next_due_ms(self._state)
        if due_ms is not None and due_ms - self._world.clock.now_ms() <= STAY_MS:
            return self._hand_over() if self._budget.over else None
        return self._park(due_ms)

    def _hand_over(self) -> Ending:
        now_ms = self._world.clock.now_ms()
        self._leave(now_ms)
        self._world.meter.count(metering.HAND_OVERS)
        hops = self._state.continued + 1
        self._world.queue.send(Message(self._head.run_id, "continue", hops))
        return Ending.CONTINUED

    def _park(self, due_ms: int | None) -> Ending:
        children.tell_parent(self._world, self._meta, self._state)
        if due_ms is not None:
            self._world.timers.arm(self._head.run_id, due_ms)
        self._leave(due_ms)
        unseen = [s for s in self._world.store.read_inbox(self._head.run_id) if (s.kind, s.identity) not in self._seen]
        if unseen:
            self._world.queue.send(Message(self._head.run_id, "signal"))
        return Ending.PARKED

    def _end(self) -> Ending:
        children.tell_parent(self._world, self._meta, self._state)
        self._leave(None)
        self._world.timers.disarm(self._head.run_id)
        return Ending.ENDED

    def _leave(self, due_ms: int | None) -> None:
        if not self._state.ended:
            self._log.save_snapshot(self._state)
        self._world.store.update_run(
            self._lease,
            self._world.clock.now_ms(),
            status=self._state.status.value,
            sequence=self._state.sequence,
            due_ms=due_ms,
            release=True,
        )
