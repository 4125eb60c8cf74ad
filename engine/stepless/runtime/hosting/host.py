"""Hosts queue, timers, sweep and runner in one process, as `stepless dev` and `stepless run` use them."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable

from stepless.errors import CodeNotReturned, EngineBug, LogUnreadable, SteplessError, TransientError
from stepless.limits import (
    BUSY_DELAY_MS,
    CLOCK_TOLERANCE_MS,
    INTERRUPT_MS,
    LOCAL_SWEEP_MS,
    MAX_ACTIVE_RUNS,
    SHUTDOWN_MS,
)
from stepless.ports import Clock, Firing, Inbound, Message
from stepless.runtime.hosting.sweep import examine, sweep
from stepless.runtime.removal import remove_expired
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.invocation_end import InvocationEnd
from stepless.runtime.session.runner import Runner
from stepless.runtime.triggers.schedule_firing import Schedules
from stepless.runtime.world import World

_log = logging.getLogger(__name__)
_END_IT = "give its work a timeout of its own, so that it returns; another process continues the run when this one has ended"


class Host:
    """Serves runs until it is stopped. `budget_ms` is the budget of each invocation. `pace` is the clock for the delays of the
    queue; a monotonic clock avoids late hints when the system clock is set back. `wake` may be called from any thread."""

    def __init__(
        self, world: World, runner: Runner, queue: Inbound, timers: Firing, *, budget_ms: float, pace: Clock | None = None,
        drain_ms: float = SHUTDOWN_MS - INTERRUPT_MS,
    ) -> None:
        self._world = world
        self._pace = pace or world.clock
        self._runner = runner
        self._queue = queue
        self._timers = timers
        self._budget_ms = budget_ms
        self._drain_ms = drain_ms
        self._invocations: set[asyncio.Task[None]] = set()
        self._stopping = False
        self._wake = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._due: deque[Message] = deque()  # hints of timers that are due
        self._sweep_ms = 0
        self._ahead_ms: int | None = None  # how far the clock is ahead of `pace`
        self._delays: dict[str, str] = {}  # the last logged reason of each delay, by run id; "" is the search for work
        self.schedules: Schedules | None = None  # for a process that serves all workflows
        self.faults: dict[str, SteplessError] = {}  # why runs could not continue, by run id
        self.on_ending: Callable[[str], None] = lambda run_id: None  # of an invocation
        self.on_overdue: Callable[[], None] = lambda: None  # of code that goes on after the end of its attempt
        runner.on_unreadable = self._unreadable
        runner.lingering.on_overdue = self._overdue
        queue.listen(self.wake)
        self.serves: Callable[[str], bool] = lambda run_id: True  # hints for other runs are dropped; the next sweep finds them

    def wake(self) -> None:
        """Makes the host receive messages now. Called, by any thread, when a message was sent."""
        loop = self._loop
        if loop is None or self._wake.is_set():  # if it is set, the host has yet to clear it, and receives messages after that
            return
        if _running_loop() is loop:
            loop.call_soon(self._wake.set)  # after what is ready now: its messages are received together
        else:  # a byte is written to a socket, to wake up the event loop
            loop.call_soon_threadsafe(self._wake.set)

    async def serve(self) -> None:
        """Processes messages, timers and overdue runs until `stop` has been called and all invocations have ended."""
        self._loop = asyncio.get_running_loop()
        while not (self._stopping and not self._invocations):
            self._wake.clear()
            if not self._stopping:
                try:
                    self._take_work()
                except TransientError as error:
                    self._log_delay("", "the search for work", error)
            await self._sleep()
        self._loop = None  # from now on, `wake` has no effect

    def _take_work(self) -> None:
        now_ms = self._world.clock.now_ms()
        self._look_at_clock(now_ms)
        if now_ms >= self._sweep_ms or now_ms < self._sweep_ms - LOCAL_SWEEP_MS:  # the clock may have been set back
            self._sweep_ms = now_ms + LOCAL_SWEEP_MS
            self._world.store.check()
            sweep(self._world)
            remove_expired(self._world)
            if self.schedules is not None:
                self.schedules.fire(now_ms)
            if self._delays.pop("", None) is not None:
                _log.warning("the search for work continues")
        self._due += [Message(run_id, "timer") for run_id in self._timers.due(now_ms)]
        now_ms = self._pace.now_ms()
        while len(self._invocations) < MAX_ACTIVE_RUNS and (message := self._next(now_ms)) is not None:
            if not self.serves(message.run_id):
                continue
            task = asyncio.get_running_loop().create_task(self._invoke(message))
            self._invocations.add(task)
            task.add_done_callback(self._done)

    def _next(self, now_ms: int) -> Message | None:
        """The next hint. A timer that is due does not wait behind the queue, which may hold thousands of new runs."""
        return self._due.popleft() if self._due else self._queue.receive(now_ms)

    def _look_at_clock(self, now_ms: int) -> None:
        """After the clock was set back, sends a hint for every run that waits: what it waits for may be too far in the future."""
        ahead_ms = now_ms - self._pace.now_ms()
        if self._ahead_ms is not None and ahead_ms < self._ahead_ms - CLOCK_TOLERANCE_MS:
            _log.warning("the clock was set back by %s s: all waiting runs are examined", (self._ahead_ms - ahead_ms) // 1000)
            examine(self._world, now_ms)
        self._ahead_ms = ahead_ms

    def _done(self, task: asyncio.Task[None]) -> None:
        self._invocations.discard(task)
        self._wake.set()

    async def _invoke(self, message: Message) -> None:
        """Runs one invocation. An error of one run is logged and does not stop the others. After a transient error the message is
        sent again; after any other error, the sweep retries the run."""
        try:
            if await self._runner.run(message, Budget(self._budget_ms)) is not InvocationEnd.RESTS:
                self.faults.pop(message.run_id, None)
            self._delays.pop(message.run_id, None)
        except TransientError as error:
            self._log_delay(message.run_id, f"run {message.run_id}", error)
            self._world.queue.send(message, BUSY_DELAY_MS)
        except SteplessError as error:
            if str(self.faults.get(message.run_id)) != str(error):  # a sweep that finds it again says it once
                _log.error("run %s could not continue: %s", message.run_id, error)
            self.faults[message.run_id] = error
        except Exception as error:  # a bug: reported as a fault, so that callers stop waiting for this run
            _log.exception("run %s could not continue", message.run_id)
            self.faults[message.run_id] = EngineBug(f"{type(error).__name__}: {error}", place=message.run_id)
        self.on_ending(message.run_id)

    def _log_delay(self, about: str, what: str, error: TransientError) -> None:
        """Logs a delay once, regardless of how often it is retried for the same reason."""
        if self._delays.get(about) != str(error):
            self._delays[about] = str(error)
            _log.warning("%s is delayed and will be retried: %s", what, error)

    def _unreadable(self, run_id: str, error: LogUnreadable) -> None:
        _log.error("run %s rests: %s", run_id, error)
        self.faults[run_id] = error

    def _overdue(self) -> None:
        """Reports that code has not returned long after the end of its attempt. Its runs continue only when it has returned, or
        in another process."""
        for run_id, instance in self._runner.lingering.codes():
            error = CodeNotReturned(f"the code of {instance} goes on after the end of its attempt", place=run_id, mend=_END_IT)
            _log.error("run %s is held up: %s", run_id, error)
            self.faults[run_id] = error
        self.on_overdue()

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
        """Starts no more invocations, and lets the active ones finish their attempts and hand over. Takes at most SHUTDOWN_MS, of
        which the last part serves to cancel attempts that go on, and to record that they begin again. Returns False if there were
        any."""
        self._stopping = True
        self._wake.set()
        for session in list(self._runner.sessions.values()):
            session.stop()
        if not self._invocations:
            return True
        _, late = await asyncio.wait(self._invocations, timeout=self._drain_ms / 1000)
        if not late:
            return True
        for session in list(self._runner.sessions.values()):
            session.interrupt()
        _, stuck = await asyncio.wait(late, timeout=INTERRUPT_MS / 1000)
        for task in stuck:
            task.cancel()
        return False


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
