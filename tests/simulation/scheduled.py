"""Schedules in a seeded world: two processes that fire them, or a calendar that delivers each instant late, twice and in any
order; an operator who pauses, resumes and fires; processes that die between any two calls, and hours in which none is there.

The runs are not executed: what is checked is which runs are started.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from random import Random
from typing import Any, Final

from faults import EPOCH_MS, Chance, FaultyQueue, FaultyStore, Line, SkewedClock, Weather
from journal import Violation
from virtual_time import Actor, Crash, Schedule
from workers import KnownVersions

from stepless.adapters.memory.blobs import MemoryBlobs
from stepless.adapters.memory.secrets import MemorySecrets
from stepless.adapters.memory.store import MemoryStore
from stepless.adapters.memory.timers import MemoryTimers
from stepless.errors import StoreUnavailable
from stepless.nodes import KINDS
from stepless.ports import RunFilter
from stepless.runtime.triggers.payloads import Firing
from stepless.runtime.triggers.schedule_firing import Schedules, fire_delivered
from stepless.runtime.triggers.schedule_verbs import fire_schedule, list_schedules, pause_schedule, resume_schedule
from stepless.runtime.world import World

RATE_MS: Final = 600_000
LASTS_MS: Final = 60 * RATE_MS
CALM_MS: Final = 45 * RATE_MS  # from then on every process is there, nothing fails, and the schedule is not paused
SWEEP_MS: Final = 30_000
FREEZES: Final = 4  # of one firing that had begun before a pause
WORKFLOW, NODE = "ticks", "tick"
POLICIES: Final = (None, "skip", "last", "all")


@dataclass(frozen=True)
class Rules:
    """The parts of the engine. A planted bug is another part."""

    schedules: type[Schedules] = Schedules
    deliver: Callable[[World, Firing], object] = fire_delivered
    store: type[MemoryStore] = MemoryStore


@dataclass
class Pauses:
    """Acknowledged pauses, each from its acknowledgement to the request that ends it. `now` are runs that were fired by hand."""

    spans: list[tuple[float, float]] = field(default_factory=list)
    now: dict[str, set[str]] = field(default_factory=dict)  # by key


class _Calendar:
    """A port whose firings the world delivers."""

    def keep(self, workflow_id: str, rhythms: Any) -> None:
        return


class ScheduleEpisode:
    """`go` raises `Violation` if a promise is broken."""

    def __init__(self, number: int, weather: Any, rules: Rules = Rules()) -> None:
        self.number, self.rules, self.dice = number, rules, Random(f"schedules {number}")
        self.schedule = Schedule()
        drawn: Weather = weather(self.dice)
        until_ms = self.dice.choice((10, 30, 44)) * RATE_MS
        self.chance = Chance(self.schedule, Random(f"chance {number}"), replace(drawn, until_ms=until_ms, back_ms=0))
        if drawn.single is not None:
            self.chance.weather = replace(self.chance.weather, single=self.dice.randrange(400))
        self.slack_ms = FREEZES * max(self.chance.weather.freeze_ms) + 60_000
        self.store = rules.store()
        self.policy = POLICIES[number % len(POLICIES)]
        self.has_calendar = self.dice.random() < 0.5
        self.pauses = Pauses()
        with_policy = {"catch_up": self.policy} if self.policy else {}
        nodes = {NODE: {"type": "schedule", "with": {"rate": "10m", **with_policy}}}
        data = json.dumps({"id": WORKFLOW, "nodes": nodes})
        self.store.put_version(WORKFLOW, data, data.encode(), 0, ["schedule"])

    def world(self, actor: Actor) -> World:
        line = Line(actor, self.chance)
        skew_ms = self.dice.randint(-self.chance.weather.skew_ms, self.chance.weather.skew_ms)
        clock = SkewedClock(self.schedule, self.chance.weather, skew_ms)
        store: Any = FaultyStore(line, self.store)
        queue = FaultyQueue(line, lambda message, delay_ms: None)
        made = World(
            store, queue, MemoryTimers(), MemoryBlobs(), clock, MemorySecrets({}), KINDS, KnownVersions(self.store, KINDS), {}
        )
        return replace(made, calendar=_Calendar()) if self.has_calendar else made

    def go(self) -> ScheduleEpisode:
        if self.has_calendar:
            for number in range(1, LASTS_MS // RATE_MS):
                self._send(number * RATE_MS - EPOCH_MS % RATE_MS)
        else:
            for name in ("clock a", "clock b"):
                self.schedule.spawn(name, self._sweep)
        self.schedule.spawn("operator", self._operate)
        self.schedule.run(lambda: self.schedule.now_ms > LASTS_MS)
        self._check()
        return self

    # -- who acts -------------------------------------------------------------------------------------------------------

    def _sweep(self, actor: Actor) -> None:
        """A process that fires schedules; at times it is away for hours."""
        dice = Random(f"{actor.name} {self.number}")
        while True:
            try:
                fires = self.rules.schedules(self.world(actor))
                for _ in range(dice.choice((1, 20, 200))):
                    try:
                        fires.fire(fires._world.clock.now_ms())
                    except StoreUnavailable as error:
                        self.chance.record(actor.name, f"fires later: {error.message}")
                    actor.pause(SWEEP_MS)
            except Crash:
                if actor.doomed:
                    raise
            away_ms = dice.choice((1_000, 60_000, 4 * RATE_MS, 20 * RATE_MS))
            actor.pause(min(away_ms, max(1_000, CALM_MS - self.schedule.now_ms)))

    def _send(self, at_ms: float) -> None:
        """The calendar delivers an instant at least once, some of them late."""
        dice = Random(f"{at_ms} {self.number}")
        calm = at_ms >= CALM_MS
        for copy in range(1 if calm else dice.choice((1, 1, 2, 3))):
            late_ms = 100 if calm else dice.choice((100, 2_000, 100_000, 3 * RATE_MS))
            name = f"trigger {at_ms / RATE_MS:.0f}.{copy}"
            self.schedule.spawn(name, lambda actor: self._deliver(actor, at_ms), at_ms + late_ms)

    def _deliver(self, actor: Actor, at_ms: float) -> None:
        firing = Firing(WORKFLOW, NODE, EPOCH_MS + int(at_ms))
        self._stubbornly(actor, lambda world: self.rules.deliver(world, firing))

    def _stubbornly(self, actor: Actor, attempt: Any) -> Any:
        while True:
            try:
                return attempt(self.world(actor))
            except StoreUnavailable as error:
                self.chance.record(actor.name, f"must try again: {error.message}")
            except Crash:
                if actor.doomed:
                    raise
                self.chance.record(actor.name, "died and starts again")
            actor.pause(self.chance.random.choice((10, 1_000, 20_000)))

    def _operate(self, actor: Actor) -> None:
        dice, number = Random(f"operator {self.number}"), 0
        while self.schedule.now_ms < CALM_MS - 12 * RATE_MS:
            actor.pause(dice.choice((1_000, RATE_MS // 2, 3 * RATE_MS)))
            if dice.random() < 0.4:
                number += 1
                key = f"by hand {number}"
                runs = self.pauses.now.setdefault(key, set())
                for _ in range(dice.choice((1, 2))):
                    run = self._stubbornly(actor, lambda world, key=key: fire_schedule(world, WORKFLOW, NODE, key=key))
                    runs.add(run.run_id)
                continue
            self._stubbornly(actor, lambda world: pause_schedule(world, WORKFLOW, NODE, by="ann"))
            paused_ms = self.schedule.now_ms
            actor.pause(dice.choice((500, RATE_MS, 5 * RATE_MS)))
            asked_ms = self.schedule.now_ms
            self._stubbornly(actor, lambda world: resume_schedule(world, WORKFLOW, NODE, by="ann"))
            self.pauses.spans.append((paused_ms, asked_ms))

    # -- what must hold -------------------------------------------------------------------------------------------------

    def _check(self) -> None:
        found: dict[int, str] = {}
        for head in self.store.list_runs(RunFilter(), limit=1000).items:
            trigger = json.loads(head.meta)["trigger"]
            if trigger.get("now"):
                continue
            at_ms = int(datetime.fromisoformat(trigger["at"]).timestamp() * 1000)
            if at_ms in found:
                raise Violation(f"an instant starts one run: {trigger['at']} has {found[at_ms]} and {head.run_id}")
            found[at_ms] = head.run_id
            if at_ms % RATE_MS:
                raise Violation(f"only instants of the rhythm start runs: {trigger['at']}")
            if head.created_ms < at_ms - self.chance.weather.skew_ms:
                raise Violation(f"no run starts before its instant: {head.run_id} at {head.created_ms}, for {at_ms}")
            created_ms = head.created_ms - EPOCH_MS
            for paused_ms, asked_ms in self.pauses.spans:
                if paused_ms + self.slack_ms < created_ms < asked_ms - self.chance.weather.skew_ms:
                    raise Violation(f"a paused schedule starts nothing: {head.run_id} at {created_ms}, from {paused_ms}")
        self._check_instants(set(found))
        for key, runs in self.pauses.now.items():
            if len(runs) != 1 or not all(map(self.store.get_run, runs)):
                raise Violation(f"a firing by hand is one run: {key} is {runs}")
        [shown] = list_schedules(self.world(self.schedule.actors[0]), WORKFLOW).items
        newest = (max(found), found[max(found)])
        if shown.pause is not None or shown.last is None or (shown.last.at_ms, shown.last.run_id) != newest:
            raise Violation(f"the last firing is shown: {shown}, and the newest is {max(found)}")

    def _check_instants(self, found: set[int]) -> None:
        first = -(-EPOCH_MS // RATE_MS) * RATE_MS
        instants = [first + number * RATE_MS for number in range(LASTS_MS // RATE_MS)]
        instants = [at for at in instants if EPOCH_MS + SWEEP_MS < at <= EPOCH_MS + LASTS_MS - RATE_MS]
        if self.policy == "all":
            begun = [at for at in instants if self.has_calendar or at >= min(found)]
            if missing := [at - EPOCH_MS for at in begun if at not in found]:
                raise Violation(f"`all` leaves no instant out: {missing}")
        calm = [at for at in instants if at > EPOCH_MS + CALM_MS + RATE_MS]
        if missing := [at - EPOCH_MS for at in calm if at not in found]:
            raise Violation(f"in calm weather every instant starts a run: not {missing}")
        inside = [
            at for at in found for paused_ms, asked_ms in self.pauses.spans
            if paused_ms + self.slack_ms < at - EPOCH_MS < asked_ms - self.slack_ms
        ]  # fmt: skip
        if self.policy in (None, "skip") and inside:
            raise Violation(f"without `last` or `all`, the instants of a pause are skipped: {inside}")


