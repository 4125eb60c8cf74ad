"""Tracks the lingering code of a process: code whose attempt has ended, by its timeout or a cancel, and which has not returned
yet.

Python cannot stop a thread, and a coroutine may suppress its cancellation. Until the code of an attempt has returned, no other
attempt of its instance begins in this process, and its slots stay in use.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

from stepless.limits import LINGER_MS


class Attempt(Protocol):
    """An attempt that has ended (`attempts.Attempt`)."""

    @property
    def has_returned(self) -> bool:
        """Whether nothing of its code runs any more."""
        ...

    def when_returned(self, then: Callable[[], None]) -> None:
        """Calls `then` once all its code has returned."""
        ...


class Lingering:
    """The lingering code of all runs of a process. `on_return` is called with the run when code has returned; `on_overdue` when
    code has lingered for `most_ms`: the process should then end itself. `alone` says whether no session of the process does
    anything else than wait for such code."""

    def __init__(self, most_ms: float = LINGER_MS) -> None:
        self.most_ms = most_ms
        self.on_return: Callable[[str], None] = lambda run_id: None
        self.on_overdue: Callable[[], None] = lambda: None
        self.alone: Callable[[], bool] = lambda: True
        self._codes: dict[tuple[str, str], dict[Attempt, float]] = {}  # when each began to linger, in the loop's seconds
        self._numbers: Counter[str] = Counter()  # by run
        self._alarm: asyncio.TimerHandle | None = None
        self._changed: asyncio.Event | None = None

    def __bool__(self) -> bool:
        return any(not attempt.has_returned for attempts in self._codes.values() for attempt in attempts)

    def add(self, run_id: str, instance: str, attempt: Attempt, loop: asyncio.AbstractEventLoop) -> None:
        """Takes an attempt that has ended, until its code has returned."""
        key = (run_id, instance)
        self._codes.setdefault(key, {})[attempt] = loop.time()
        self._numbers[run_id] += 1
        attempt.when_returned(lambda: self._remove(key, attempt))
        if self._alarm is None:
            self._alarm = loop.call_later(self.most_ms / 1000, self._check, loop)

    def _remove(self, key: tuple[str, str], attempt: Attempt) -> None:
        run_id, attempts = key[0], self._codes[key]
        del attempts[attempt]
        if not attempts:
            del self._codes[key]
        self._numbers[run_id] -= 1
        if not self._numbers[run_id]:
            del self._numbers[run_id]
        if not self._codes and self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if self._changed is not None:
            self._changed.set()
        self.on_return(run_id)

    async def wait(self, ms: float) -> bool:
        """Waits until all code has returned, at most for `ms`. Returns whether it has."""
        try:
            async with asyncio.timeout(ms / 1000):
                while self:
                    self._changed = asyncio.Event()
                    await self._changed.wait()
        except TimeoutError:
            return not self
        return True

    def _check(self, loop: asyncio.AbstractEventLoop) -> None:
        self._alarm = None
        if self.overdue():
            self.on_overdue()
        elif self._codes:
            self._alarm = loop.call_at(self._until(), self._check, loop)

    def _until(self) -> float:
        """The instant of the loop's clock at which some code becomes overdue."""
        return min(since for attempts in self._codes.values() for since in attempts.values()) + self.most_ms / 1000

    @property
    def left_ms(self) -> float:
        """How long the code may still go on before some of it has lingered for `most_ms`."""
        return max(0.0, (self._until() - asyncio.get_running_loop().time()) * 1000) if self else self.most_ms

    def overdue(self) -> bool:
        """Returns whether some code has lingered for `most_ms`."""
        return bool(self) and asyncio.get_running_loop().time() >= self._until()

    def codes(self) -> Sequence[tuple[str, str]]:
        """Returns the runs and instances whose code lingers."""
        return [(run_id, instance) for run_id, instance in self._codes if self.lingers(run_id, instance)]

    def names(self) -> Sequence[str]:
        """Returns the same, for people."""
        return [f"{instance} of {run_id}" for run_id, instance in self.codes()]

    def of(self, run_id: str) -> LingeringOfRun:
        return LingeringOfRun(self, run_id)

    def lingers(self, run_id: str, instance: str | None = None) -> bool:
        """Returns whether code of a run, or of one of its instances, has not returned."""
        if run_id not in self._numbers:
            return False
        keys = [key for key in self._codes if key[0] == run_id] if instance is None else [(run_id, instance)]
        return any(not attempt.has_returned for key in keys for attempt in self._codes.get(key, ()))


class LingeringOfRun:
    """The instances of one run whose code lingers: true if there are any."""

    __slots__ = ("_all", "_run_id")

    def __init__(self, all: Lingering, run_id: str) -> None:
        self._all = all
        self._run_id = run_id

    def __bool__(self) -> bool:
        return self._all.lingers(self._run_id)

    def __contains__(self, instance: object) -> bool:
        return isinstance(instance, str) and self._all.lingers(self._run_id, instance)
