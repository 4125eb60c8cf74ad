"""Reads the inbox of one session's run: passes each signal to the core once, and keeps those that arrive too early."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeAlias

from stepless.core.facts import Fact
from stepless.core.state import State
from stepless.limits import TAKEN_AT_ONCE
from stepless.ports import Signal
from stepless.runtime import inbox
from stepless.runtime.session.pauses import children
from stepless.runtime.world import World

Retried: TypeAlias = Callable[..., Awaitable[Any]]  # makes a call to the store


class Signals:
    """Each signal becomes a fact once per session, in the order in which it was put. An early signal becomes a fact once its
    pause is recorded.

    `early` holds what cannot be taken yet, such as an answer to a pause that is not recorded yet. `more` says that some of it can
    be taken when the last signals are marked, and is earlier than a timeout that is due now. `unmarked` holds the signals that
    were passed to the core and are not marked as taken. `orphans` holds the child runs that are still running although their
    caller has settled. The caller removes what it has handled.
    """

    def __init__(self, world: World, run_id: str) -> None:
        self._world = world
        self._run_id = run_id
        self._seen: set[tuple[str, str]] = set()
        self.early: list[Signal] = []
        self.more = False
        self.unmarked: list[Signal] = []
        self.orphans: list[str] = []

    def look(self, state: State) -> list[Fact]:
        """Reads the inbox: the new signals as facts, without those that are early."""
        new = self._unseen()
        early, timely, more = inbox.split_by_timing(state, new)
        facts = self._to_facts(state, timely)
        self.early, self.more = [*self.early, *early], self.more or more
        self._seen.update((signal.kind, signal.identity) for signal in new)
        return facts

    def no_longer_early(self, state: State) -> list[Fact]:
        """Returns the early signals that can be taken now: answers whose pause has been recorded, or never will be."""
        if not self.early:
            return []
        self.early, no_longer_early, self.more = inbox.split_by_timing(state, self.early)
        return self._to_facts(state, no_longer_early)

    async def claim_deadlines(self, state: State, expired: Sequence[str], retried: Retried) -> list[Fact]:
        """Puts the signals of expired deadlines. A deadline and an answer compete for the same key, so exactly one wins."""
        facts: list[Fact] = []
        for instance in expired:
            signal = inbox.deadline_signal(instance, self._world.clock.now_ms())
            existing = await retried(partial(self._world.store.put_signal, self._run_id, signal))
            facts += self.claimed(state, existing)
        return facts

    def claimed(self, state: State, existing: Signal) -> list[Fact]:
        """Returns the fact of the signal that is in the inbox after this session has put one for the same key."""
        self._seen.add((existing.kind, existing.identity))
        return self._to_facts(state, [existing])

    async def mark_taken(self, state: State, retried: Retried, between: Callable[[], Awaitable[None]]) -> None:
        """Marks the processed signals as taken. Their events are committed, so no later session needs them. Calls `between` after
        each write. A message that came after the end of the run has no event: it stays in the inbox, as unread."""
        knows = state.mailbox.knows
        self.unmarked = [signal for signal in self.unmarked if signal.kind != inbox.MESSAGE or knows(signal.identity)]
        while self.unmarked:
            some = self.unmarked[:TAKEN_AT_ONCE]
            await retried(partial(self._world.store.take_signals, self._run_id, some), together=True)
            del self.unmarked[:TAKEN_AT_ONCE]
            await between()

    def unseen(self) -> bool:
        """Returns whether the inbox holds new signals. They are left to the next session."""
        return bool(self._unseen())

    def _unseen(self) -> Sequence[Signal]:
        waiting = self._world.store.read_inbox(self._run_id)
        return [signal for signal in waiting if (signal.kind, signal.identity) not in self._seen]

    def _to_facts(self, state: State, signals: Iterable[Signal]) -> list[Fact]:
        facts: list[Fact] = []
        for signal in signals:
            fact = inbox.fact_of(signal, self._outcome_of, self._value_of)
            if fact is None:
                continue  # of a newer release, which will take it
            facts.append(fact)
            self.unmarked.append(signal)
            if (run := inbox.orphaned_child(state, signal)) is not None:
                self.orphans.append(run)
        return facts

    def _value_of(self, key: str) -> Any:
        data = self._world.blobs.get(key)
        if data is None:
            raise ValueError(f"the value {key} is missing")
        return json.loads(data)

    def _outcome_of(self, run_id: str) -> inbox.ChildOutcome:
        return children.outcome(self._world, run_id)
