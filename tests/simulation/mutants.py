"""Planted bugs: each breaks one promise of the specification, and is a part that replaces the real one in an episode.

Acknowledging a message before the run is committed is not among them: messages are hints, so that is not a bug.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from episode import Parts
from faults import SkewedClock
from mutants_cloud import CLOUD_MUTANTS
from mutants_deaths import DEATH_MUTANTS
from mutants_erased import ERASE_MUTANTS
from mutants_exports import EXPORT_MUTANTS
from mutants_file import FILE_MUTANTS
from mutants_lingering import LINGERING_MUTANTS
from weathers import calm, dead_letters, deadly, frozen, lossy, mourning, slow, stepped

from stepless.adapters.memory.store import MemoryStore
from stepless.core.decide import decide
from stepless.core.events import Event, EventType
from stepless.core.facts import Expired, Fact, HoldChanged, Recovered
from stepless.core.fold import fold
from stepless.core.state import State
from stepless.errors import Fenced
from stepless.limits import MAX_IN_FLIGHT
from stepless.model.graph import Graph
from stepless.ports import Batch, Lease, Message, RunHead, Signal
from stepless.runtime.runlog import RunLog
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.pauses.signals import Retried, Signals
from stepless.runtime.session.runner import InvocationEnd, Runner, Session


def _runner(session: type[Session]) -> type[Runner]:
    class WithSession(Runner):
        def _open(self, head: RunHead, lease: Lease, budget: Budget) -> Session:
            return session(self._world, head, lease, budget, self.lingering)

    return WithSession


# -- the store --------------------------------------------------------------------------------------------------------


class AppendsWithoutCondition(MemoryStore):
    """A batch overwrites an existing one."""

    def append(self, run_id: str, batch: Batch) -> None:
        log = self._of(run_id).log
        log[:] = [kept for kept in log if kept.first < batch.first]
        log.append(batch)


class LosesWhatItAcknowledged(MemoryStore):
    """About every third snapshot truncates the log to an earlier state: a write that was not durable."""

    def append(self, run_id: str, batch: Batch) -> None:
        super().append(run_id, batch)
        log = self._of(run_id).log
        if len(log) == 3:
            log.pop()


class LeasesWithoutEpoch(MemoryStore):
    """A former holder of the lease may change the header."""

    def update_run(self, lease: Lease, now_ms: int, **given: Any) -> Lease:
        head = self._runs[lease.run_id]
        return super().update_run(lease._replace(epoch=head.epoch), now_ms, **given)


class LeasesToEverybody(MemoryStore):
    """A live lease excludes no other process."""

    def take_lease(self, run_id: str, owner: str, now_ms: int, until_ms: int) -> Lease | None:
        return super().take_lease(run_id, owner, now_ms + 10**9, until_ms)


class ForgetsTheDeadHolder(MemoryStore):
    """Taking a lease does not make the run due."""

    def take_lease(self, run_id: str, owner: str, now_ms: int, until_ms: int) -> Lease | None:
        lease = super().take_lease(run_id, owner, now_ms, until_ms)
        if lease is not None:
            self._runs[run_id] = self._runs[run_id]._replace(due_ms=None)
        return lease


class TakesTheLastAnswer(MemoryStore):
    """A second answer replaces the first."""

    def put_signal(self, run_id: str, signal: Signal) -> Signal:
        self._of(run_id).inbox[signal.kind, signal.identity] = signal
        return signal

    def get_signal(self, run_id: str, kind: str, identity: str) -> Signal | None:
        return None


class KeepsNoAnswers(MemoryStore):
    """Reading the inbox empties it."""

    def read_inbox(self, run_id: str) -> Sequence[Signal]:
        waiting = super().read_inbox(run_id)
        self.take_signals(run_id, waiting)
        return waiting


# -- the log ----------------------------------------------------------------------------------------------------------


class ForgetfulLog(RunLog):
    """Loading omits the last event."""

    def load(self, graph: Graph) -> State:
        state = State(graph, self.run_id)
        events = list(self.read())
        if len(events) > 3 and events[-1].type is EventType.NODE_STARTED:
            events.pop()
        for event in events:
            fold(state, event)
            state.notes.clear()
        return state


class StaleLog(RunLog):
    """A snapshot has the sequence number of another instant."""

    def save_snapshot(self, state: State) -> None:
        state.steps += 1
        super().save_snapshot(state)


class BlindLog(RunLog):
    """A conflict at append is treated as success."""

    def write(self, batches: Sequence[Batch]) -> None:
        try:
            super().write(batches)
        except Fenced:
            self.tail_bytes += 0


def _with_log(log: type[RunLog]) -> type[Session]:
    class WithLog(Session):
        def __init__(self, *parts: Any) -> None:
            super().__init__(*parts)
            self._log = log(self._world.store, self._world.blobs, self._head.run_id, self._lease.epoch)

    return WithLog


def _with_signals(signals: type[Signals]) -> type[Session]:
    class WithSignals(Session):
        def __init__(self, *parts: Any) -> None:
            super().__init__(*parts)
            self._signals = signals(self._world, self._head.run_id)

    return WithSignals


# -- the runner -------------------------------------------------------------------------------------------------------


class DispatchesBeforeItCommits(Session):
    """Work begins before its start is in the log."""

    async def _step(self, facts: Sequence[Fact]) -> list[Fact]:
        if not facts:
            return []
        decision = decide(self._state, facts, self._world.clock.now_ms(), env=self._env, capacity=MAX_IN_FLIGHT)
        for dispatch in decision.dispatches:
            self._dispatch(dispatch)
        await asyncio.sleep(0)
        await self._with_retries(lambda: self._log.append(decision.events))
        await self._mark_taken()
        return [*await self._claim_deadlines(decision), *self._signals.no_longer_early(self._state)]


class TakesBeforeItCommits(Signals):
    """Signals are marked as taken when they are read."""

    def _to_facts(self, state: State, signals: Iterable[Signal]) -> list[Fact]:
        facts = super()._to_facts(state, signals)
        self._world.store.take_signals(self._run_id, self.unmarked)
        return facts


class ForgetsTheLastLook(Session):
    """No process checks the inbox after the lease is released, and a hint for a live lease is not sent again."""

    async def _park(self, due_ms: int | None) -> InvocationEnd:
        self._signals.look(self._state)
        return await super()._park(due_ms)


class DropsBusyHints(Runner):
    """A hint that finds a live lease is dropped."""

    def _open(self, head: RunHead, lease: Lease, budget: Budget) -> Session:
        return ForgetsTheLastLook(self._world, head, lease, budget, self.lingering)

    def _requeue(self, message: Message) -> InvocationEnd:
        return InvocationEnd.BUSY


class ParksWithoutTimer(Session):
    """A waiting run has neither a timer nor a due date."""

    async def _park(self, due_ms: int | None) -> InvocationEnd:
        return await super()._park(None)


class NeverRecovers(Session):
    """A process that takes over assumes that started attempts are still running."""

    def _first_facts(self, message: Message) -> list[Fact]:
        return [fact for fact in super()._first_facts(message) if not isinstance(fact, Recovered)]


class RecoversInSilence(Session):
    """Interrupted attempts are dispatched again without an event in the log."""

    def _first_facts(self, message: Message) -> list[Fact]:
        facts = super()._first_facts(message)
        if any(isinstance(fact, Recovered) for fact in facts):
            for dispatch in decide(self._log.load(self._graph), [Recovered()], self._world.clock.now_ms()).dispatches:
                self._dispatch(dispatch)
        return [fact for fact in facts if not isinstance(fact, Recovered)]


class DropsEarlyAnswers(Signals):
    """An answer that arrives before its question is marked as taken and lost."""

    def no_longer_early(self, state: State) -> list[Fact]:
        if self.early:
            self._world.store.take_signals(self._run_id, self.early)
        self.early = []
        return []


class DeadlinesClaimNothing(Signals):
    """A deadline takes effect without checking for an answer."""

    async def claim_deadlines(self, state: State, expired: Sequence[str], retried: Retried) -> list[Fact]:
        return [Expired(instance) for instance in expired]


class HoldsWithoutAsking(Session):
    """A frozen process begins what it had committed, although another process has the lease."""

    async def _hold(self) -> int:
        await asyncio.sleep(0)
        return self._world.clock.now_ms()


class LeavesOrphans(Session):
    """Children are notified when their caller is cancelled, but not again by the process that takes over after a death."""

    async def _cancel_orphans(self, events: Iterable[Event]) -> None:
        if isinstance(events, Sequence):
            await super()._cancel_orphans(events)


class ForgetsTheHold(Session):
    """A process that loads a held run continues it."""

    def _first_facts(self, message: Message) -> list[Fact]:
        facts = super()._first_facts(message)
        self._state.held = None
        return facts


class LosesTheHold(Signals):
    """A requested hold is marked as taken and has no other effect."""

    def _to_facts(self, state: State, signals: Iterable[Signal]) -> list[Fact]:
        return [fact for fact in super()._to_facts(state, signals) if not isinstance(fact, HoldChanged)]


class ForgetsToEnd(Session):
    """The header does not record the end."""

    async def _end(self) -> InvocationEnd:
        self._released = True
        return await super()._end()


class FastClock(SkewedClock):
    """Timers are compared with an instant that has not come yet."""

    def now_ms(self) -> int:
        return super().now_ms() + 4_000


class NeverNotices(Session):
    """What began in the future stays there after the clock was set back."""

    def _set_back(self) -> list[Fact]:
        return []


MUTANTS: Mapping[str, Parts] = {
    "append without condition": Parts(store=AppendsWithoutCondition, weather=frozen),
    "acknowledged write is lost": Parts(store=LosesWhatItAcknowledged),
    "lease without epoch": Parts(store=LeasesWithoutEpoch, weather=frozen),
    "a dead holder is never found": Parts(store=ForgetsTheDeadHolder, weather=dead_letters),
    "the last answer wins": Parts(store=TakesTheLastAnswer, shape="early"),
    "the inbox is emptied by reading": Parts(store=KeepsNoAnswers, shape="early", weather=deadly),
    "loading forgets the last event": Parts(runner=_runner(_with_log(ForgetfulLog)), weather=deadly),
    "snapshots are off by one": Parts(runner=_runner(_with_log(StaleLog))),
    "a conflict is treated as success": Parts(runner=_runner(_with_log(BlindLog)), weather=frozen),
    "dispatch before commit": Parts(runner=_runner(DispatchesBeforeItCommits)),
    "signals are taken before the commit": Parts(
        runner=_runner(_with_signals(TakesBeforeItCommits)), shape="early", weather=deadly
    ),
    "no last look, no second hint": Parts(runner=DropsBusyHints, shape="early", weather=lossy, sweeps=False),
    "parking without a timer": Parts(runner=_runner(ParksWithoutTimer), shape="waits"),
    "what was cut off is forgotten": Parts(runner=_runner(NeverRecovers), weather=deadly),
    "recovering without a word": Parts(runner=_runner(RecoversInSilence), weather=deadly),
    "early answers are dropped": Parts(runner=_runner(_with_signals(DropsEarlyAnswers)), shape="early"),
    "a deadline claims nothing": Parts(runner=_runner(_with_signals(DeadlinesClaimNothing)), shape="waits", weather=slow),
    "a frozen process begins work": Parts(runner=_runner(HoldsWithoutAsking), weather=frozen),
    "children of the dead are orphans": Parts(
        runner=_runner(LeavesOrphans), shape="parent", weather=mourning, cancels=1.0
    ),
    "a held run continues": Parts(runner=_runner(ForgetsTheHold)),
    "a pause is lost": Parts(runner=_runner(_with_signals(LosesTheHold)), shape="waits"),
    "the header never records the end": Parts(runner=_runner(ForgetsToEnd), weather=calm),
    "timers compare with a clock that is ahead": Parts(clock=FastClock, shape="waits"),
    "a clock that is set back is not noticed": Parts(runner=_runner(NeverNotices), shape="waits", weather=stepped),
    "runs that wait are not examined": Parts(examines=lambda world, now_ms: None, shape="waits", weather=stepped),
    "no sweeps": Parts(sweeps=False, weather=lossy),
    **CLOUD_MUTANTS,
    **FILE_MUTANTS,
    **LINGERING_MUTANTS,
    **EXPORT_MUTANTS,
    **ERASE_MUTANTS,
    **DEATH_MUTANTS,
}
