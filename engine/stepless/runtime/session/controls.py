"""Controls a session from outside while its loop runs (`loop.py`): its runner, its process and the senders of signals."""

from __future__ import annotations

import asyncio

from stepless.core.facts import Stopped
from stepless.core.state import State
from stepless.errors import LogUnreadable
from stepless.runtime import run_backoff
from stepless.runtime.session.execution.attempts import Attempts
from stepless.runtime.session.leaving import Leaving
from stepless.runtime.session.parts import Parts
from stepless.runtime.session.permits.exclusivity import Exclusivity


class Controls(Parts):
    """The part of a session that others call. The loop reads what they change."""

    _loop: asyncio.AbstractEventLoop
    _attempts: Attempts
    _leaving: Leaving
    _exclusivity: Exclusivity
    _look_at: float
    _stopping: bool
    _permitted: bool
    _returned: bool

    @property
    def state(self) -> State:
        """The state after the last decision; of a session that has left, after its last commit."""
        return self._state

    def poke(self) -> None:
        """Makes the session read the inbox now. Called when a signal was put."""
        self._look_at = 0.0
        self._arrivals.wake()

    def stop(self) -> None:
        """Starts no more attempts, and hands over once the running ones have finished."""
        self._stopping = self._leaving.is_stopping = True
        self._arrivals.wake()

    def code_returned(self) -> None:
        """Makes the session decide again: lingering code of the run has returned. For any thread."""
        self._returned = True
        self._loop.call_soon_threadsafe(self._arrivals.wake)

    def interrupt(self) -> None:
        """Cancels the attempts in progress, which begin again in another process, and hands over."""
        self._attempts.close()
        if self._notice_sender is not None:
            self._notice_sender.close()
        self._arrivals.add(Stopped())

    def may_begin_exclusive(self) -> None:
        """Makes the session decide again: it has been granted exclusivity."""
        self._permitted = True
        self._arrivals.wake()

    def rest(self, error: LogUnreadable) -> bool:
        """Releases the lease of a run whose log cannot be read. False if another process has taken it."""
        return run_backoff.rest(self._world, self._head, self._lease, error)

    def close(self) -> None:
        """Cancels the attempts, notices and exports that are still running."""
        self._arrivals.close()
        self._attempts.close()
        if self._notice_sender is not None:
            self._notice_sender.close()
        if self._exports is not None:
            self._exports.close()
        self._exclusivity.withdraw(self)
