"""Waits for a lock that another process holds, in place of SQLite, whose waiting keeps the connection from all others."""

from __future__ import annotations

import time
from asyncio import _get_running_loop
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, repeat
from threading import Lock
from typing import Final, TypeVar

from stepless.limits import SQLITE_WAITERS

T = TypeVar("T")

_SPIN_S: Final = (0.001, 0.002, 0.005)  # an event loop waits no longer: most writers are done by then
_SPIN_EVERY_S: Final = 0.1  # in a loop: while the lock stays taken, calls are refused at once
_PAUSES_S: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05)


class Waits:
    """One thread at a time tries, so that many that wait cost no more than one. At most SQLITE_WAITERS wait; further calls are
    refused at once, so that a server keeps threads for requests that only read."""

    def __init__(self, busy_ms: int) -> None:
        self._busy_s = busy_ms / 1000
        self._trying = Lock()
        self._waiting = 0
        self._counting = Lock()
        self._spun = 0.0  # when a loop waited last
        self._blocking = False

    @contextmanager
    def blocking(self) -> Iterator[None]:
        """Lets an event loop wait as a thread does, inside the block."""
        self._blocking = True
        try:
            yield
        finally:
            self._blocking = False

    def until_free(self, call: Callable[[], T], is_locked: Callable[[Exception], bool], error: Exception) -> T:
        """Returns the result of `call` as soon as it meets no lock. Raises its last error when the time is over; `error` is that
        of the call before."""
        if _get_running_loop() is not None and not self._blocking:
            return self._spin(call, is_locked, error)
        with self._counting:
            if self._waiting >= SQLITE_WAITERS:
                raise error
            self._waiting += 1
        try:
            return self._try_in_turn(call, is_locked, error)
        finally:
            with self._counting:
                self._waiting -= 1

    def _spin(self, call: Callable[[], T], is_locked: Callable[[Exception], bool], error: Exception) -> T:
        if not self._busy_s or time.monotonic() - self._spun < _SPIN_EVERY_S:
            raise error
        try:
            return _retry(call, is_locked, error, _SPIN_S)
        except Exception as last:
            if is_locked(last):
                self._spun = time.monotonic()
            raise

    def _try_in_turn(self, call: Callable[[], T], is_locked: Callable[[Exception], bool], error: Exception) -> T:
        deadline = time.monotonic() + self._busy_s
        if not self._trying.acquire(timeout=self._busy_s):
            raise error
        try:
            return _retry(call, is_locked, error, _pauses_until(deadline))
        finally:
            self._trying.release()


def _pauses_until(deadline: float) -> Iterator[float]:
    """Longer and longer pauses in seconds, until the deadline of the monotonic clock."""
    for pause in chain(_PAUSES_S, repeat(_PAUSES_S[-1])):
        if (left := deadline - time.monotonic()) <= 0:
            return
        yield min(pause, left)


def _retry(call: Callable[[], T], is_locked: Callable[[Exception], bool], error: Exception, pauses_s: Iterable[float]) -> T:
    """Calls again after each pause, until the call meets no lock. Raises the last error; `error` is that of the call before."""
    for pause in pauses_s:
        time.sleep(pause)
        try:
            return call()
        except Exception as last:
            if not is_locked(last):
                raise
            error = last
    raise error
