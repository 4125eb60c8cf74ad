"""What one session knows of its run's inbox: what it has told the core, and what came too early to be told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from stepless.core.facts import Fact
from stepless.core.state import State
from stepless.model.json import JSON
from stepless.ports import Signal
from stepless.runtime import inbox
from stepless.runtime.session import children
from stepless.runtime.world import World


class Signals:
    """Each signal becomes a fact once in a session, in the order in which it was put; an early one when it is no_longer_early.

    `told` are those that the core was told and that are not marked taken; `orphans` the child runs that are at work although
    their caller has settled. Whoever deals with them takes them out.
    """

    def __init__(self, world: World, run_id: str) -> None:
        self._world = world
        self._run_id = run_id
        self._seen: set[tuple[str, str]] = set()
        self._early: list[Signal] = []  # answers to pauses that are not recorded yet
        self.told: list[Signal] = []
        self.orphans: list[str] = []

    def look(self, state: State) -> list[Fact]:
        """Reads the inbox: what came since the last look, less what is early."""
        new = self._unseen()
        early, timely = inbox.split_by_timing(state, new)
        facts = self._tell(state, timely)
        self._early += early
        self._seen.update((signal.kind, signal.identity) for signal in new)
        return facts

    def no_longer_early(self, state: State) -> list[Fact]:
        """Early answers whose pause has been recorded, or never will be."""
        if not self._early:
            return []
        self._early, no_longer_early = inbox.split_by_timing(state, self._early)
        return self._tell(state, no_longer_early)

    def claimed(self, state: State, standing: Signal) -> list[Fact]:
        """What stands in the inbox after this session has put something there itself."""
        self._seen.add((standing.kind, standing.identity))
        return self._tell(state, [standing])

    def unseen(self) -> bool:
        """Reads the inbox: whether anything came since the last look. That is left to whoever looks next."""
        return bool(self._unseen())

    def _unseen(self) -> Sequence[Signal]:
        waiting = self._world.store.read_inbox(self._run_id)
        return [signal for signal in waiting if (signal.kind, signal.identity) not in self._seen]

    def _tell(self, state: State, signals: Iterable[Signal]) -> list[Fact]:
        told = list(signals)
        facts = [inbox.fact_of(signal, self._outcome_of) for signal in told]
        self.told += told
        self.orphans += [run for signal in told if (run := inbox.orphaned_child(state, signal)) is not None]
        return [fact for fact in facts if fact is not None]

    def _outcome_of(self, run_id: str) -> tuple[JSON, Mapping[str, JSON] | None]:
        return children.outcome(self._world, run_id)
