"""Collects the facts that arrive for a session between two decisions. Reporters hold a reference to this object, never to the
session. A session that is over is therefore freed immediately, without the garbage collector."""

from __future__ import annotations

import asyncio

from stepless.core.facts import AttemptFact, Fact, Noticed, Stopped
from stepless.errors import EngineBug, SteplessError
from stepless.runtime.session.alarm import Alarm


class Arrivals:
    """`some` says whether `take` would return or raise anything. For use in the thread of one loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._alarm = Alarm(loop)
        self.some = False
        self._facts: list[Fact] = []
        self._fault: SteplessError | None = None
        self._woken = False
        self._sleeper: asyncio.Future[None] | None = None

    def add(self, fact: AttemptFact | Noticed | Stopped) -> None:
        """Adds the end of an attempt, its output while it runs, the result of a notice, or the end of the process."""
        self._facts.append(fact)
        self.some = self._woken = True
        if self._sleeper is not None:
            self.wake()

    def fail(self, error: Exception, place: str) -> None:
        """Reports an error outside of node code, which ends the session. An unknown error becomes an `EngineBug`."""
        self._fault = error if isinstance(error, SteplessError) else EngineBug(f"{type(error).__name__}: {error}", place=place)
        self.some = True
        self.wake()

    def wake(self) -> None:
        """Ends the current sleep, or the next one."""
        self._woken = True
        if self._sleeper is not None and not self._sleeper.done():
            self._sleeper.set_result(None)

    async def sleep(self, until: float) -> None:
        """Sleeps until `wake` is called, or until this instant of the loop's clock."""
        if not self._woken:
            self._alarm.set(until, self.wake)
            self._sleeper = self._loop.create_future()
            await self._sleeper
            self._sleeper = None

    def take(self) -> list[Fact]:
        """Removes and returns the facts, in the order of their arrival. Raises the error passed to `fail`."""
        if self._fault is not None:
            raise self._fault
        facts, self._facts, self._woken, self.some = self._facts, [], False, False
        return facts

    def close(self) -> None:
        self._alarm.clear()
