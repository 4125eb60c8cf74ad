"""Deaths of processes by what they execute: poisonous nodes, and deaths at random
(docs/understand/durability.md#deaths-of-the-process).

A poisonous node kills its process at each of its attempts. The world knows which attempts each process was executing when it
died; the engine has to find out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

from journal import Violation
from virtual_time import Actor, Crash, passing

from stepless.core.events import Event, EventType
from stepless.limits import MAX_LONE_DEATHS
from stepless.ports import Call

if TYPE_CHECKING:
    from episode import Episode

One = tuple[str, str]  # an instance of a run
DEATHS_IN_COMPANY = 2  # of one window; then an attempt that kills is alone in its process
RETRIES = 3  # attempts of the nodes of this world that have a retry


class Deaths:
    """What each process executes, and what it executed when it died."""

    def __init__(self, episode: Episode) -> None:
        self._episode = episode
        self._random = Random(f"deaths {episode.number}")  # of its own, so that worlds without deaths stay the same
        self._executing: dict[Actor, Counter[One]] = {}
        self._alone: Counter[One] = Counter()  # deaths at which the process executed nothing but this, or nothing
        self._idle = 0
        self.found = 0  # instances that are said to have crashed
        self._caused: Counter[One] = Counter()  # by a poisonous instance
        self._nodes = sorted(_functions(episode.scenario.document["nodes"]))
        weather = episode.chance.weather
        self.poisonous = {name for name in self._nodes if self._random.random() < weather.poison}

    async def execute(self, actor: Actor, call: Call, ms: float) -> None:
        """The time that an attempt takes, during which its process may die."""
        one = (call.run_id, call.instance)
        executing = self._executing.setdefault(actor, Counter())
        executing[one] += 1
        try:
            if self._kills(call):
                await passing(self._random.uniform(0, ms))
                self._episode.chance.record(actor.name, f"is killed by {call.instance}")
                self._caused[one] += call.node in self.poisonous
                raise Crash
            await self._episode.coding.work(call, ms)
        except Crash:
            raise
        except BaseException:
            self._leave(executing, one)
            raise
        self._leave(executing, one)

    def _kills(self, call: Call) -> bool:
        return call.node in self.poisonous or self._episode.chance.happens(self._episode.chance.weather.killed)

    @staticmethod
    def _leave(executing: Counter[One], one: One) -> None:
        executing[one] -= 1
        if not executing[one]:
            del executing[one]

    def died(self, actor: Actor) -> None:
        """Records that a process has died, whatever killed it."""
        executing = self._executing.pop(actor, Counter())
        if not executing:
            self._idle += 1
        elif len(executing) == 1:
            self._alone.update(executing.keys())

    def check(self, runs: Mapping[str, Sequence[Event]]) -> None:
        """No instance is said to have crashed unless its process died as often as it takes while it executed nothing else; every
        poisonous one that began is said to have, after a bounded number of deaths."""
        for run_id, events in runs.items():
            for event in events:
                if event.type is EventType.NODE_FAILED and self.is_crash(event):
                    self._check_convicted((run_id, event.instance))
                    self.found += 1
            for one, times in self._caused.items():
                if one[0] == run_id:
                    self._check_bounded(one, times)

    def is_crash(self, failed: Event) -> bool:
        """Whether an instance failed because its process died; others pass the code of another instance on."""
        return failed.data["error"]["code"] == "crashed" and failed.instance.partition("@")[0] in self._nodes

    def _check_convicted(self, one: One) -> None:
        if self._alone[one] + self._idle < MAX_LONE_DEATHS:
            raise Violation(f"the innocent never crash: {one} did, and ran alone at {self._alone[one]} deaths")

    def _check_bounded(self, one: One, times: int) -> None:
        most = DEATHS_IN_COMPANY + max(MAX_LONE_DEATHS, RETRIES)
        if not self._episode.chance.weather.doubles and times > most:
            raise Violation(f"a poisonous instance is found after {most} deaths: {one} killed {times} processes")


def _functions(nodes: Mapping[str, Any]) -> list[str]:
    """The ids of the function nodes of a document, at any depth."""
    found = [name for name, node in nodes.items() if node["type"] == "function"]
    bodies = [node["with"]["body"]["nodes"] for node in nodes.values() if "body" in node.get("with", {})]
    return found + [name for body in bodies for name in _functions(body)]
