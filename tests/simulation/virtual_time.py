"""Runs many processes on one virtual clock, one thread at a time.

Every process of the simulated world (a Lambda, a sweeper, a person with a browser) is an `Actor`: a thread that runs until it
has to wait, and then passes control to the actor that is due next. Time jumps from one due instant to the next, so hours pass in
milliseconds; and since only one actor runs at a time, the same seed gives the same interleaving every time.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable, Sequence
from threading import Lock, Thread
from typing import Any


class Crash(SystemExit):
    """The process dies here. A SystemExit, because it passes through an event loop instead of ending a task."""


class Schedule:
    """The schedule of all actors. `now_ms` is the world's true time, in milliseconds from 0."""

    def __init__(self) -> None:
        self.now_ms = 0.0
        self.steps = 0
        self.actors: list[Actor] = []
        self.failure: BaseException | None = None
        self._heap: list[tuple[float, int, Actor | Callable[[], None], int]] = []
        self._order = 0
        self._over: Callable[[], bool] = lambda: False
        self._main = Lock()
        self._main.acquire()

    def at(self, at_ms: float, what: Actor | Callable[[], None]) -> None:
        """Resumes an actor or makes a call at an instant. Entries of one instant keep their order."""
        self._order += 1
        stamp = what.stamp if isinstance(what, Actor) else 0
        heapq.heappush(self._heap, (max(at_ms, self.now_ms), self._order, what, stamp))

    def spawn(self, name: str, body: Callable[[Actor], None], at_ms: float = 0.0) -> Actor:
        actor = Actor(self, name, body)
        self.actors.append(actor)
        self.at(at_ms, actor)
        return actor

    def run(self, over: Callable[[], bool]) -> None:
        """Runs until `over` returns true or no actor has work; then kills every remaining actor."""
        self._over = over
        following = self._next()
        if following is not None:
            following.gate.release()
            self._main.acquire()
        for actor in self.actors:
            actor.doom()
        if self.failure is not None:
            raise self.failure

    def hand_on(self, me: Actor) -> bool:
        """Passes control to the actor that is due next. Returns True when that is `me`."""
        following = self._next()
        if following is me:
            return True
        (following.gate if following is not None else self._main).release()
        return False

    def _next(self) -> Actor | None:
        while self._heap and self.failure is None and not self._over():
            at_ms, _, what, stamp = heapq.heappop(self._heap)
            if isinstance(what, Actor) and (what.over or what.stamp != stamp):
                continue
            self.now_ms = at_ms
            self.steps += 1
            if isinstance(what, Actor):
                return what
            what()
        return None


class Actor:
    """One process. `body` runs in its thread and may call `pause`, `park` and everything that uses them."""

    def __init__(self, schedule: Schedule, name: str, body: Callable[[Actor], None]) -> None:
        self.schedule = schedule
        self.name = name
        self.stamp = 0
        self.over = False
        self.doomed = False
        self.idle = False
        self.gate = Lock()
        self.gate.acquire()
        self._body = body
        self._thread = Thread(target=self._live, name=name, daemon=True)
        self._thread.start()

    def pause(self, ms: float) -> None:
        """Lets time pass while other actors run. Raises `Crash` when the actor was killed in the meantime."""
        self.stamp += 1
        self.schedule.at(self.schedule.now_ms + ms, self)
        self._yield()

    def rest(self, ms: float | None) -> None:
        """Like `pause`, but `wake` ends it early. Without a limit when `ms` is None."""
        self.stamp += 1
        self.idle = True
        if ms is not None:
            self.schedule.at(self.schedule.now_ms + ms, self)
        self._yield()
        self.idle = False

    def wake(self) -> None:
        if self.idle and not self.over:
            self.stamp += 1
            self.schedule.at(self.schedule.now_ms, self)

    def doom(self) -> None:
        """Kills the actor; it is dead when this returns. Only the running actor may call it."""
        if not self.over:
            self.doomed = True
            self.gate.release()
            self._thread.join()

    def _yield(self) -> None:
        if not self.schedule.hand_on(self):
            self.gate.acquire()
        if self.doomed:
            raise Crash

    def _live(self) -> None:
        self.gate.acquire()
        try:
            if not self.doomed:
                self._body(self)
        except Crash:
            self.over = True
        except BaseException as error:  # a fault of the simulation or of the engine: it ends the episode and is raised there
            self.schedule.failure = self.schedule.failure or error
        finally:
            self.over = True
            if not self.doomed:
                self.schedule.hand_on(self)


class VirtualLoop(asyncio.BaseEventLoop):
    """An event loop in one actor: idle time is virtual, and its only inputs are time and `call_soon_threadsafe`."""

    def __init__(self, actor: Actor) -> None:
        super().__init__()
        self.actor = self._actor = actor
        self._selector = self
        self._clock_resolution = 1e-6
        self.set_exception_handler(lambda loop, facts: None)  # tasks that died with their process

    def time(self) -> float:
        return self._actor.schedule.now_ms / 1000

    def select(self, timeout: float | None) -> Sequence[Any]:
        if timeout is None or timeout > 0:
            self._actor.rest(None if timeout is None else timeout * 1000)
        return ()

    def _process_events(self, event_list: Sequence[Any]) -> None:
        """Does nothing: there are no file descriptors."""

    def _write_to_self(self) -> None:
        self._actor.wake()


async def passing(ms: float) -> None:
    """Lets virtual time pass in a coroutine."""
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()
    handle = loop.call_later(ms / 1000, lambda: None if over.done() else over.set_result(None))
    try:
        await over
    finally:
        handle.cancel()
