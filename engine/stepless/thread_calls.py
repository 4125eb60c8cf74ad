"""Counts the calls in threads that an attempt has made and that have not returned.

A thread cannot be stopped from outside. When an attempt is cancelled, the coroutine that waits for the thread ends at once, and
the thread goes on. Code that makes such a call therefore counts it here, for the attempt in whose context it is made. Tasks that
the attempt starts have the same context.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import ContextVar
from threading import get_ident
from typing import Any, Final


class ThreadCalls:
    """The calls of one attempt. `number` is how many have not returned. `returned` is called once, in the thread of the loop,
    when it becomes 0 again. For use in that thread, except for `ended_in_thread`."""

    __slots__ = ("_loop", "_thread", "number", "returned")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._thread = get_ident()
        self.number = 0
        self.returned: Callable[[], None] | None = None

    def noted(self) -> ThreadCalls | None:
        """Counts one more call. None if this is not the thread of the loop: author code in a thread has a loop of its own."""
        if get_ident() != self._thread:
            return None
        self.number += 1
        return self

    def ended(self) -> None:
        """Counts one call less."""
        self.number -= 1
        if not self.number and self.returned is not None:
            returned, self.returned = self.returned, None
            returned()

    def ended_in_thread(self) -> None:
        """`ended`, for any thread."""
        try:
            self._loop.call_soon_threadsafe(self.ended)
        except RuntimeError:  # the loop is closed: nothing else runs in its thread any more
            self.ended()


_CALLS: Final[ContextVar[ThreadCalls | None]] = ContextVar("stepless_thread_calls", default=None)


def count_thread_calls(loop: asyncio.AbstractEventLoop) -> ThreadCalls:
    """Returns the counter of the calls that the current task makes from now on, and those that it starts."""
    calls = ThreadCalls(loop)
    _CALLS.set(calls)
    return calls


def noted_call() -> ThreadCalls | None:
    """Counts a call in a thread that begins now. The caller calls `ended` or `ended_in_thread` once, when it has returned. None
    if no attempt makes the call."""
    calls = _CALLS.get()
    return None if calls is None else calls.noted()


class CountedPool(ThreadPoolExecutor):
    """A pool of threads whose calls are counted. As the default executor of a loop, it counts those of `asyncio.to_thread`."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """See `Executor.submit`."""
        job = super().submit(fn, *args, **kwargs)
        if (calls := noted_call()) is not None:
            job.add_done_callback(lambda _: calls.ended_in_thread())
        return job
