"""What has happened since a session last looked. Whatever tells a session something holds this, never the session itself: so a
session that is over is gone at once, and leaves the collector nothing to find."""

from __future__ import annotations

import asyncio

from stepless.core.facts import AttemptFact, Fact, Noticed
from stepless.errors import EngineBug, SteplessError
from stepless.runtime.session.alarm import Alarm


class Arrivals:
    """True while there is anything that `take` would answer or raise. For one loop's thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._alarm = Alarm(loop)
        self._facts: list[Fact] = []
        self._fault: SteplessError | None = None
        self._woken = False
        self._sleeper: asyncio.Future[None] | None = None

    def __bool__(self) -> bool:
        return bool(self._facts) or self._fault is not None

    def tell(self, fact: AttemptFact | Noticed) -> None:
        """An attempt's end, what it says meanwhile, or what became of a notice."""
        self._facts.append(fact)
        self.wake()

    def fail(self, error: Exception, place: str) -> None:
        """Something went wrong that is no end of an attempt: the session's own fault, if it is no error of ours."""
        self._fault = error if isinstance(error, SteplessError) else EngineBug(f"{type(error).__name__}: {error}", place=place)
        self.wake()

    def wake(self) -> None:
        """Ends the sleep, or the next one."""
        self._woken = True
        if self._sleeper is not None and not self._sleeper.done():
            self._sleeper.set_result(None)

    async def sleep(self, until: float) -> None:
        """Until somebody wakes it; until this instant of the loop's clock at the latest."""
        if not self._woken:
            self._alarm.set(until, self.wake)
            self._sleeper = self._loop.create_future()
            await self._sleeper
            self._sleeper = None

    def take(self) -> list[Fact]:
        """The facts in the order of their arrival, once each. Raises what was told to `fail`."""
        if self._fault is not None:
            raise self._fault
        facts, self._facts, self._woken = self._facts, [], False
        return facts

    def close(self) -> None:
        self._alarm.clear()
