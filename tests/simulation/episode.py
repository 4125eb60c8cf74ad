"""One episode: a world, its processes and its people, from a seed to the last run's end, and the check of what happened.

The world is as on AWS: messages come at least once and in any order to whichever process is free, a process that dies is
replaced, a message that was not acknowledged comes again. The engine in it is the real one, from the service verbs down to the
core; of the adapters it has the memory ones.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random, getstate, seed, setstate
from typing import Any

from faults import Chance, Crash, FaultyBlobs, FaultyQueue, FaultyTimers, Line, SkewedClock, Weather, draw_weather
from journal import Journal, Violation, show
from virtual_time import Actor, Schedule, VirtualLoop
from watched import AcknowledgingStore, WatchedStore
from workflows import Scenario, draw_scenario

from stepless.adapters.memory.blobs import MemoryBlobs
from stepless.adapters.memory.secrets import MemorySecrets
from stepless.adapters.memory.store import MemoryStore
from stepless.core.events import Event, EventType
from stepless.core.trace import Trace
from stepless.errors import SteplessError, StoreUnavailable
from stepless.model.graph import Graph
from stepless.model.kind import Pause
from stepless.model.work import NodeFailure, Result
from stepless.nodes import KINDS
from stepless.ports import Call, Message, RunHead
from stepless.runtime.budget import Budget
from stepless.runtime.children import caller
from stepless.runtime.inbox import ENDED
from stepless.runtime.runner import Runner
from stepless.runtime.tokens import Key, Signer
from stepless.runtime.versions import Versions
from stepless.runtime.world import World
from stepless.testing import simulate

VISIBILITY_MS = 130_000
LAST_MS = 6 * 3_600_000  # of virtual time: a run that has not ended by then never will
MAX_TURNS = 60_000  # of the schedule
SWEEP_MS = 60_000
MAX_DOUBLES = 30  # a hint that comes back every second would otherwise multiply without end
MAX_IN_FLIGHT = 40  # messages; more are lost
FIRING_MS = 100  # between a timer's instant and its message
SIGNER = Signer([Key("k", b"simulation")])
_GRAPHS: dict[tuple[str, str, tuple[str, ...] | None], Graph] = {}


class KnownVersions(Versions):
    """Compiles a version once for all worlds: it never changes."""

    def graph(self, workflow_id: str, version: str, entries: Sequence[str] | None = None) -> Graph:
        key = (workflow_id, version, tuple(entries) if entries is not None else None)
        if key not in _GRAPHS:
            _GRAPHS[key] = super().graph(workflow_id, version, entries)
        return _GRAPHS[key]


@dataclass(frozen=True)
class Parts:
    """The engine's parts that an episode is made of. A planted bug is another part."""

    store: type[MemoryStore] = MemoryStore
    runner: type[Runner] = Runner
    clock: type[SkewedClock] = SkewedClock
    sweeps: bool = True
    shape: str | None = None  # only workflows of this shape
    weather: Callable[[Random], Weather] = draw_weather


@dataclass
class Failed(Exception):
    """An episode in which an invariant did not hold, with everything that is needed to see why."""

    seed: int
    reason: str
    story: list[str] = field(repr=False)
    logs: dict[str, str] = field(repr=False)

    def __str__(self) -> str:
        logs = "\n\n".join(f"{name}\n{log}" for name, log in self.logs.items())
        told = "\n".join(self.story)
        return f"seed {self.seed}: {self.reason}\n\n{told}\n\n{logs}\n\nreplay: make simulate SEEDS=1 FROM={self.seed}"


class Episode:
    """The world. `go` returns when everything has ended and holds, and raises `Failed` otherwise."""

    def __init__(self, number: int, parts: Parts = Parts()) -> None:
        self.number = number
        self.parts = parts
        self.random = Random(f"stepless {number}")
        weather = parts.weather(self.random)
        self.schedule = Schedule()
        self.chance = Chance(self.schedule, Random(f"chance {number}"), weather)
        self.journal = Journal(self.schedule, exact=not (weather.skew_ms or weather.back_ms))
        self.memory = parts.store()
        self.store = WatchedStore(self.memory, self.journal)
        self.names = self.store.names
        self.blobs = MemoryBlobs()
        self.plain_versions = KnownVersions(self.memory, KINDS)
        self.scenario = self._scenario()
        self.started: list[str] = []
        self.workers: list[Worker] = []
        self.busy_people = 0
        self.cancelled = False
        self.timers: dict[str, list[float]] = {}
        self.doubles = 0
        self.in_flight = 0
        self.hard_budget = self.random.random() < 0.5
        self.budget_ms = self.random.choice([60_000, 60_000, 120_000] if self.hard_budget else [500, 10_000, 60_000])
        self.window = 1 if self.hard_budget else self.random.choice([1, 4])
        self.ballast = self.random.randbytes(14_000).hex() if self.random.random() < 0.3 or self._is("bulky") else ""
        self.ended_ms: float | None = None

    def _scenario(self) -> Scenario:
        while True:
            scenario = draw_scenario(self.random)
            if self.parts.shape in (None, scenario.document["id"]):
                return scenario

    def _is(self, shape: str) -> bool:
        return bool(self.scenario.document["id"] == shape)

    # -- the world's parts --------------------------------------------------------------------------------------------

    def world(self, actor: Actor) -> World:
        """The ports as one process sees them."""
        line = Line(actor, self.chance)
        skew_ms = self.random.randint(-self.chance.weather.skew_ms, self.chance.weather.skew_ms)
        clock = self.parts.clock(self.schedule, self.chance.weather, skew_ms)
        runs: dict[str, Any] = {"function": self._attempt, "router": self._attempt}
        world = World(
            AcknowledgingStore(line, self.store, self.journal), FaultyQueue(line, self.send),  # type: ignore[arg-type]
            FaultyTimers(line, self.arm, self.disarm), FaultyBlobs(line, self.blobs), clock, MemorySecrets(), KINDS, runs,
        )  # fmt: skip
        runs["workflow"] = caller(world)
        return world

    async def _attempt(self, call: Call) -> Result | Pause:
        """What every node does: it is seen to run, takes its time and comes to what the script says."""
        self.journal.runs_now(call)
        entries = self.scenario.script[call.node]
        ((what, options),) = entries[min(call.attempt, len(entries)) - 1].items()
        await passing(options["ms"])
        if what == "fail":
            raise NodeFailure(options["cause"], options["cause"], "", retry_after_ms=options.get("retry_after_ms"))
        return Result(call.node, options.get("handle", "source"))

    def send(self, message: Message, delay_ms: float) -> None:
        """To the queue: there and then, unless chance has it otherwise."""
        chance = self.chance
        if chance.happens(chance.weather.lost) or self.in_flight > MAX_IN_FLIGHT:
            chance.tell("queue", f"loses {message.reason}")
            return
        doubled = self.doubles < MAX_DOUBLES and chance.happens(chance.weather.doubled)
        self.doubles += doubled
        for _ in range(2 if doubled else 1):
            late_ms = chance.random.uniform(0, 40_000) if chance.happens(chance.weather.delayed) else 0
            self.in_flight += 1
            self.schedule.at(self.schedule.now_ms + delay_ms + late_ms, Parcel(self, message).arrive)

    def arm(self, run_id: str, at_ms: float) -> None:
        chance = self.chance
        if chance.happens(chance.weather.lost):
            chance.tell("timers", f"forget {at_ms:.0f}")
            return
        weather = chance.weather
        back_ms = weather.back_ms if self.schedule.now_ms >= weather.back_at_ms else 0
        for _ in range(2 if chance.happens(weather.doubled) else 1):
            early_ms = chance.random.uniform(0, 15_000) if chance.happens(weather.early) else 0
            late_ms = chance.random.uniform(0, 40_000) if chance.happens(weather.delayed) else FIRING_MS
            instant_ms = max(self.schedule.now_ms, at_ms + back_ms - early_ms) + late_ms
            self.schedule.at(instant_ms, lambda: self.fire(run_id, at_ms))
        self.timers.setdefault(run_id, []).append(at_ms)

    def disarm(self, run_id: str) -> None:
        if not self.chance.happens(self.chance.weather.lost):  # else its timers are orphans
            self.timers.pop(run_id, None)

    def fire(self, run_id: str, at_ms: float) -> None:
        if at_ms in self.timers.get(run_id, ()):
            self.send(Message(run_id, "timer"), 0)

    def worker_for(self, message: Message) -> Worker:
        """A process that has room; a new one when none has."""
        free = [worker for worker in self.workers if not worker.actor.over and len(worker.parcels) < self.window]
        if free and (len(free) > 1 or self.chance.random.random() < 0.8):
            return self.chance.random.choice(free)
        worker = Worker(self, f"runner {len(self.workers)}")
        self.workers.append(worker)
        return worker

    # -- the course of events -----------------------------------------------------------------------------------------

    def go(self) -> Episode:
        dice = getstate()
        seed(self.number)  # the jitter of back-offs
        try:
            self._play()
            self._judge()
        except (Violation, SteplessError, AssertionError) as error:
            logs = {name: show(self.journal.runs[run].events, self.names) for run, name in self.names.items()}
            story = [str(self.chance.weather), *self.chance.story]
            raise Failed(self.number, f"{type(error).__name__}: {error}", story, logs) from error
        finally:
            setstate(dice)
        return self

    def _play(self) -> None:
        from people import people

        for document in (self.scenario.document, *self.scenario.children):
            data = json.dumps(document)
            version = self.memory.put_version(document["id"], data, data.encode(), 0)
            self.plain_versions.graph(document["id"], version.hash)
        for name, at_ms, body in people(self):
            self.schedule.spawn(name, body, at_ms)
        self.schedule.run(self.over)
        if not self._all_ended():
            waiting = [f"{name}: {self.memory.get_run(run)}" for run, name in self.names.items()]
            raise Violation(f"every run ends: after {self.schedule.steps} steps, {self.schedule.now_ms:.0f} ms: {waiting}")

    def over(self) -> bool:
        if self.schedule.steps > MAX_TURNS or self.schedule.now_ms > LAST_MS:
            return True
        if self.ended_ms is None and not self.busy_people and self._all_ended():
            self.ended_ms = self.schedule.now_ms
        return self.ended_ms is not None and self.schedule.now_ms > self.ended_ms + 2 * VISIBILITY_MS

    def _all_ended(self) -> bool:
        heads = [self.memory.get_run(run) for run in self.names]
        return bool(heads) and all(head is not None and head.status in ENDED and head.owner is None for head in heads)

    def _judge(self) -> None:
        def graph(head: RunHead) -> Graph:
            return self.plain_versions.graph(head.workflow_id, head.version)

        self.journal.check(self.memory, graph)
        if len(set(self.started)) > 1:
            raise Violation(f"one start is one run: {self.started}")
        if not self.scenario.timed and not self.cancelled:
            self._compare(self.started[0])

    # -- the oracle ---------------------------------------------------------------------------------------------------

    def _compare(self, run_id: str) -> None:
        """With the decisions that the log shows, a run without any fault must have come to the same."""
        story = self.journal.runs[run_id]
        if any(map(_is_of_its_own, story.events)):
            return
        script: dict[str, Any] = {**self.scenario.script}
        for event in story.events:
            if event.type is EventType.NODE_RESUMED and event.data["reason"] == "human_input":
                script[event.instance] = [{"human": {"resume_at": 0, "handle": event.data["handle"]}}]
            elif event.type is EventType.NODE_RESUMED and event.data["reason"] == "subrun":
                script[event.instance] = [{"ok": {"value": event.data["answer"]}}]
            elif event.type is EventType.NODE_FAILED and event.data["error"]["code"].startswith("child_"):
                script[event.instance] = [{"fail": {"cause": "child_failed", "code": event.data["error"]["code"]}}]
        head = self.memory.get_run(run_id)
        assert head is not None
        expected = simulate(self.scenario.document, json.loads(head.inputs), script=script)
        trace = Trace(self.plain_versions.graph(head.workflow_id, head.version), run_id).extend(story.events)
        wanted = {name: f"{record.status}:{record.reason or record.code}" for name, record in expected.nodes.items()}
        found = {name: f"{record.status}:{record.reason or record.code}" for name, record in trace.nodes.items()}
        if (head.status, found) != (expected.status, wanted):
            both = {name: (found.get(name), wanted.get(name)) for name in {**found, **wanted}}
            differing = {name: pair for name, pair in both.items() if pair[0] != pair[1]}
            raise Violation(
                f"the run ends as it would have without faults: {head.status}, not {expected.status}; (is, should be) {differing}"
            )


def _is_of_its_own(event: Event) -> bool:
    """What only faults can bring about and what they may: an attempt cut off where running twice is worse than not knowing, and
    one that had no time because its process was frozen."""
    error = event.data if event.type is EventType.NODE_RETRIED else event.data.get("error") or {}
    return error.get("code") == "outcome_unknown" or "no answer within" in error.get("message", "")


class Parcel:
    """A message on its way: it comes again until somebody acknowledges it."""

    def __init__(self, episode: Episode, message: Message) -> None:
        self.episode = episode
        self.message = message
        self.done = False
        self.receipts = 0

    def arrive(self) -> None:
        if self.done:
            return
        self.receipts += 1
        self.episode.worker_for(self.message).take(self)
        self.back_after(VISIBILITY_MS)

    def acknowledge(self) -> None:
        self.episode.in_flight -= not self.done
        self.done = True

    def back_after(self, ms: float) -> None:
        receipts, chance = self.receipts, self.episode.chance
        if chance.happens(chance.weather.abandoned):
            chance.tell("queue", f"gives up on {self.message.reason}")
            self.acknowledge()
            return
        self.episode.schedule.at(self.episode.schedule.now_ms + ms, lambda: self.arrive() if self.receipts == receipts else None)


class Worker:
    """One process that runs runs: a Lambda when the budget is hard."""

    def __init__(self, episode: Episode, name: str) -> None:
        self.episode = episode
        self.parcels: set[Parcel] = set()
        self.loop: VirtualLoop | None = None
        self.actor = episode.schedule.spawn(name, self._live, episode.schedule.now_ms)
        self.line = Line(self.actor, episode.chance)
        world = episode.world(self.actor)
        self.runner = episode.parts.runner(world, KnownVersions(world.store, KINDS))
        self._waiting: list[Parcel] = []

    def _live(self, actor: Actor) -> None:
        self.loop = VirtualLoop(actor)
        for parcel in self._waiting:
            self.loop.call_soon(self._invoke_soon, parcel)
        try:
            self.loop.run_forever()
        finally:
            for task in asyncio.all_tasks(self.loop):
                task.get_coro().close()  # type: ignore[union-attr]
            self.loop.close()

    def take(self, parcel: Parcel) -> None:
        self.parcels.add(parcel)
        if self.loop is None:
            self._waiting.append(parcel)
        else:
            self.loop.call_soon_threadsafe(self._invoke_soon, parcel)

    def _invoke_soon(self, parcel: Parcel) -> None:
        loop = asyncio.get_running_loop()
        task = loop.create_task(self._invoke(parcel))
        if self.episode.hard_budget:
            killer = loop.call_later(self.episode.budget_ms / 1000, self._time_is_up)
            task.add_done_callback(lambda _: killer.cancel())

    def _time_is_up(self) -> None:
        self.episode.chance.tell(self.actor.name, "is killed: its time is up")
        raise Crash

    async def _invoke(self, parcel: Parcel) -> None:
        loop = asyncio.get_running_loop()
        episode = self.episode
        try:
            await self.runner.run(parcel.message, Budget(episode.budget_ms, hard=episode.hard_budget, clock=loop.time))
            self.line.call("acknowledge", parcel.acknowledge)
        except StoreUnavailable as error:
            episode.chance.tell(self.actor.name, f"gives {parcel.message.reason} back: {error.message}")
            parcel.back_after(1_000)
        except (Violation, SteplessError, AssertionError, LookupError, ValueError, TypeError) as error:
            episode.schedule.failure = episode.schedule.failure or error
        finally:
            self.parcels.discard(parcel)


async def passing(ms: float) -> None:
    """Lets virtual time pass in a coroutine."""
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()
    handle = loop.call_later(ms / 1000, lambda: None if over.done() else over.set_result(None))
    try:
        await over
    finally:
        handle.cancel()
