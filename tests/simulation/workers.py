"""The processes that execute runs, and the delivery of messages to them: at least once, in any order, on the cloud in batches."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from faults import Crash, Line
from journal import Violation
from virtual_time import Actor, VirtualLoop

from stepless.compile.stored import compile_stored
from stepless.errors import DamagedLog, EngineBug, SteplessError, StoreUnavailable
from stepless.model.graph import Graph
from stepless.model.kind import Kinds
from stepless.model.stored.damage import told_by
from stepless.ports import Blobs, Message, Store
from stepless.runtime.session.budget import Budget
from stepless.runtime.versions import Versions

if TYPE_CHECKING:
    from episode import Episode

VISIBILITY_MS = 130_000
MAX_RECEIPTS = 5  # on the cloud; after them a message is a dead letter
UNEXPECTED = (SteplessError, LookupError, ValueError, TypeError)
_GRAPHS: dict[tuple[str, str, tuple[str, ...] | None], Graph] = {}


class KnownVersions(Versions):
    """Reads a version once per process, and compiles it once for all worlds, because it never changes."""

    def __init__(self, store: Store, kinds: Kinds, blobs: Blobs | None = None) -> None:
        super().__init__(store, kinds, blobs)
        self._read: set[tuple[str, str, tuple[str, ...] | None]] = set()

    def graph(self, workflow_id: str, version: str, entries: Sequence[str] | None = None) -> Graph:
        key = (workflow_id, version, tuple(entries) if entries is not None else None)
        if key not in self._read:
            document = self._stored(workflow_id, version)
            if key not in _GRAPHS or told_by(document) is not None:  # what cannot be read is not compiled in any world
                _GRAPHS[key] = compile_stored(document, version, self._kinds, entries)
            self._read.add(key)
        return _GRAPHS[key]

    def learn(self, workflow_id: str, version: str, graph: Graph) -> None:
        """Takes the graph of a version that is in no store."""
        self._read.add((workflow_id, version, None))
        _GRAPHS[workflow_id, version, None] = graph


class Parcel:
    """A message in transit: it is delivered again until a process acknowledges it."""

    def __init__(self, episode: Episode, message: Message) -> None:
        self.episode = episode
        self.message = message
        self.done = False
        self.receipts = 0

    def arrive(self) -> None:
        if self.done:
            return
        self.receipts += 1
        self.episode.deliver(self)
        self.back_after(VISIBILITY_MS)

    def acknowledge(self) -> None:
        self.episode.in_flight -= not self.done
        self.done = True

    def back_after(self, ms: float) -> None:
        receipts, chance, on_cloud = self.receipts, self.episode.chance, self.episode.ground.is_cloud
        if chance.happens(chance.weather.abandoned) or (on_cloud and receipts > MAX_RECEIPTS):
            chance.record("queue", f"gives up on {self.message.reason}")
            self.acknowledge()
            if on_cloud:
                self.episode.bury(self.message)
            return
        self.episode.schedule.at(self.episode.schedule.now_ms + ms, lambda: self.arrive() if self.receipts == receipts else None)


class Worker:
    """One process that executes runs: a Lambda function when the budget is hard."""

    def __init__(self, episode: Episode, name: str) -> None:
        self.episode = episode
        self.busy = 0  # invocations in progress
        self.loop: VirtualLoop | None = None
        self.actor = episode.schedule.spawn(name, self._live, episode.schedule.now_ms)
        self.line = Line(self.actor, episode.chance)
        world = episode.world(self.actor)
        self.runner = episode.parts.runner(world)
        self.runner.lingering.on_overdue = self._overdue
        self._stopping = False
        self._waiting: list[Sequence[Parcel]] = []

    @property
    def takes_work(self) -> bool:
        return not self.actor.over and not self._stopping

    def _overdue(self) -> None:
        """Code does not return: a process without a hard budget lets its sessions hand over, and then ends itself."""
        if self.episode.hard_budget or not self.episode.parts.ends_itself:
            return
        self._stopping = True
        for session in list(self.runner.sessions.values()):
            session.stop()
        if not self.busy:
            self._end()

    def _end(self) -> None:
        self.episode.chance.record(self.actor.name, f"ends itself: {', '.join(self.runner.lingering.names())}")
        raise Crash

    def _live(self, actor: Actor) -> None:
        self.loop = VirtualLoop(actor)
        for parcels in self._waiting:
            self.loop.call_soon(self._invoke_soon, parcels)
        try:
            self.loop.run_forever()
        except Crash:
            self.episode.deaths.died(actor)
            raise
        finally:
            for task in asyncio.all_tasks(self.loop):
                task.get_coro().close()  # type: ignore[union-attr]
            self.loop.close()

    def take(self, parcels: Sequence[Parcel]) -> None:
        """One invocation for all of these messages."""
        self.busy += 1
        if self.loop is None:
            self._waiting.append(parcels)
        else:
            self.loop.call_soon_threadsafe(self._invoke_soon, parcels)

    def _invoke_soon(self, parcels: Sequence[Parcel]) -> None:
        loop = asyncio.get_running_loop()
        task = loop.create_task(self._invoke(parcels))
        if self.episode.hard_budget:
            killer = loop.call_later(self.episode.budget_ms / 1000, self._time_is_up)
            task.add_done_callback(lambda _: killer.cancel())

    def _time_is_up(self) -> None:
        self.episode.chance.record(self.actor.name, "is killed: its time is up")
        raise Crash

    async def _invoke(self, parcels: Sequence[Parcel]) -> None:
        """Processes all messages concurrently. Failed messages are delivered again. A process whose code does not return ends
        itself, on the cloud in the same invocation."""
        episode, loop, lingering = self.episode, asyncio.get_running_loop(), self.runner.lingering
        budget = Budget(episode.budget_ms, hard=True, clock=loop.time).start()
        if episode.hard_budget and self.busy == 1:
            episode.coding.check_idle(self.actor)
        try:
            ends = await asyncio.gather(*map(self._work, parcels))
            if episode.hard_budget and lingering and not any(ends):
                await lingering.wait(min(budget.leaving_ms, lingering.left_ms))
            done = self.episode.parts.acknowledged(parcels, ends)
            if done:
                self.line.call("acknowledge", lambda: [parcel.acknowledge() for parcel in done])
        except StoreUnavailable as error:
            self.episode.chance.record(self.actor.name, f"cannot acknowledge: {error.message}")
            for parcel in parcels:
                parcel.back_after(1_000)
        except Violation as error:
            episode.schedule.failure = episode.schedule.failure or error
        finally:
            self.busy -= 1
        if episode.parts.ends_itself and ((episode.hard_budget and lingering) or (self._stopping and not self.busy)):
            self._end()

    async def _work(self, parcel: Parcel) -> BaseException | None:
        """Executes a run. Returns None, or the reason why its message is delivered again."""
        episode, loop = self.episode, asyncio.get_running_loop()
        try:
            await self.runner.run(parcel.message, Budget(episode.budget_ms, hard=episode.hard_budget, clock=loop.time))
        except (StoreUnavailable, EngineBug) as error:
            if isinstance(error, EngineBug):
                episode.schedule.failure = episode.schedule.failure or unexpected(error)
            episode.chance.record(self.actor.name, f"gives {parcel.message.reason} back: {error.message}")
            parcel.back_after(1_000)
            return error
        except (Violation, AssertionError) as error:
            episode.schedule.failure = episode.schedule.failure or error
        except UNEXPECTED as error:
            episode.schedule.failure = episode.schedule.failure or unexpected(error)
        return None


def unexpected(error: Exception) -> Violation:
    """An error that no contract documents."""
    violation = Violation(f"verbs raise what they promise: {type(error).__name__}: {error}")
    violation.__cause__ = error
    return violation


def is_missing_blob(error: Exception) -> bool:
    """Whether an object of the log is missing. Then the run does not continue, and nothing may fail."""
    return isinstance(error, DamagedLog) and "the blob" in error.message and "is missing" in error.message
