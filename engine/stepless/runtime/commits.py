"""Commits of many runs made durable by one write: whoever commits in the same turn of the event loop shares a transaction.

A commit is answered after the transaction that holds it, so nothing begins before its start is durable, and each run is told its
own conflict. A run that is alone in its process waits for nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from stepless.errors import StoreUnavailable
from stepless.ports import Together

T = TypeVar("T")
_Waiting = tuple[Callable[[], Any], "asyncio.Future[Any]"]
_End = tuple[Any, Exception | None]  # what a write answered, or raised


class Commits:
    """`together` is the store's way of making several changes durable at once; None where that saves nothing."""

    def __init__(self, together: Together | None = None) -> None:
        self._together = together
        self._writers = 0
        self._waiting: list[_Waiting] = []

    @contextmanager
    def writer(self) -> Iterator[None]:
        """Inside the block a run is under way that may commit."""
        self._writers += 1
        try:
            yield
        finally:
            self._writers -= 1

    @property
    def shared(self) -> bool:
        """Whether it is worth while to wait for others."""
        return self._writers > 1 and self._together is not None

    async def make(self, write: Callable[[], T]) -> T:
        """What `write` answers or raises, told once it is durable. Raises `StoreUnavailable` also when the write of somebody else
        met a store that is out of reach: none of them was made, or nobody knows."""
        if self._together is None or not self.shared:
            return write()
        loop = asyncio.get_running_loop()
        if not self._waiting:
            loop.call_soon(self._flush, self._together)
        future = loop.create_future()
        self._waiting.append((write, future))
        answer: T = await future
        return answer

    def _flush(self, together: Together) -> None:
        """Writes all that wait. Each of them gets an answer or an exception, whatever `together` or a write raises."""
        waiting, self._waiting = [entry for entry in self._waiting if not entry[1].done()], []  # a cancelled task waits no more
        ends: list[_End] = []
        try:
            with together():
                ends = [_end(write) for write, _ in waiting]
        except Exception as error:
            ends = [(None, error)] * len(waiting)
        except BaseException:  # the process is to stop: the loop passes it on
            ends = []
            raise
        finally:
            for (_, future), end in zip(waiting, ends or [_unknown()] * len(waiting), strict=True):
                _settle(future, *end)


def _end(write: Callable[[], Any]) -> _End:
    """What one write answers or raises. A store that is out of reach has perhaps given up the transaction: nothing of it may be
    relied on."""
    try:
        return write(), None
    except StoreUnavailable:
        raise
    except Exception as error:
        return None, error


def _unknown() -> _End:
    return None, StoreUnavailable("the transaction was interrupted: it was not made, or its outcome is unknown")


def _settle(future: asyncio.Future[Any], answer: Any, refusal: Exception | None) -> None:
    if future.done():  # a write has cancelled the task that waits for it
        return
    if refusal is None:
        future.set_result(answer)
        return
    if isinstance(refusal, StopIteration):  # no future takes it
        refusal = RuntimeError(f"a write raised {refusal!r}")
    future.set_exception(refusal)
