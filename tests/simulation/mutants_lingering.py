"""Planted bugs about code that goes on after the end of its attempt."""

from __future__ import annotations

from typing import Any

from episode import Parts
from grounds import OnCloud
from weathers import lingering

from stepless.ports import Lease, RunHead
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.permits.lingering import Lingering, LingeringOfRun
from stepless.runtime.session.runner import Runner, Session


class RetriesBesideTheCode(Session):
    """The code of the former attempt does not hold up the next one."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._lingering = LingeringOfRun(Lingering(), "")


class FreesSlotsAtTheEnd(Session):
    """The slots of an attempt are given back when it ends, and not when its code has returned."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        if self._limiter is not None:
            self._limiter.permits.lingering = ()

    async def _keep_slots(self, limiter: Any) -> bool:
        return True


class HandsOverWithItsCode(Session):
    """A session hands over and parks although code of its run goes on."""

    @property
    def _must_leave_code(self) -> bool:
        self._lingering = LingeringOfRun(Lingering(), "")
        return False


def _runner(session: type[Session]) -> type[Runner]:
    class WithSession(Runner):
        def _open(self, head: RunHead, lease: Lease, budget: Budget) -> Session:
            return session(self._world, head, lease, budget, self.lingering)

    return WithSession


LINGERING_MUTANTS = {
    "a retry begins beside the code of the former attempt": Parts(runner=_runner(RetriesBesideTheCode), weather=lingering),
    "a session hands over and leaves its code running": Parts(runner=_runner(HandsOverWithItsCode), weather=lingering),
    "a process with code that does not return lives on": Parts(ends_itself=False, weather=lingering),
    "an invocation on the cloud leaves its code to the next": Parts(OnCloud, ends_itself=False, weather=lingering),
}
FREES_SLOTS_AT_THE_END = Parts(runner=_runner(FreesSlotsAtTheEnd), weather=lingering)
