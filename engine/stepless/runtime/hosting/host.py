"""Queue, timers, sweep and runner in one process: what `stepless dev` and `stepless run` serve runs with."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from stepless.errors import EngineBug, LogUnreadable, SteplessError, TransientError
from stepless.limits import BUSY_DELAY_MS, LOCAL_SWEEP_MS, MAX_ACTIVE_RUNS, SHUTDOWN_MS
from stepless.ports import Clock, Message
from stepless.runtime.hosting.sweep import sweep
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.invocation_end import InvocationEnd
from stepless.runtime.session.runner import Runner
from stepless.runtime.triggers.delivering import Schedules
from stepless.runtime.world import World

_log = logging.getLogger(__name__)


class Inbound(Protocol):
    """A queue that this process also receives from."""

    def receive(self, now_ms: int) -> Message | None: ...

    def next_ms(self) -> int | None: ...


class Firing(Protocol):
    """Timers that this process also fires."""

    def due(self, now_ms: int) -> Sequence[str]: ...

    def next_ms(self) -> int | None: ...


class Host:
    """Serves runs until it is stopped. `budget_ms` is each invocation's budget, `pace` the clock that the queue's delays count
    by: one that nobody sets back delays no hint. `wake` may be called from any thread."""

    def __init__(
        self, world: World, runner: Runner, queue: Inbound, timers: Firing, *, budget_ms: float, pace: Clock | None = None
    ) -> None:
        self._world = world
        self._pace = pace or world.clock
        self._runner = runner
        self._queue = queue
        self._timers = timers
        self._budget_ms = budget_ms
        self._invocations: set[asyncio.Task[None]] = set()
        self._stopping = False
        self._wake = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._sweep_ms = 0
        self._delays: dict[str, str] = {}  # what was told last of what has to wait: of a run by its id, of looking for work by ""
        self.schedules: Schedules | None = None  # fires those of every workflow: for a process that serves them all
        self.faults: dict[str, SteplessError] = {}  # why runs could not go on, by run id
        self.on_beginning: Callable[[str], None] = lambda run_id: None  # of an invocation, as is on_ending
        self.on_ending: Callable[[str], None] = lambda run_id: None
        runner.on_unreadable = self._unreadable
        self.serves: Callable[[str], bool] = lambda run_id: True  # hints for other runs are dropped: the next sweep finds them

    def wake(self) -> None:
        """A message was sent."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._wake.set)

    async def serve(self) -> None:
        """Takes messages, timers and overdue runs until `stop` has drained everything."""
        self._loop = asyncio.get_running_loop()
        while not (self._stopping and not self._invocations):
            self._wake.clear()
            if not self._stopping:
                try:
                    self._take_work()
                except TransientError as error:
                    self._tell_delay("", "looking for work", error)
            await self._sleep()
        self._loop = None  # who wakes it after its end wakes nobody

    def _take_work(self) -> None:
        now_ms = self._world.clock.now_ms()
        if now_ms >= self._sweep_ms or now_ms < self._sweep_ms - LOCAL_SWEEP_MS:  # the clock may have been set back
            self._sweep_ms = now_ms + LOCAL_SWEEP_MS
            self._world.store.check()
            sweep(self._world)
            if self.schedules is not None:
                self.schedules.fire(now_ms)
            if self._delays.pop("", None) is not None:
                _log.warning("looking for work goes on")
        for run_id in self._timers.due(now_ms):
            self._world.queue.send(Message(run_id, "timer"))
        now_ms = self._pace.now_ms()
        while len(self._invocations) < MAX_ACTIVE_RUNS and (message := self._queue.receive(now_ms)) is not None:
            if not self.serves(message.run_id):
                continue
            task = asyncio.get_running_loop().create_task(self._invoke(message))
            self._invocations.add(task)
            task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._invocations.discard(task)
        self._wake.set()

    async def _invoke(self, message: Message) -> None:
        """One invocation. What goes wrong with one run is told and does not stop the others; a message that met a store out of
        reach comes again, one that met anything else is left to the sweep."""
        self.on_beginning(message.run_id)
        try:
            if await self._runner.run(message, Budget(self._budget_ms)) is not InvocationEnd.RESTS:
                self.faults.pop(message.run_id, None)
            self._delays.pop(message.run_id, None)
        except TransientError as error:
            self._tell_delay(message.run_id, f"run {message.run_id}", error)
            self._world.queue.send(message, BUSY_DELAY_MS)
        except SteplessError as error:
            _log.error("run %s could not go on: %s", message.run_id, error)
            self.faults[message.run_id] = error
        except Exception as error:  # a bug: whoever waits for this run must not wait for ever
            _log.exception("run %s could not go on", message.run_id)
            self.faults[message.run_id] = EngineBug(f"{type(error).__name__}: {error}", place=message.run_id)
        self.on_ending(message.run_id)

    def _tell_delay(self, about: str, what: str, error: TransientError) -> None:
        """Once, however often it is tried in vain for the same reason."""
        if self._delays.get(about) != str(error):
            self._delays[about] = str(error)
            _log.warning("%s goes on later: %s", what, error)

    def _unreadable(self, run_id: str, error: LogUnreadable) -> None:
        _log.error("run %s rests: %s", run_id, error)
        self.faults[run_id] = error

    async def _sleep(self) -> None:
        clock, pace = self._world.clock, self._pace
        waits = [(self._sweep_ms, clock), (self._timers.next_ms(), clock)]
        if len(self._invocations) < MAX_ACTIVE_RUNS:
            waits.append((self._queue.next_ms(), pace))
        wait_ms = min(instant - by.now_ms() for instant, by in waits if instant is not None)
        try:
            async with asyncio.timeout(max(0, wait_ms) / 1000 if not self._stopping else None):
                await self._wake.wait()
        except TimeoutError:
            return

    async def stop(self) -> bool:
        """Begins nothing new, lets what is under way drain and hand over; False when that took longer than SHUTDOWN_MS (what
        is cut off then runs again after the next start)."""
        self._stopping = True
        self._wake.set()
        for session in list(self._runner.sessions.values()):
            session.stop()
        if not self._invocations:
            return True
        _, late = await asyncio.wait(self._invocations, timeout=SHUTDOWN_MS / 1000)
        for task in late:
            task.cancel()
        return not late
