"""Faults, drawn from a seed: the ports of one process, between the runtime and the memory adapters.

Every call of a port may be refused, or take effect and look refused. The process may die before or after the effect, or freeze
for longer than its lease. Messages and timers are lost, duplicated, delayed and early. A calm world has no faults.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, TypeVar

from virtual_time import Actor, Crash, Schedule

from stepless.errors import StoreUnavailable
from stepless.ports import Message, RunHead, Store

T = TypeVar("T")
EPOCH_MS = 1_700_000_000_000
CALL_FAULTS = ("refused", "answer lost", "crash before", "crash after", "frozen before", "frozen after")
FREEZE_MS = (200, 5_000, 35_000, 70_000)


@dataclass
class Weather:
    """The rates of faults. `single` is the number of the one call that fails (None: every call may, by `rate`). Probabilities
    otherwise; `until_ms` is when the world calms down."""

    until_ms: float = 0.0
    rate: float = 0.0
    freeze_ms: Sequence[int] = FREEZE_MS
    faults: Sequence[str] = CALL_FAULTS
    single: int | None = None
    latency: float = 0.0
    lost: float = 0.0
    abandoned: float = 0.0  # unacknowledged messages are not delivered again
    doubled: float = 0.0
    delayed: float = 0.0
    early: float = 0.0
    skew_ms: int = 0
    back_ms: int = 0  # the clock is set back by this …
    back_at_ms: float = 0.0  # … at this instant
    ahead_ms: int = 0  # until then, from the beginning or from `ahead_at_ms` on, the clock is ahead by this
    ahead_at_ms: float = 0.0
    poison: float = 0.0  # a node kills its process at each attempt
    killed: float = 0.0  # a process dies during an attempt
    # Only on the cloud:
    lag: float = 0.0  # an index, or a read that is not consistent, is behind the table
    partial: float = 0.0  # a batch is done in part
    missing: float = 0.0  # an object is missing for a while
    # Code of attempts that goes on after their end:
    hangs: float = 0.0  # an attempt takes longer than its timeout
    lingers: float = 0.0  # code does not return when it is cancelled, for a while or for ever


    @property
    def doubles(self) -> bool:
        """Whether an attempt may run in two processes at once, because one is frozen or its clock is wrong."""
        wrong_ms = self.skew_ms or self.back_ms or self.ahead_ms
        return bool(wrong_ms or self.latency or any("frozen" in fault for fault in self.faults if self.rate))


def draw_weather(random: Random) -> Weather:
    """One fault in half of the worlds, a storm in the others; in some of them nodes kill their process."""
    peek = Random()
    peek.setstate(random.getstate())  # what follows is drawn as if there were no such nodes
    weather = _drawn(random)
    if peek.random() < 0.85:
        return weather
    return replace(weather, poison=peek.choice([0, 0.1]), killed=peek.choice([0, 0.05]))


def _drawn(random: Random) -> Weather:
    if random.random() < 0.5:
        fault, call = random.choice(CALL_FAULTS), random.randrange(160)
        return Weather(until_ms=1e12, single=call, faults=(fault,), latency=random.choice([0, 0.3]))
    return Weather(
        until_ms=random.choice([5_000, 30_000, 120_000]),
        rate=random.choice([0, 0.01, 0.03, 0.1]),
        faults=random.sample(CALL_FAULTS, random.randint(1, len(CALL_FAULTS))),
        latency=random.choice([0, 0.3, 0.8]),
        lost=random.choice([0, 0, 0.3]),
        doubled=random.choice([0, 0.3]),
        delayed=random.choice([0, 0.3]),
        early=random.choice([0, 0.5]),
        skew_ms=random.choice([0, 0, 0, 2_000]),
        back_ms=random.choice([0, 0, 0, 500, 20_000]),
        back_at_ms=random.uniform(0, 20_000),
    )


@dataclass
class Chance:
    """The random choices of a world, and a record of the injected faults."""

    schedule: Schedule
    random: Random
    weather: Weather
    story: list[str] = field(default_factory=list)
    calls: int = 0

    @property
    def calm(self) -> bool:
        return self.schedule.now_ms >= self.weather.until_ms

    def record(self, who: str, what: str) -> None:
        self.story.append(f"{self.schedule.now_ms:12.3f} ms  {who:<12} {what}")

    def fault(self) -> str | None:
        """The fault of the next call, if any."""
        self.calls += 1
        weather = self.weather
        if self.calm:
            return None
        if weather.single is not None:
            return weather.faults[0] if self.calls - 1 == weather.single else None
        return self.random.choice(weather.faults) if self.random.random() < weather.rate else None

    def happens(self, probability: float) -> bool:
        return not self.calm and probability > 0 and self.random.random() < probability

    def latency_ms(self) -> float:
        return self.random.choice((0.0, 1.0, 20.0, 300.0)) if self.happens(self.weather.latency) else 0.0


class Line:
    """The connection of a process to the ports. Every call passes through it."""

    def __init__(self, actor: Actor, chance: Chance) -> None:
        self.actor = actor
        self.chance = chance

    def call(self, name: str, effect: Callable[[], T]) -> T:
        fault = self.chance.fault()
        if fault is not None:
            self.chance.record(self.actor.name, f"{fault}: {name} (call {self.chance.calls - 1})")
        self._wait(fault == "frozen before")
        if fault == "crash before":
            raise Crash
        if fault == "refused":
            raise self.refused(name)
        result = effect()
        self._wait(fault == "frozen after")
        if fault == "crash after":
            raise Crash
        if fault == "answer lost":
            raise self.lost(name)
        return result

    def refused(self, name: str) -> Exception:
        """The error of a call that had no effect."""
        return StoreUnavailable(f"{name} was refused", place="simulation")

    def lost(self, name: str) -> Exception:
        """The error of a call that took effect."""
        return StoreUnavailable(f"the answer of {name} was lost", place="simulation")

    def _wait(self, frozen: bool) -> None:
        ms = self.chance.random.choice(self.chance.weather.freeze_ms) if frozen else self.chance.latency_ms()
        if ms:
            self.actor.pause(ms)


class OpenLine(Line):
    """A connection without faults, used where faults are injected below the port's methods."""

    def call(self, name: str, effect: Callable[[], T]) -> T:
        return effect()


class FaultyStore:
    """A store with injected faults. Sorts runs that are due at the same instant by creation, because their ids are random."""

    def __init__(self, line: Line, store: Store) -> None:
        self._line = line
        self._store = store

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        effect = getattr(self._store, verb)
        return lambda *args, **given: self._line.call(verb, lambda: effect(*args, **given))

    def list_due(self, now_ms: int, *, limit: int = 100, after: tuple[int, str] | None = None) -> Sequence[RunHead]:
        due = self._line.call("list_due", lambda: self._store.list_due(now_ms, limit=limit, after=after))
        return sorted(due, key=lambda head: (head.due_ms or 0, head.created_ms, head.workflow_id, head.inputs))


class FaultyQueue:
    def __init__(self, line: Line, send: Callable[[Message, float], None]) -> None:
        self._line = line
        self._send = send

    def send(self, message: Message, delay_ms: int = 0) -> None:
        self._line.call(f"send {message.reason}", lambda: self._send(message, delay_ms))

    def send_all(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self.send(message)


class FaultyTimers:
    def __init__(self, line: Line, arm: Callable[[str, float], None], disarm: Callable[[str], None]) -> None:
        self._line = line
        self._arm = arm
        self._disarm = disarm

    def arm(self, run_id: str, at_ms: int) -> None:
        self._line.call("arm", lambda: self._arm(run_id, at_ms - EPOCH_MS))

    def disarm(self, run_id: str) -> None:
        self._line.call("disarm", lambda: self._disarm(run_id))


class FaultyBlobs:
    def __init__(self, line: Line, blobs: Any) -> None:
        self._line = line
        self._blobs = blobs

    def put(self, data: bytes, run_id: str = "") -> str:
        return self._line.call("put blob", lambda: str(self._blobs.put(data, run_id)))

    def get(self, key: str) -> bytes | None:
        found: bytes | None = self._line.call("get blob", lambda: self._blobs.get(key))
        return found

    def erase(self, run_id: str) -> None:
        self._line.call("erase blobs", lambda: self._blobs.erase(run_id))


class SkewedClock:
    """The clock of a process: wrong by its skew, and in some worlds set ahead once, or back."""

    def __init__(self, schedule: Schedule, weather: Weather, skew_ms: int) -> None:
        self._schedule = schedule
        self._weather = weather
        self._skew_ms = skew_ms

    def now_ms(self) -> int:
        back_ms = self._weather.back_ms if self._schedule.now_ms >= self._weather.back_at_ms else 0
        is_ahead = self._weather.ahead_at_ms <= self._schedule.now_ms < self._weather.back_at_ms
        return EPOCH_MS + int(self._schedule.now_ms) + self._skew_ms - back_ms + (self._weather.ahead_ms if is_ahead else 0)
