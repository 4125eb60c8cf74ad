"""The code of attempts that runs in a world, and what must hold of it: the code of one instance runs once at a time, and on
Lambda none goes on in the next invocation. Checked where only its death takes a process its lease."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from journal import Violation
from virtual_time import Actor, passing
from weathers import ENDS

if TYPE_CHECKING:
    from faults import Chance

    from stepless.ports import Call

LONGER_MS = 31_000  # than the timeout of every node
GOES_ON_MS = (500, 20_000, 50_000, 90_000, 10**9)


@dataclass
class Coding:
    """`running` are the attempts whose code runs: (run, instance) → their processes."""

    chance: Chance
    running: dict[tuple[str, str], list[Actor]] = field(default_factory=dict)
    lingered: int = 0

    @property
    def strict(self) -> bool:
        """Whether only its death takes a process its lease, in the present weather."""
        weather = self.chance.weather
        return bool(weather.lingers) and set(weather.faults) <= set(ENDS)

    async def work(self, call: Call, ms: float) -> None:
        """Takes the time of an attempt, and more if it is cancelled."""
        key, actor, weather = (call.run_id, call.instance), _actor(), self.chance.weather
        others = self.running.setdefault(key, [])
        if others and self.strict:
            self._refuse(f"the code of {call.instance} runs once at a time: {others[0].name}, and {actor.name}")
        others.append(actor)
        try:
            await passing(ms + (LONGER_MS if self.chance.happens(weather.hangs) else 0))
        except asyncio.CancelledError:
            if self.chance.happens(weather.lingers):
                self.lingered += 1
                goes_on_ms = self.chance.random.choice(GOES_ON_MS)
                self.chance.record(actor.name, f"{call.instance} goes on for {goes_on_ms} ms")
                await passing(goes_on_ms)
            raise
        finally:
            others.remove(actor)

    def check_idle(self, actor: Actor) -> None:
        """Checks that a process runs no code when an invocation begins in it."""
        left = [instance for (_, instance), actors in self.running.items() if actor in actors]
        if left and self.strict:
            self._refuse(f"nothing of an attempt runs in another invocation: {left} in {actor.name}")

    def _refuse(self, reason: str) -> None:
        """Ends the episode, even when the engine catches the exception."""
        schedule, violation = self.chance.schedule, Violation(reason)
        schedule.failure = schedule.failure or violation
        raise violation


def _actor() -> Actor:
    loop: Any = asyncio.get_running_loop()
    actor: Actor = loop.actor
    return actor
