"""Planted bugs in what follows from the deaths of processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random

from embedded import OnFile
from episode import Parts
from faults import Weather
from weathers import plagued, poisoned

from stepless.core.facts import Fact, Recovered
from stepless.ports import Lease, Message, RunHead
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.permits.exclusivity import Exclusivity
from stepless.runtime.session.runner import Runner, Session
from stepless.runtime.world import World


class AsksNoOtherRun(Exclusivity):
    """An attempt counts as alone although the process executes attempts of other runs."""

    def advance(self) -> None:
        if self.holder is None and self._line:
            self.holder, self.is_fresh = self._line.pop(0), True
            self.holder.may_begin_exclusive()

    async def enter(self, session: Session) -> None:
        self.attempts += 1


class AlwaysExclusive(Exclusivity):
    """Attempts in doubt begin as exclusive ones without a request, beside others that begin later."""

    def may_begin(self, session: Session) -> bool:
        return True


def infested(random: Random) -> Weather:
    """As `plagued`, with more nodes that kill their process."""
    return replace(plagued(random), poison=0.3, killed=0.3)


def _runner(exclusivity: type[Exclusivity]) -> type[Runner]:
    class WithExclusivity(Runner):
        def __init__(self, world: World) -> None:
            super().__init__(world)
            self.exclusivity = exclusivity(self.lingering)

    return WithExclusivity


class CountsNoDeath(Session):
    """Every death is taken for a process that went on."""

    def _first_facts(self, message: Message) -> list[Fact]:
        facts = super()._first_facts(message)
        return [Recovered(died=False) if isinstance(fact, Recovered) else fact for fact in facts]


class CountsNothing(Runner):
    def _open(self, head: RunHead, lease: Lease, budget: Budget) -> Session:
        return CountsNoDeath(self._world, head, lease, budget, self.lingering, self.exclusivity)


DEATH_MUTANTS: Mapping[str, Parts] = {
    "alone in its run is alone in its process": Parts(OnFile, runner=_runner(AsksNoOtherRun), weather=infested),
    "exclusive without a request": Parts(OnFile, runner=_runner(AlwaysExclusive), weather=plagued),
    "deaths count against no instance": Parts(runner=CountsNothing, weather=poisoned),
}
