"""Worlds in which runs wait for limits per key, and the check of every attempt that begins: no limit is exceeded at any moment.

Only attempts under a live lease count against concurrency: a process that is frozen for longer than its lease cannot be stopped.
Where code goes on after the end of its attempt (`coding`), and no process freezes, all code counts that runs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from episode import Episode, Parts
from journal import Violation
from virtual_time import Actor
from workflows import RETRY, Scenario, call

from stepless.core.limits.slots import decode_holders
from stepless.model.kind import Pause
from stepless.model.work import Result
from stepless.ports import Call

PER_MS = 1_000


def grouped(groups: int, root: str) -> str:
    """An expression for one of some keys. Runs are started with `key: "start 7"`."""
    return f'int(split(<{root}.key>, " ")[1]) % {groups}'


@dataclass
class Limited:
    """What a world must keep. `run_slots` are for runs with attempts in progress, `slots` and `rate` for attempts of `work`; each
    apart for `groups` keys. `weights`: an attempt takes as many slots as the number of its turn, from 1, up to this."""

    groups: int = 1
    run_slots: int | None = None
    slots: int | None = None
    rate: int | None = None
    weights: int = 1
    width: int = 3
    runs: int = 6
    ms: tuple[int, ...] = (5, 400, 2_500)
    failing: float = 0.2  # the probability that first attempts fail

    def scenario(self, random: Random) -> Scenario:
        work = call(timeout_ms=30_000, retry=RETRY)
        if self.slots is not None:
            weight: Any = 1 if self.weights == 1 else f"1 + <parallel.index> % {self.weights}"
            work["concurrency"] = {"max": self.slots, "by": grouped(self.groups, "go"), "weight": weight}
        if self.rate is not None:
            work["rate"] = {"max": self.rate, "per": "1s", "by": grouped(self.groups, "go")}
        turns = {"branches": self.width, "window": 10, "body": {"nodes": {"work": work}}}
        nodes = {"go": {"type": "manual"}, "p": {"type": "parallel", "after": "go", "with": turns}, "last": call("p")}
        document: dict[str, Any] = {"id": "limited", "nodes": nodes}
        if self.run_slots is not None:
            document["concurrency"] = {"max": self.run_slots, "by": grouped(self.groups, "input")}
        script = {"work": [{"ok": {"ms": random.choice(self.ms)}} for _ in range(3)], "last": [{"ok": {"ms": 5}}]}
        if random.random() < self.failing:
            script["work"][0] = {"fail": {"ms": 50, "cause": "provider_error"}}
        return Scenario(document, script)


class Span(NamedTuple):
    """An attempt, by the world's time."""

    key: str
    run_id: str
    from_ms: float
    to_ms: float
    slots: int


@dataclass
class Under:
    """Attempts in progress: (run, instance) → (epoch of the lease, key, slots)."""

    live: dict[tuple[str, str, int], tuple[int, str, int]] = field(default_factory=dict)
    begun: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))  # under a rate, by key
    runs_begun: list[tuple[str, str]] = field(default_factory=list)  # (key, run) of every attempt, in order
    most: Counter[str] = field(default_factory=Counter)
    spans: list[Span] = field(default_factory=list)  # attempts of `work` that have ended


def draw(random: Random) -> Limited:
    """Any combination of limits."""
    shape = random.choice(["runs", "slots", "weights", "rate", "both", "all"])
    groups = random.choice([1, 2])
    slots = random.choice([3, 4]) if shape == "weights" else random.choice([1, 2])
    return Limited(
        groups=groups,
        run_slots=random.choice([1, 2]) if shape in ("runs", "all") else None,
        slots=slots if shape in ("slots", "weights", "both", "all") else None,
        rate=random.choice([2, 5]) if shape in ("rate", "both", "all") else None,
        weights=3 if shape == "weights" else 1,
        width=random.choice([1, 3, 6]),
        runs=random.choice([3, 6]),
    )


class LimitedEpisode(Episode):
    """An episode of one limited workflow with several runs."""

    def __init__(self, number: int, parts: Parts, limited: Limited | None = None) -> None:
        self.limited = limited or draw(Random(f"limited {number}"))
        self.under = Under()
        super().__init__(number, parts)
        self.started = {f"start {place}": [] for place in range(self.limited.runs)}
        self.window = max(self.window, 4)

    def _scenario(self) -> Scenario:
        return self.limited.scenario(self.random)

    def _key(self, call_: Call) -> str:
        head = self.truth.get_run(call_.run_id)
        assert head is not None
        number = int(head.inputs.split(b'"start ')[1].split(b'"')[0])
        return f"{number % self.limited.groups}"

    async def _attempt(self, actor: Actor, call: Call) -> Result | Pause:
        under, head, key = self.under, self.truth.get_run(call.run_id), self._key(call)
        assert head is not None
        is_work = call.node == "work"
        weight = 1 + int(call.instance.partition("[")[2].rstrip("]")) % self.limited.weights if is_work else 0
        mark = (call.run_id, call.instance, len(under.runs_begun))
        begun_ms = self.schedule.now_ms
        under.live[mark] = (head.epoch, key, weight)
        under.runs_begun.append((key, call.run_id))
        if is_work:
            under.begun[key].append(self.schedule.now_ms)
        try:
            self._check(key)
            return await super()._attempt(actor, call)
        finally:
            del under.live[mark]
            if is_work:
                under.spans.append(Span(key, call.run_id, begun_ms, self.schedule.now_ms, weight))

    def _check(self, key: str) -> None:
        if not self.journal.exact:  # no clock of the world can be trusted
            return
        limited, slots, runs = self.limited, 0, set()
        for (run_id, _, _), (epoch, other, weight) in self.under.live.items():
            head = self.truth.get_run(run_id)
            leased = head and head.epoch == epoch and head.owner is not None and head.lease_until_ms > self.world_ms()
            if other == key and (leased or self.coding.strict):
                slots += weight
                runs.add(run_id)
        self.under.most["slots"] = max(self.under.most["slots"], slots)
        self.under.most["runs"] = max(self.under.most["runs"], len(runs))
        if limited.slots is not None and slots > limited.slots:
            self.journal.refuse(f"at most {limited.slots} slots are in use: {slots} with the key {key}")
        if limited.run_slots is not None and len(runs) > limited.run_slots:
            self.journal.refuse(f"at most {limited.run_slots} runs are at work: {len(runs)} with the key {key}")

    def _judge(self) -> None:
        super()._judge()
        self._check_rate()
        self._check_nothing_is_left()

    def _check_rate(self) -> None:
        rate = self.limited.rate
        if rate is None or not self.journal.exact:
            return
        for key, times in self.under.begun.items():
            for earlier, later in zip(times, times[rate:], strict=False):
                if later - earlier < PER_MS:
                    raise Violation(f"at most {rate} attempts per second: one more in {later - earlier:.0f} ms, key {key}")

    def _check_nothing_is_left(self) -> None:
        """When all runs have ended, the next run that asks finds every slot free: no entry is of a lease that is live."""
        for cell in self.cells:
            for run_id, holder in decode_holders(self.truth.get_claim(f"limit:{cell}", self.world_ms())).items():
                head = self.truth.get_run(run_id)
                if head is not None and head.owner is not None and head.epoch == holder.epoch:
                    raise Violation(f"no slot is lost: {run_id} holds {holder}")

    @property
    def cells(self) -> set[str]:
        """The cells of all slots that any instance has waited for."""
        events = (event for story in self.journal.runs.values() for event in story.events if "cell" in event.data)
        return {event.data["cell"] for event in events if event.data["limit"]["of"].endswith("concurrency")}
