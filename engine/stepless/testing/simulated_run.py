"""Simulates one run of the real core on a virtual clock: a queue of facts by instant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import Literal, TypeAlias

from stepless.core.decide import decide
from stepless.core.deciding.pauses import next_due_ms
from stepless.core.decision import Decision, Dispatch
from stepless.core.events import Event, EventType
from stepless.core.facts import Answered, Begin, CancelRequested, Expired, Fact, Failed, Failure, HoldChanged, Received, Tick
from stepless.core.fold import fold
from stepless.core.mailbox import Mail
from stepless.core.state import MESSAGE, State
from stepless.core.stored.snapshot import decode_state, encode_state
from stepless.errors import EngineBug
from stepless.limits import MAX_MAILBOX
from stepless.model.graph import Graph
from stepless.model.json import JSON, equal
from stepless.testing.script import Script

RUN_ID = "simulation"
Reload: TypeAlias = Literal["log", "snapshot"] | None
_SIGNAL, _RESULT = 0, 1


@dataclass(frozen=True, slots=True)
class Setting:
    """What all runs of a simulation have in common. `random` draws the jitter of retries, which has its full length without."""

    graph: Graph
    script: Script
    random: Random | None
    env: Mapping[str, str]
    reload: Reload


class SimulatedRun:
    """One run, which begins at `begins_ms`; what comes before is in its inbox then. `kept` gives it the messages that are kept
    for a further key under which it begins to wait at an instant."""

    def __init__(self, setting: Setting, begin: Begin, begins_ms: int, kept: Callable[[str, int], list[Received]]) -> None:
        self.graph = setting.graph
        self.state = State(setting.graph, RUN_ID)
        self.events: list[Event] = []
        self._setting = setting
        self._begin = begin
        self._begins_ms = begins_ms
        self._kept = kept
        self._inbox: list[Fact] = []  # before the beginning
        self._received: dict[str, tuple[str, JSON]] = {}  # the name and the data of each message, by its id
        self._early: dict[str, Answered] = {}  # answers that came before their pause was recorded
        self._holds = 0
        self._agenda: list[tuple[int, int, int, Fact]] = []
        self._order = count()

    @property
    def has_begun(self) -> bool:
        return bool(self.events)

    @property
    def ended_ms(self) -> int | None:
        return self.events[-1].at_ms if self.state.ended else None

    @property
    def unread(self) -> list[Mail]:
        """The messages that no node took. A run that ended at the instant of a message has it, too."""
        waiting = [*self._inbox, *(fact for _, _, _, fact in sorted(self._agenda, key=lambda entry: entry[:3]))]
        knows = self.state.mailbox.knows
        late = {fact.id: fact for fact in waiting if isinstance(fact, Received) and not knows(fact.id)}
        unread = [Mail(fact.id, fact.name, fact.key, fact.data, fact.by, fact.at_ms) for fact in late.values()]
        return [*self.state.mailbox, *unread]

    def answers_to(self, key: str) -> bool:
        """Returns whether a node waits under a further key."""
        waits = [instance.wait for waiting in self.state.receivers.values() for instance in waiting.values()]
        return any(wait is not None and wait.details.get("key") == key for wait in waits)

    # -- what happens to it -------------------------------------------------------------------------------------------

    def tell(self, fact: Fact, at_ms: int) -> None:
        """A cancel, a hold or an answer reaches the run."""
        if isinstance(fact, HoldChanged):
            self._holds += 1
            fact = fact._replace(number=self._holds)
        if self.has_begun:
            self._schedule(at_ms, _SIGNAL, fact)
            return
        self._inbox.append(fact)
        if isinstance(fact, CancelRequested):  # it does not wait for its instant
            self._begins_ms = min(self._begins_ms, at_ms)

    def receive(self, mail: Received, at_ms: int) -> bool:
        """Returns a message reaches the run. False if its sender is refused: the run has ended, its mailbox is full, or it has
        another message with this id."""
        name, data = self._received.setdefault(mail.id, (mail.name, mail.data))
        if self.state.ended or name != mail.name or not equal(data, mail.data) or len(self.state.mailbox) >= MAX_MAILBOX:
            return False
        if self.has_begun:
            self._schedule(at_ms, _SIGNAL, mail)
        else:
            self._inbox.append(mail)
        return True

    def advance(self, until_ms: int | None = None) -> None:
        """Does what happens before an instant, or everything (None)."""
        if not self.has_begun:
            if until_ms is not None and self._begins_ms >= until_ms:
                return
            holds = tuple(fact for fact in self._inbox if isinstance(fact, HoldChanged))
            self._early |= {fact.instance: fact for fact in reversed(self._inbox) if isinstance(fact, Answered)}
            others = [fact for fact in self._inbox if not isinstance(fact, HoldChanged | Answered)]
            self._inbox.clear()
            self._decide([self._begin._replace(holds=holds), *others], self._begins_ms)
        while not self.state.ended:
            due_ms = next_due_ms(self.state)
            if self._agenda and (due_ms is None or self._agenda[0][0] <= due_ms):
                if until_ms is not None and self._agenda[0][0] >= until_ms:
                    return
                at_ms, rank, _, fact = heappop(self._agenda)
                facts = [fact]
                while rank == _SIGNAL and self._agenda and self._agenda[0][:2] == (at_ms, rank):
                    facts.append(heappop(self._agenda)[3])  # a session reads them together
                self._happen(facts, at_ms)
            elif due_ms is not None and (until_ms is None or due_ms < until_ms):
                self._decide([Tick()], due_ms)
            else:
                return

    # -- decisions ----------------------------------------------------------------------------------------------------

    def _schedule(self, at_ms: int, rank: int, fact: Fact) -> None:
        heappush(self._agenda, (at_ms, rank, next(self._order), fact))

    def _happen(self, facts: list[Fact], now_ms: int) -> None:
        timely = [self._answer(fact) if isinstance(fact, Answered) else fact for fact in facts]
        if some := [fact for fact in timely if fact is not None]:
            self._decide(some, now_ms)

    def _answer(self, fact: Answered) -> Answered | None:
        """The answer with its exit; None, and it is kept, if its pause is not recorded yet."""
        instance = self.state.find(fact.instance)
        if instance is None or not (instance.settled or fact.instance in self.state.waiting):
            self._early.setdefault(fact.instance, fact)
            return None
        if not fact.handle and instance.wait is not None and instance.wait.exits:
            return Answered(fact.instance, instance.wait.exits[0], fact.answer, fact.by)
        return fact

    def _decide(self, facts: list[Fact], now_ms: int) -> None:
        decision = decide(self.state, facts, now_ms, env=self._setting.env)
        self.events += decision.events
        for dispatch in decision.dispatches:
            self._dispatch(dispatch, now_ms)
        self._open_pauses(decision, now_ms)
        if self._setting.reload is not None and decision.events and not self.state.ended:
            self._load_again(now_ms)
        for instance in decision.expiries:
            self._decide([Expired(instance)], now_ms)

    def _load_again(self, now_ms: int) -> None:
        """Loads the state as another process would. Timers that were already settled come back with it and have no effect."""
        if self._setting.reload == "snapshot":
            state = decode_state(encode_state(self.state), self.graph, RUN_ID)
            if state is None:
                raise EngineBug("a snapshot that was just written cannot be read", place=RUN_ID)
            self.state = state
        else:
            self.state = State(self.graph, RUN_ID)
            for event in self.events:
                fold(self.state, event)
            self.state.notes.clear()
        if decide(self.state, [Tick()], now_ms - 1, env=self._setting.env).events:
            raise EngineBug("loading a run made something happen", place=f"sequence {self.state.sequence}")

    def _dispatch(self, dispatch: Dispatch, now_ms: int) -> None:
        node, random = dispatch.instance.node, self._setting.random
        chance = random.random() if random is not None else 1.0
        step = self._setting.script.step(dispatch.id, node, dispatch.attempt, chance)
        after_ms, fact = step.after_ms, step.fact
        if after_ms > node.timeout_ms:
            message = f"no answer within {node.timeout_ms} ms"
            after_ms, fact = node.timeout_ms, Failed(dispatch.id, dispatch.attempt, _timeout(message), chance)
        self._schedule(now_ms + after_ms, _RESULT, fact)

    def _open_pauses(self, decision: Decision, now_ms: int) -> None:
        """Schedules what answers the pauses that have just opened: answers that arrived early, those of the script, and messages
        that are kept for a further key."""
        for event in decision.events:
            if event.type is not EventType.NODE_WAITING:
                continue
            if event.data["reason"] == MESSAGE and "key" in event.data["details"]:
                for mail in self._kept(event.data["details"]["key"], now_ms):
                    self.receive(mail, now_ms)
            early = self._early.pop(event.instance, None)
            if early is not None:
                self._schedule(now_ms, _SIGNAL, early)
            answer = self._setting.script.answer(event.instance)
            if answer is not None:
                at_ms, handle, value = answer
                exits = event.data.get("exits") or ["source"]
                self._schedule(max(now_ms, at_ms), _SIGNAL, Answered(event.instance, handle or exits[0], value))


def _timeout(message: str) -> Failure:
    return Failure("timeout", "timeout", message, "timeout")
