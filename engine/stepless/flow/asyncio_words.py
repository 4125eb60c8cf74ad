"""Gives the names of asyncio the meaning that they have in a run, where a workflow is called as a plain coroutine: waits take no
time, and what happens side by side has the order of a run."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Collection, Generator, Iterable
from contextlib import AbstractContextManager
from types import ModuleType, TracebackType
from typing import Any, Final

from stepless.flow import clock, plain
from stepless.flow.surroundings import Wait


class Task:
    """A task of a workflow: a coroutine that has begun, or that a group or a wait begins."""

    def __init__(self, awaited: Awaitable[Any]) -> None:
        self._awaited = awaited
        self._begun: clock.Begun | None = None
        self._ended: tuple[Any, Exception | None] | None = None
        self._cancelled = False

    def begin(self) -> Task:
        self._begun = clock.schedule().begin(self._awaited)
        return self

    def end(self, value: Any, error: Exception | None = None) -> None:
        """Notes how it has ended."""
        self._ended = value, error

    async def run(self) -> Any:
        if self.done():
            return self.result()
        return await (self._awaited if self._begun is None else self._begun.end())

    def __await__(self) -> Generator[Any, Any, Any]:
        return self.run().__await__()

    def done(self) -> bool:
        return self._cancelled or self._ended is not None or (self._begun is not None and self._begun.is_over)

    def cancelled(self) -> bool:
        return self._cancelled

    def cancel(self, msg: object = None) -> bool:
        if self.done():
            return False
        self._cancelled = True
        if self._begun is not None:
            self._begun.cancel()
        return True

    def result(self) -> Any:
        """Returns its result. Raises its failure, and `InvalidStateError` before its end."""
        if self._cancelled:
            raise asyncio.CancelledError
        if self._ended is not None:
            value, error = self._ended
            if error is not None:
                raise error
            return value
        if self._begun is None or not self._begun.is_over:
            raise asyncio.InvalidStateError("Result is not set.")
        return self._begun.value()

    def exception(self) -> Exception | None:
        try:
            self.result()
        except asyncio.InvalidStateError:
            raise
        except Exception as error:
            return error
        return None


class TaskGroup:
    """Runs its tasks side by side at the end of the block. If one fails, the others are cancelled."""

    def __init__(self) -> None:
        self._tasks: list[Task] = []

    async def __aenter__(self) -> TaskGroup:
        return self

    def create_task(self, coro: Awaitable[Any], *, name: str | None = None, context: object = None) -> Task:
        task = Task(coro)
        self._tasks.append(task)
        return task

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        message = "unhandled errors in a TaskGroup"
        if isinstance(error, Exception):
            raise ExceptionGroup(message, [error])
        if error is not None:
            return
        fork = await clock.schedule().fork([task.run() for task in self._tasks], clock.Until.FAILURE)
        for place, task in enumerate(self._tasks):
            if place in fork.values or place in fork.errors:
                task.end(fork.values.get(place), fork.errors.get(place))
        if fork.errors:
            raise ExceptionGroup(message, [fork.errors[place] for place in sorted(fork.errors)])


class Timeout:
    """Ends its block with `TimeoutError` once the time has passed."""

    def __init__(self, delay: float | None) -> None:
        self._delay = delay
        self._block: AbstractContextManager[clock.Deadline] | None = None
        self._deadline: clock.Deadline | None = None

    async def __aenter__(self) -> Timeout:
        if self._delay is not None:
            self._block = clock.deadline(round(self._delay * 1000))
            self._deadline = self._block.__enter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._block is not None:
            self._block.__exit__(None, None, None)
        if isinstance(error, asyncio.CancelledError) and self.expired():
            raise TimeoutError from error

    def expired(self) -> bool:
        return self._deadline is not None and self._deadline.expired


class Semaphore:
    """Lets so many callers in at once. Those that wait are let in in their order."""

    def __init__(self, value: int = 1) -> None:
        if value < 0:
            raise ValueError("Semaphore initial value must be >= 0")
        self._free = value
        self._waiting: deque[tuple[clock.Schedule, Wait]] = deque()

    async def __aenter__(self) -> None:
        await self.acquire()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()

    def locked(self) -> bool:
        return self._free == 0

    async def acquire(self) -> bool:
        schedule = clock.schedule()
        if self._free > 0:
            self._free -= 1
            return True
        wait = Wait()
        self._waiting.append((schedule, wait))
        try:
            await schedule.blocked(wait)
        except asyncio.CancelledError:
            if wait.future.done() and not wait.future.cancelled():
                self.release()
            raise
        finally:
            self._waiting = deque(one for one in self._waiting if one[1] is not wait)
        return True

    def release(self) -> None:
        if not self._waiting:
            self._free += 1
            return
        schedule, wait = self._waiting.popleft()
        schedule.wake(wait)


class BoundedSemaphore(Semaphore):
    """A semaphore that is not released more often than it was acquired."""

    def __init__(self, value: int = 1) -> None:
        super().__init__(value)
        self._bound = value

    def release(self) -> None:
        if self._free >= self._bound:
            raise ValueError("BoundedSemaphore released too many times")
        super().release()


class Lock(Semaphore):
    """A semaphore for one caller."""

    def __init__(self) -> None:
        super().__init__(1)

    def release(self) -> None:
        if not self.locked():
            raise RuntimeError("Lock is not acquired.")
        super().release()


async def sleep(delay: float, result: Any = None) -> Any:
    await plain.sleep(max(0, delay))
    return result


async def wait_for(fut: Awaitable[Any], timeout: float | None) -> Any:  # noqa: ASYNC109  # that of asyncio
    if timeout is None:
        return await fut
    schedule = clock.schedule()
    fork = await schedule.fork([fut, schedule.pause(round(timeout * 1000))], clock.Until.END)
    if 0 in fork.errors:
        raise fork.errors[0]
    if 0 in fork.values:
        return fork.values[0]
    raise TimeoutError


def create_task(coro: Awaitable[Any], *, name: str | None = None, context: object = None) -> Task:
    return Task(coro).begin()


async def wait(
    fs: Iterable[Awaitable[Any]], *, timeout: float | None = None, return_when: str = asyncio.ALL_COMPLETED  # noqa: ASYNC109
) -> tuple[Collection[Task], Collection[Task]]:
    """Returns the first that ends, and the others; or all of them."""
    tasks = [one if isinstance(one, Task) else Task(one) for one in fs]
    until = _UNTIL[return_when]
    fork = await clock.schedule().fork([task.run() for task in tasks], until)
    ended = sorted({*fork.values, *fork.errors})
    ended = ended[:1] if until is clock.Until.END else ended
    for place in ended:
        tasks[place].end(fork.values.get(place), fork.errors.get(place))
    return {tasks[place] for place in ended}, {task for place, task in enumerate(tasks) if place not in ended}


_UNTIL: Final = {
    asyncio.FIRST_COMPLETED: clock.Until.END, asyncio.FIRST_EXCEPTION: clock.Until.FAILURE,
    asyncio.ALL_COMPLETED: clock.Until.ALL,
}  # fmt: skip
_WORDS: Final = {
    "sleep": sleep, "gather": plain.gather, "wait_for": wait_for, "timeout": Timeout, "TaskGroup": TaskGroup, "wait": wait,
    "create_task": create_task, "ensure_future": create_task, "Semaphore": Semaphore, "BoundedSemaphore": BoundedSemaphore,
    "Lock": Lock,
}  # fmt: skip


class _Asyncio(ModuleType):
    """The module asyncio, with these names."""

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)


MODULE: Final = _Asyncio("asyncio")
MODULE.__dict__.update(_WORDS)
WORDS: Final = {id(getattr(asyncio, name)): word for name, word in _WORDS.items()}
"""Our functions and classes in place of those of asyncio, by the identity of the latter."""
