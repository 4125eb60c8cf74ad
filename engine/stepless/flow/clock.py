"""Keeps the time and the messages of a workflow that runs as a plain coroutine, as in a unit test.

The clock is virtual: it moves on only when everything waits, to the next instant at which something happens. At every instant
messages come first, then the ends of steps, then timers, as in a simulated run. Steps take no virtual time.

Outside of `gather` and `race` nothing else can happen while a workflow waits, so each wait has a schedule of its own. The
branches of a fork share one, which counts those that can go on: while there is one, time stands still.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from enum import Enum
from heapq import heappop, heappush
from itertools import count
from typing import Any, Final, TypeVar

from stepless.core.mailbox import Mail
from stepless.errors import ConfigError
from stepless.flow.surroundings import Receiver, Wait, World

R = TypeVar("R")
_MESSAGE, _RESULT, _TIMER = range(3)
_DEADLINES: ContextVar[tuple[Deadline, ...]] = ContextVar("stepless_flow_deadlines", default=())
_BRANCH: ContextVar[Branch | None] = ContextVar("stepless_flow_branch", default=None)
_WORLD: ContextVar[World | None] = ContextVar("stepless_flow_world", default=None)
_FIX: Final = "give it in `acting(messages=[…])`, or a `timeout`"


class Until(Enum):
    """What a fork waits for besides the end of all its branches."""

    ALL = "all"
    RETURN = "one that returns"
    FAILURE = "one that fails"
    END = "one that ends"


@dataclass(slots=True)
class Deadline:
    """An instant at which a wait ends with `CancelledError`, as that of `asyncio.timeout`."""

    due_ms: int
    expired: bool = False


@dataclass(slots=True)
class Fork:
    """Branches side by side, by place: what they returned, and how they failed."""

    size: int
    until: Until
    wait: Wait
    values: dict[int, Any] = field(default_factory=dict)
    errors: dict[int, Exception] = field(default_factory=dict)

    @property
    def is_ready(self) -> bool:
        enough = (self.until in (Until.RETURN, Until.END) and self.values) or (
            self.until in (Until.FAILURE, Until.END) and self.errors
        )
        return bool(enough) or len(self.values) + len(self.errors) == self.size


@dataclass(slots=True)
class Branch:
    """One branch of a fork. One that is `lost` does nothing more, not even in its `finally`, as in a run."""

    schedule: Schedule
    outer: Branch | None
    lost: bool = False

    def check(self) -> None:
        """Raises `CancelledError` in a branch that is lost, and in what it has begun."""
        branch: Branch | None = self
        while branch is not None:
            if branch.lost:
                raise asyncio.CancelledError
            branch = branch.outer

    async def work(self, call: Callable[[], Awaitable[R]]) -> R:
        """Does the work of a step. Its end is an event of its own, so that steps of other branches take turns with it."""
        self.check()
        return await self.schedule.work(call)


def branch() -> Branch | None:
    """Returns the branch that is running; None outside of `gather` and `race`."""
    return _BRANCH.get()


async def work(call: Callable[[], Awaitable[R]]) -> R:
    """Does the work of a step, wherever it is awaited."""
    here = _BRANCH.get()
    if here is not None:
        return await here.work(call)
    try:
        return await call()
    finally:
        if (around := _WORLD.get()) is not None:
            around.settle()


def enter(world: World) -> Token[World | None]:
    """Makes this the environment of what is called from here on; `leave` ends it."""
    return _WORLD.set(world)


def leave(token: Token[World | None]) -> None:
    _WORLD.reset(token)


def is_inside() -> bool:
    """Returns whether the caller has an environment already."""
    return _WORLD.get() is not None


def world() -> World:
    """Returns the environment of the workflow that is running."""
    found = _WORLD.get()
    if found is None:
        found = World()
        _WORLD.set(found)
    return found


def schedule() -> Schedule:
    """Returns the scheduler of the branches. Raises `CancelledError` in a branch that is lost."""
    here = _BRANCH.get()
    if here is None:
        return Schedule(world())
    here.check()
    return here.schedule


@dataclass(frozen=True, slots=True)
class Begun:
    """A branch that was begun."""

    schedule: Schedule
    branch: Branch
    fork: Fork
    task: asyncio.Task[None]

    @property
    def is_over(self) -> bool:
        return self.fork.is_ready or self.branch.lost

    def value(self) -> Any:
        """Returns its result. Raises its failure."""
        if self.branch.lost:
            raise asyncio.CancelledError
        for error in self.fork.errors.values():
            raise error
        return self.fork.values[0]

    async def end(self) -> Any:
        """Waits for its end, and returns or raises what it does."""
        await self.schedule.join(self.fork)
        return self.value()

    def cancel(self) -> bool:
        if self.is_over:
            return False
        self.branch.lost = True
        self.task.cancel()
        return True

@contextmanager
def deadline(duration_ms: int) -> Iterator[Deadline]:
    """Ends a wait inside the block with `CancelledError` once this time has passed."""
    outer, found = _DEADLINES.get(), Deadline(world().now_ms + duration_ms)
    _DEADLINES.set((*outer, found))
    try:
        yield found
    finally:
        _DEADLINES.set(outer)


class Schedule:
    """Decides which branch continues next. `running` counts those that can continue, `working` the steps in progress, for
    which time waits."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._running, self._working = 1, 0
        self._heap: list[tuple[int, int, int, Wait, Deadline | None]] = []
        self._forks: list[Fork] = []
        self._first: Wait | None = None  # of the workflow itself
        self._order = count()

    # -- waiting --------------------------------------------------------------------------------------------------------

    async def pause(self, duration_ms: int) -> None:
        """Waits for a duration."""
        await self.blocked(self._at(Wait(), self.world.now_ms + duration_ms, _TIMER))

    async def mail(self, name: str, wants: Callable[[Mail], bool], timeout_ms: int | None) -> Mail | None:
        """Waits for a message, and takes it. None after the timeout. Raises `ConfigError` where none can arrive any more."""
        found = self.world.take(name, wants)
        if found is not None:
            return found
        wait = Wait()
        if timeout_ms is not None:
            self._at(wait, self.world.now_ms + timeout_ms, _TIMER)
        receiver = Receiver(name, wants, wait, self)
        self.world.receivers.append(receiver)
        try:
            mail: Mail | None = await self.blocked(wait)
            return mail
        finally:
            self.world.receivers.remove(receiver)

    async def work(self, call: Callable[[], Awaitable[R]]) -> R:
        self._running -= 1
        self._working += 1
        asyncio.get_running_loop().call_soon(self._turn)  # if the step waits for something real, others go on
        failed: Exception | None = None
        try:
            done = await call()
        except Exception as error:
            failed = error
        finally:
            self._running += 1
            self._working -= 1
        await self.blocked(self._at(Wait(), self.world.now_ms, _RESULT))
        if failed is not None:
            raise failed
        return done

    def _at(self, wait: Wait, due_ms: int, rank: int, deadline: Deadline | None = None) -> Wait:
        heappush(self._heap, (due_ms, rank, next(self._order), wait, deadline))
        return wait

    async def blocked(self, wait: Wait) -> Any:
        """Waits until something wakes the caller."""
        for deadline in _DEADLINES.get():
            self._at(wait, deadline.due_ms, _TIMER, deadline)
        self._first = self._first or wait
        self._running -= 1
        self._turn()
        try:
            return await wait.future
        except asyncio.CancelledError:
            if not wait.woken:
                wait.woken = True
                self._running += 1
            raise

    def wake(self, wait: Wait, value: Any = None, *, error: BaseException | None = None) -> None:
        if wait.woken or wait.future.done():
            return
        wait.woken = True
        self._running += 1
        if error is None:
            wait.future.set_result(value)
        else:
            wait.future.set_exception(error)

    # -- branches -------------------------------------------------------------------------------------------------------

    async def fork(self, awaited: Sequence[Awaitable[Any]], until: Until = Until.ALL) -> Fork:
        """Runs branches side by side, until all have ended, or what `until` says: then the others are cancelled."""
        fork = Fork(len(awaited), until, Wait())
        branches = [Branch(self, _BRANCH.get()) for _ in awaited]
        self._forks.append(fork)
        self._running += len(awaited)
        tasks = [
            asyncio.create_task(self._branch(fork, place, one, branches[place])) for place, one in enumerate(awaited)
        ]
        try:
            await self.blocked(fork.wait)
        finally:
            self._forks = [one for one in self._forks if one is not fork]
            for place, task in enumerate(tasks):
                if place not in fork.values and place not in fork.errors:
                    branches[place].lost = True
                    task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return fork

    def begin(self, awaited: Awaitable[Any]) -> Begun:
        """Begins a branch beside the caller, which goes on."""
        here = _BRANCH.get()
        if here is None:
            here = Branch(self, None)
            _BRANCH.set(here)
        branch, fork = Branch(self, here), Fork(1, Until.ALL, Wait())
        self._running += 1
        return Begun(self, branch, fork, asyncio.create_task(self._branch(fork, 0, awaited, branch)))

    async def join(self, fork: Fork) -> None:
        """Waits for the end of a branch that was begun."""
        if not fork.is_ready:
            self._forks.append(fork)
            await self.blocked(fork.wait)

    async def _branch(self, fork: Fork, place: int, awaited: Awaitable[Any], branch: Branch) -> None:
        _BRANCH.set(branch)
        _DEADLINES.set(())  # a deadline of the fork ends the fork
        try:
            fork.values[place] = await awaited
        except Exception as error:
            fork.errors[place] = error
        finally:
            self._running -= 1
            self._turn()

    # -- what happens next ----------------------------------------------------------------------------------------------

    def _turn(self) -> None:
        """Moves on from event to event, until a branch can go on."""
        while self._running == 0 and (self._resolve() or self._happen()):
            continue

    def _resolve(self) -> bool:
        """Ends a fork that has what it waits for."""
        fork = next((fork for fork in self._forks if fork.is_ready), None)
        if fork is None:
            return False
        self._forks.remove(fork)
        self.wake(fork.wait)
        return True

    def _happen(self) -> bool:
        """Moves on to the next event. False if there is none before the end of a step in progress."""
        while self._heap and self._heap[0][3].woken:
            heappop(self._heap)
        next_ms = self.world.next_ms()
        events = [(next_ms, _MESSAGE)] if next_ms is not None else []
        events += [self._heap[0][:2]] if self._heap else []
        if not events:
            return not self._working and self._give_up()
        at_ms, rank = min(events)
        if at_ms > self.world.now_ms and self._working:
            return False
        self.world.now_ms = max(self.world.now_ms, at_ms)
        if rank == _MESSAGE:
            if not self.world.arrive() and self._first is not None:
                self.wake(self._first, error=asyncio.CancelledError())
            return True
        self._due()
        while rank == _TIMER and self._heap and self._heap[0][:2] == (at_ms, rank):
            self._due()  # one decision takes all timers of an instant
        return True

    def _due(self) -> None:
        """Ends the wait that is due."""
        *_, wait, deadline = heappop(self._heap)
        if deadline is None:
            self.wake(wait)
        elif not wait.woken:
            deadline.expired = True
            self.wake(wait, error=asyncio.CancelledError())

    def _give_up(self) -> bool:
        """Fails the receiver that has waited longest, where nothing can happen any more."""
        for receiver in self.world.receivers:
            if receiver.schedule is self and not receiver.wait.woken:
                error = ConfigError(f"no message `{receiver.name}` arrives", place=receiver.name, mend=_FIX)
                self.wake(receiver.wait, error=error)
                return True
        return False
