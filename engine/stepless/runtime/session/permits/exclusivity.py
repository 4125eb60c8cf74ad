"""Keeps exclusive attempts alone in their process: while one is in progress, the process executes no other attempt of any run
(docs/understand/durability.md#deaths-of-the-process).

A session requests exclusivity when its run has an instance in doubt to start. From then on new attempts of all runs are held
back. Once those in progress have ended and their code has returned, the session is granted exclusivity for one attempt. After it,
the attempts that were held back begin, before another attempt in doubt gets its turn.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from stepless.core.doubt import needs_exclusive
from stepless.core.state import State
from stepless.runtime.session.permits.lingering import Lingering

if TYPE_CHECKING:
    from stepless.runtime.session.permits.limiting import Limiter


class Waiter(Protocol):
    """A session that waits for exclusivity."""

    def may_begin_exclusive(self) -> None:
        """Called when exclusivity is granted."""


class Exclusivity:
    """Shared by all sessions of one process, in the thread of one loop. `lingering` is the code of attempts that have ended.
    `attempts` counts the attempts in progress. `closed`: new attempts are held back. `holder` is the session that has been
    granted exclusivity; `is_fresh` until it has used it."""

    def __init__(self, lingering: Lingering) -> None:
        self._lingering = lingering
        self.attempts = 0
        self.closed = False
        self.holder: Waiter | None = None
        self.is_fresh = False
        self._line: list[Waiter] = []  # the sessions that wait for exclusivity
        self._held_back: list[asyncio.Future[None]] = []

    def may_begin(self, session: Waiter) -> bool:
        """Returns whether the session may begin an exclusive attempt now."""
        return self.is_fresh and self.holder is session

    def concerns(self, session: Waiter) -> bool:
        """Returns whether the session has exclusivity or waits for it."""
        return self.holder is session or session in self._line

    def look(self, session: Waiter, state: State, limiter: Limiter | None, *, over: bool) -> None:
        """Requests exclusivity if the run needs it, or gives it back if its attempt has ended or cannot begin. To be called after
        each decision. `over`: no attempt may begin in this session."""
        if not (state.recoveries or self.closed):
            return
        if self.holder is session:
            if state.exclusive in state.running:
                self.is_fresh = False
                return
            unused = self.is_fresh
            self.withdraw(session)
            if unused:  # the attempt could not begin, which a further request would not change
                return
        if over or state.ended or not needs_exclusive(state, limiter.permits if limiter is not None else None):
            self.withdraw(session)
        elif session not in self._line:
            self.request(session)

    def request(self, session: Waiter) -> None:
        """Requests exclusivity for a session that has none, until it withdraws."""
        self._line.append(session)
        self.closed = True
        self.advance()

    def withdraw(self, session: Waiter) -> None:
        """Ends the request or the exclusivity of a session, if it has any."""
        if self.holder is session:
            self.holder, self.is_fresh = None, False
            self._let_pass()
        elif session in self._line:
            self._line.remove(session)
        else:
            return
        if not self._line and self.holder is None:
            self.closed = False
            self._let_pass()
        self.advance()

    async def enter(self, session: Waiter) -> None:
        """Counts an attempt that begins, after it was held back for as long as it had to be."""
        if not self.closed or self.holder is session:
            self.attempts += 1
            return
        pass_ = asyncio.get_running_loop().create_future()
        self._held_back.append(pass_)
        try:
            await pass_
        except asyncio.CancelledError:
            if pass_ in self._held_back:
                self._held_back.remove(pass_)
            else:
                self.leave()
            raise

    def leave(self) -> None:
        """Counts an attempt that has ended."""
        self.attempts -= 1
        if self.closed:
            self.advance()

    def _let_pass(self) -> None:
        passes, self._held_back = self._held_back, []
        for pass_ in passes:
            if not pass_.done():
                self.attempts += 1
                pass_.set_result(None)

    def advance(self) -> None:
        """Grants exclusivity to the session that has waited longest, if no attempt is in progress and no code lingers."""
        if self.holder is None and self._line and not self.attempts and not self._lingering:
            self.holder, self.is_fresh = self._line.pop(0), True
            self.holder.may_begin_exclusive()
