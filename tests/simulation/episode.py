"""One episode: a world, its processes and its people, from a seed to the last run's end, and the check of what happened.

The world behaves like AWS: messages are delivered at least once and in any order to any free process, a process that dies is
replaced, a message that was not acknowledged is delivered again. The engine in it is the real one, from the service's methods
down to the core. The world's ground (`grounds`) is its adapters, and the places of faults in them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random, getstate, seed, setstate
from typing import Any

from callers import SECRET, Reported
from coding import Coding
from deaths import Deaths
from drafted import drafted
from erased import Erasures
from exported import Deliveries
from faults import EPOCH_MS, Chance, SkewedClock, Weather, draw_weather
from grounds import Ground, OnMemory
from journal import Journal, Violation, show
from virtual_time import Actor, Schedule
from weathers import draw_cloud_weather, with_lingering
from workers import VISIBILITY_MS, KnownVersions, Parcel, Worker
from workflows import Scenario, draw_scenario, features

from stepless.adapters.memory.secrets import MemorySecrets
from stepless.core.events import Event, EventType
from stepless.core.history.trace import Trace
from stepless.errors import SteplessError
from stepless.limits import LEASE_MARGIN_MS, MAX_LONE_DEATHS
from stepless.model.graph import Graph
from stepless.model.kind import Pause
from stepless.model.stored.document import encode_document
from stepless.model.work import NodeFailure, Result
from stepless.nodes import KINDS
from stepless.ports import Call, Message, RunHead
from stepless.runtime.access.tokens import Key, Signer
from stepless.runtime.commits import Commits
from stepless.runtime.exporting.relay import Relay
from stepless.runtime.exporting.telemetry import TelemetryExporter
from stepless.runtime.hosting.deadletter import rest
from stepless.runtime.hosting.sweep import examine
from stepless.runtime.session.pauses.children import caller
from stepless.runtime.session.runner import Runner
from stepless.runtime.world import World
from stepless.testing import simulate

LAST_MS = 6 * 3_600_000  # of virtual time: a run that has not ended by then never will
MAX_TURNS = 150_000  # of the schedule: a node that kills its process twelve times, with hints that double, takes 70,000
SWEEP_MS = 60_000
MAX_DOUBLES = 30  # a hint that returns every second would otherwise multiply without limit
MAX_IN_FLIGHT = 40  # messages; more are lost
FIRING_MS = 100  # between a timer's instant and its message
BATCHING_MS = 20  # messages that arrive so close together share an invocation, on the cloud
MAX_BATCH = 10
QUICK: list[dict[str, Any]] = [{"ok": {"ms": 5}}]  # the result of a node that the script does not name
SECRETS = {"HOOK": SECRET}
SIGNER = Signer([Key("k", b"simulation")])


@dataclass(frozen=True)
class Parts:
    """The parts of the engine in an episode. A planted bug is another part. `store`, `blobs` and `commits` are the
    ground's own unless given; `acknowledged` says which of an invocation's messages are done with, `rests` what becomes of a dead
    letter."""

    ground: type[Ground] = OnMemory
    store: type[Any] | None = None
    blobs: type[Any] | None = None
    commits: type[Commits] = Commits
    acknowledged: Callable[[Sequence[Parcel], Sequence[BaseException | None]], list[Parcel]] = lambda parcels, ends: [
        parcel for parcel, end in zip(parcels, ends, strict=True) if end is None
    ]
    rests: Callable[[World, Message], object] = rest
    runner: type[Runner] = Runner
    ends_itself: bool = True  # whether a process ends itself when code in it does not return
    clock: type[SkewedClock] = SkewedClock
    sweeps: bool = True
    examines: Callable[[World, int], None] = examine  # what a process does after the clock was set back
    cancels: float = 0.15  # how often the operator cancels the run
    operators: bool = True  # whether operators may hold the run and release it
    exports: bool = False  # whether the processes export events, of which each is refused with the probability `outage`
    outage: float = 0.0
    relay: Callable[..., Relay] = Relay
    traces: type[TelemetryExporter] = TelemetryExporter
    shape: str | None = None  # only workflows of this shape
    erases: bool = False  # whether runs are erased, expire and are rerun
    erasures: type[Erasures] = Erasures
    weather: Callable[[Random], Weather] = draw_weather


@dataclass
class Failed(Exception):
    """An episode that broke an invariant, with everything needed to find the cause."""

    seed: int
    ground: str
    reason: str
    story: list[str] = field(repr=False)
    logs: dict[str, str] = field(repr=False)

    def __str__(self) -> str:
        logs = "\n\n".join(f"{name}\n{log}" for name, log in self.logs.items())
        story = "\n".join(self.story)
        replay = f"replay: make simulate SEEDS=1 FROM={self.seed} GROUND={self.ground}"
        return f"seed {self.seed}: {self.reason}\n\n{story}\n\n{logs}\n\n{replay}"


class Episode:
    """The world. `go` returns when everything has ended and holds, and raises `Failed` otherwise."""

    def __init__(self, number: int, parts: Parts = Parts()) -> None:
        self.number = number
        self.parts = parts
        self.random = Random(f"stepless {number}")
        weather = parts.weather(self.random)
        self.schedule = Schedule()
        if parts.weather in (draw_weather, draw_cloud_weather):
            weather = with_lingering(weather, Random(f"lingering {number}"))
        self.chance = Chance(self.schedule, Random(f"chance {number}"), weather)
        self.coding = Coding(self.chance)
        fenced = weather.skew_ms * 2 <= LEASE_MARGIN_MS and not weather.ahead_ms
        exact = not (weather.skew_ms or weather.back_ms or weather.ahead_ms)
        self.journal = Journal(self.schedule, exact=exact, fenced=fenced)
        self.erasures = parts.erasures(self)
        self.ground = parts.ground(self)
        self.truth = self.ground.truth
        self.names = self.ground.names
        self.plain_versions = KnownVersions(self.truth, KINDS)
        self.scenario = self._scenario()
        self.deaths = Deaths(self)
        self.draft = drafted(self)
        self.started: dict[str, list[str]] = {f"start {number}": [] for number in range(self.ground.starts)}
        self.reported = Reported()
        self.deliveries = Deliveries(self)
        self.workers: list[Worker] = []
        self.arrived: list[Parcel] = []  # the messages of the next invocation
        self.busy_people = 0
        self.cancelled = False
        self.timers: dict[str, list[float]] = {}
        self.doubles = 0
        self.in_flight = 0
        self.most_in_flight = MAX_IN_FLIGHT
        self.hard_budget = self.random.random() < 0.5 and not self.ground.is_shared
        self.budget_ms = self.random.choice([60_000, 60_000, 120_000] if self.hard_budget else [500, 10_000, 60_000])
        self.window = 8 if self.ground.is_shared else 1 if self.hard_budget else self.random.choice([1, 4])
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
        skew_ms = self.random.randint(-self.chance.weather.skew_ms, self.chance.weather.skew_ms)
        clock = self.parts.clock(self.schedule, self.chance.weather, skew_ms)
        attempt = partial(self._attempt, actor)
        runs: dict[str, Any] = {"function": attempt, "router": attempt}
        ports = self.ground.ports(actor, clock)
        world = World(
            ports.store, ports.queue, ports.timers, ports.blobs, clock, MemorySecrets(SECRETS), KINDS,
            KnownVersions(ports.store, KINDS, ports.blobs), runs, commits=ports.commits,
            relay=self.deliveries.relay(actor, ports.store, ports.blobs) if self.parts.exports else None,
            traces=self.parts.exports, retention_ms=self.erasures.retention_ms,
        )  # fmt: skip
        runs["workflow"] = caller(world)
        return world

    def world_ms(self) -> int:
        """The true time, as shown by a correct clock."""
        return EPOCH_MS + int(self.schedule.now_ms)

    async def _attempt(self, actor: Actor, call: Call) -> Result | Pause:
        """The work of every node: records that it runs, takes its time and ends as the script says."""
        self.journal.runs_now(call)
        if self.draft is not None and call.run_id == self.draft.run_id and call.node in self.draft.pins:
            raise Violation(f"a pinned node is not called: {call.instance} of {call.run_id}")
        entries = self.scenario.script.get(call.node, QUICK)
        ((what, options),) = entries[min(call.attempt, len(entries)) - 1].items()
        await self.deaths.execute(actor, call, options["ms"])
        if what == "fail":
            raise NodeFailure(options["cause"], options["cause"], "", retry_after_ms=options.get("retry_after_ms"))
        return Result(options.get("value", call.node), options.get("handle", "source"))

    def send(self, message: Message, delay_ms: float) -> None:
        """Sends to the queue at once, unless a fault is injected."""
        chance = self.chance
        if chance.happens(chance.weather.lost) or self.in_flight > self.most_in_flight:
            chance.record("queue", f"loses {message.reason}")
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
            chance.record("timers", f"forget {at_ms:.0f}")
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

    def deliver(self, parcel: Parcel) -> None:
        """Delivers to a process; on the cloud together with messages that arrive at about the same time."""
        if not self.ground.is_cloud:
            self._worker().take([parcel])
            return
        self.arrived.append(parcel)
        if len(self.arrived) == 1:
            self.schedule.at(self.schedule.now_ms + BATCHING_MS, self._deliver_arrived)

    def _deliver_arrived(self) -> None:
        while self.arrived:
            self._worker().take(self.arrived[:MAX_BATCH])
            del self.arrived[:MAX_BATCH]

    def bury(self, message: Message) -> None:
        """Delivers a dead letter to its consumer on the cloud, repeatedly until the consumer has processed it."""
        self.schedule.spawn("consumer", lambda actor: self._rest(actor, message), self.schedule.now_ms + 1_000)

    def _rest(self, actor: Actor, message: Message) -> None:
        from people import stubbornly

        stubbornly(self, actor, lambda verbs: self.parts.rests(verbs.world, message))

    def _worker(self) -> Worker:
        """A process with free capacity, or else a new one."""
        free = [worker for worker in self.workers if worker.takes_work and worker.busy < self.window]
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
            raise Failed(self.number, self.ground.name, f"{type(error).__name__}: {error}", story, logs) from error
        finally:
            setstate(dice)
            self.ground.close()
        return self

    def _people(self) -> Iterable[tuple[str, float, Callable[[Actor], None]]]:
        """Everybody except the runners: who they are, when they begin, and what they do."""
        from people import people

        return people(self)

    def _play(self) -> None:
        for document in (self.scenario.document, *self.scenario.children):
            stored = encode_document(document, features(document))
            version = self.truth.put_version(document["id"], json.dumps(document), stored, 0)
            self.plain_versions.graph(document["id"], version.hash)
        for name, at_ms, body in self._people():
            self.schedule.spawn(name, body, at_ms)
        self.schedule.run(self.over)
        if not self._all_ended():
            waiting = [f"{name}: {self.truth.get_run(run)}" for run, name in self.names.items()]
            raise Violation(f"every run ends: after {self.schedule.steps} steps, {self.schedule.now_ms:.0f} ms: {waiting}")

    def over(self) -> bool:
        late = self.ended_ms is None and self.schedule.now_ms > LAST_MS
        if late or self.schedule.steps > MAX_TURNS + self.erasures.more_turns:
            return True
        if self.ended_ms is None and not self.busy_people and self._all_ended():
            self.ended_ms = self.schedule.now_ms
            self.erasures.all_have_ended()
        return self.ended_ms is not None and self.schedule.now_ms > self.ended_ms + max(2 * VISIBILITY_MS, self.erasures.lasts_ms)

    def _all_ended(self) -> bool:
        over = bool(self.names) and self.ground.over(self.names)
        return over and (not self.parts.exports or self.deliveries.done())

    def _judge(self) -> None:
        def graph(head: RunHead) -> Graph:
            return self.plain_versions.graph(head.workflow_id, head.version)

        self.journal.check(self.truth, self.ground.created, graph)
        self.erasures.check(graph)
        self.deaths.check({run_id: self.journal.runs[run_id].events for run_id in self.names})
        self.reported.check(self)
        if self.parts.exports:
            self.deliveries.check()
        for key, runs in self.started.items():
            if len(set(runs)) > 1:
                raise Violation(f"one start is one run: {key} is {runs}")
            if not self.scenario.timed and not self.cancelled:
                self._compare(runs[0])

    # -- the oracle ---------------------------------------------------------------------------------------------------

    def _compare(self, run_id: str) -> None:
        """A run with the same decisions and without faults must have the same outcome."""
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
            elif event.type is EventType.NODE_FAILED and self.deaths.is_crash(event):
                self._check_crash(story.events, event)
                script[event.instance] = [{"fail": {"cause": "crashed", "code": "crashed"}}]
        head = self.ground.created[run_id]
        expected = simulate(self.scenario.document, json.loads(head.inputs), script=script)
        trace = Trace(self.plain_versions.graph(head.workflow_id, head.version), run_id).extend(story.events)
        wanted = {name: f"{record.status}:{record.reason or record.code}" for name, record in expected.nodes.items()}
        found = {name: f"{record.status}:{record.reason or record.code}" for name, record in trace.nodes.items()}
        if (story.status, found) != (expected.status, wanted):
            both = {name: (found.get(name), wanted.get(name)) for name in {**found, **wanted}}
            differing = {name: pair for name, pair in both.items() if pair[0] != pair[1]}
            raise Violation(
                f"the run ends as it would have without faults: {story.status}, not {expected.status}; "
                f"(is, should be) {differing}"
            )

    @staticmethod
    def _check_crash(events: Sequence[Event], crash: Event) -> None:
        times = lone_deaths(events, crash)
        if times < MAX_LONE_DEATHS:
            raise Violation(f"a crash takes {MAX_LONE_DEATHS} deaths while an instance ran alone: {crash.instance} after {times}")


def lone_deaths(events: Sequence[Event], crash: Event) -> int:
    """How often a process died before this event while an attempt of its instance was exclusive and the only one of the run."""
    times, exclusive = 0, ""
    for event in events:
        if event.sequence >= crash.sequence:
            break
        if event.type is EventType.NODE_STARTED:
            exclusive = event.instance if event.data.get("exclusive") else ""
        elif event.type is EventType.RUN_RECOVERED:
            alone = event.data["instances"] == [exclusive] and event.data.get("died", True)
            times += alone and exclusive == crash.instance
            exclusive = ""
    return times


def _is_of_its_own(event: Event) -> bool:
    """The outcomes that only faults cause, and may cause: an interrupted `at_most_once` attempt, and an attempt that timed out
    because its process was frozen."""
    error = event.data if event.type is EventType.NODE_RETRIED else event.data.get("error") or {}
    return error.get("code") == "outcome_unknown" or "no answer within" in error.get("message", "")
