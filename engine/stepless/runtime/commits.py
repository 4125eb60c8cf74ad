"""Groups the commits of many runs into one transaction: commits of the same turn of the event loop share it.

On a disk a transaction costs about as much for one row as for fifty. Runs in one process commit at about the same time, since
they wait for the same loop; so a write is put on a list, and one callback at the end of the turn makes all of them.

What each run relies on must not change by that:

* *Durable before it goes on.* `make` returns after the transaction, so no attempt begins before its start is durable.
* *Its own conflict.* A write that another process has made impossible raises for its run only; the others are stored. Its refusal
  leaves the transaction open.
* *Shared failure only where the store fails.* `StoreUnavailable` may have undone the whole transaction, so every run of it gets
  it, and each tries again by itself. That is why only idempotent calls are passed: one that was stored although the transaction
  seemed to fail may be repeated.
* *Every waiter gets an answer*, whatever happens in the callback, also when the process is told to stop: a future that is never
  settled would hold its run, and the lease, until the lease ends.

A run that is alone commits at once: it would only wait for the end of the turn. The list belongs to one event loop; a write from
another loop or thread is made alone, as the list has no lock.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeVar

from stepless.errors import StoreUnavailable, TransientError
from stepless.limits import COMMIT_TRIES, LOCKED_TRIES, TRANSIENT_BACKOFF_MS
from stepless.ports import Together

T = TypeVar("T")
_Waiting = tuple[Callable[[], Any], "asyncio.Future[Any]"]
_End = tuple[Any, Exception | None]  # what a write returned, or raised


class Commits:
    """`together` makes several changes to the store durable at once; None where that saves nothing."""

    def __init__(self, together: Together | None = None) -> None:
        self._together = together
        self._writers = 0
        self._loop: asyncio.AbstractEventLoop | None = None  # of the runs
        self._waiting: list[_Waiting] = []

    @contextmanager
    def writer(self) -> Iterator[None]:
        """Counts, inside the block, one more run that may commit. For the event loop that executes the runs."""
        self._writers += 1
        self._loop = asyncio.get_running_loop()
        try:
            yield
        finally:
            self._writers -= 1

    @property
    def shared(self) -> bool:
        """Whether commits can share a transaction."""
        return self._writers > 1 and self._together is not None

    def at_once(self) -> AbstractContextManager[None]:
        """Makes all changes of this thread inside the block durable together at its end, where that saves something."""
        return nullcontext() if self._together is None else self._together()

    @property
    def can_join(self) -> bool:
        """Whether several changes cost less together than one by one."""
        return self._together is not None

    def join(self, *writes: Callable[[], Any]) -> Any:
        """Makes the changes of all `writes`, in order, durable together, where that saves something. Returns what the last one
        does. What one of them raises does not undo what was changed before, except for `StoreUnavailable`: then they may be
        repeated, and all changes are stored or none."""
        with nullcontext() if self.shared else self.at_once():  # shared: in a transaction already, or well without one
            for write in writes:
                answer, refusal = _end(write)
                if refusal is not None:
                    break
        if refusal is not None:
            raise refusal
        return answer

    async def with_retries(self, call: Callable[[], T], *, together: bool = False, failed: int = 0) -> T:
        """Retries an idempotent call; `failed` tries were made before. A store that is unavailable for a moment delays the run
        and interrupts no attempt. A locked file refuses each try at once, so it is tried more often. `together` allows the call
        to wait for other runs and share their transaction."""
        while True:
            if failed:
                await asyncio.sleep(backoff_s(failed))
            try:
                return await self.make(call) if together and self.shared else call()
            except StoreUnavailable as error:
                failed += 1
                if failed >= tries_for(error):
                    raise

    async def now_or_later(self, call: Callable[[], T]) -> T:
        """Returns the result of an idempotent call, now or after `with_retries` if the store is unavailable."""
        try:
            return call()
        except StoreUnavailable:
            return await self.with_retries(call, failed=1)

    async def make(self, write: Callable[[], T]) -> T:
        """Returns or raises what `write` does, once it is durable. Also raises `StoreUnavailable` when another write of the
        transaction found the store unavailable: then no write was made, or the outcome is unknown. In another event loop than
        that of the runs, `write` is made alone."""
        loop = asyncio.get_running_loop()
        if self._together is None or not self.shared or loop is not self._loop:
            return write()
        if not self._waiting:
            loop.call_soon(self._flush, self._together)
        future = loop.create_future()
        self._waiting.append((write, future))
        answer: T = await future
        return answer

    def _flush(self, together: Together) -> None:
        """Makes all waiting writes. Each gets a result or an exception, whatever `together` or a write raises."""
        waiting, self._waiting = [entry for entry in self._waiting if not entry[1].done()], []  # without those of cancelled tasks
        ends: list[_End] = []
        try:
            with together():
                ends = [_end(write) for write, _ in waiting]
        except Exception as error:
            ends = [(None, error)] * len(waiting)
        except BaseException:  # the process must stop: the event loop raises it
            ends = []
            raise
        finally:
            for (_, future), end in zip(waiting, ends or [_unknown()] * len(waiting), strict=True):
                _settle(future, *end)


def backoff_s(failed: int) -> float:
    """Returns the seconds before the next try, after this many."""
    return TRANSIENT_BACKOFF_MS / 1000 * 2.0 ** min(failed, 6)


def tries_for(error: TransientError) -> int:
    """Returns how often a call is tried that raises this error."""
    return LOCKED_TRIES if is_locked(error) else COMMIT_TRIES


def is_locked(error: TransientError) -> bool:
    """Returns whether another process was writing to the file: nothing was done, and a later try succeeds."""
    return bool(error.facts.get("locked"))


def _end(write: Callable[[], Any]) -> _End:
    """What one write returned or raised. Passes on `StoreUnavailable`: the store may have abandoned the whole transaction."""
    try:
        return write(), None
    except StoreUnavailable:
        raise
    except Exception as error:
        return None, error


def _unknown() -> _End:
    return None, StoreUnavailable("the transaction was interrupted: it was not made, or its outcome is unknown")


def _settle(future: asyncio.Future[Any], answer: Any, refusal: Exception | None) -> None:
    if future.done():  # a write cancelled the task that waits for it
        return
    if refusal is None:
        future.set_result(answer)
        return
    if isinstance(refusal, StopIteration):  # a future cannot hold it
        refusal = RuntimeError(f"a write raised {refusal!r}")
    future.set_exception(refusal)
