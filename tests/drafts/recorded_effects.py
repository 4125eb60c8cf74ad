"""Runs a graph in memory and records every effect, for each choice that a person has. Knows nothing of the rule for test runs.

The world around a run is a function of what it is asked: a call with the same kind and parameters has the same result after the
same time, and other people answer the same question in the same way. So two runs of which one can do what the other does differ
only by what the person chose.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from heapq import heappop, heappush
from itertools import count
from typing import Any, NamedTuple

from stepless.core.decide import decide
from stepless.core.deciding.pauses import next_due_ms
from stepless.core.decision import Decision, Dispatch
from stepless.core.events import Event, EventType
from stepless.core.facts import Answered, Begin, Completed, Expired, Fact, Failed, Failure, Suspended, Tick
from stepless.core.state import State
from stepless.model.graph import Graph
from stepless.model.json import JSON
from stepless.model.kind import SOURCE, Outcome, Pause

SECRETS = {"KEY": "secret-of-the-key", "OTHER": "secret-of-the-other", "THIRD": "secret-of-the-third"}
ME = "me"
MAX_DECISIONS = 400
MAX_CHOICES = 200  # ways through the questions of one run


class Effect(NamedTuple):
    """What was called: its kind and its parameters as canonical JSON, with the secrets in them. `path` says where."""

    path: str
    kind: str
    params: str

    @property
    def what(self) -> tuple[str, str]:
        return self.kind, self.params


class TooManyChoices(Exception):
    """The ways through the questions of a run are too many to take all of them."""


def digest(*parts: object) -> int:
    return int.from_bytes(sha256(json.dumps(parts, sort_keys=True).encode()).digest()[:6])


@dataclass(frozen=True)
class Surroundings:
    """The results of calls, and what other people answer: never, always yes, or by the question."""

    seed: int
    others: str = "by the question"  # or never, always

    def result(self, kind: str, params: str) -> tuple[int, JSON]:
        """After how many milliseconds a call ends, and with which value; None: it fails."""
        dice = digest(self.seed, kind, params)
        after_ms = 7_200_000 if kind == "workflow" else (1, 1, 5, 20_000)[dice % 4]
        values: Sequence[JSON] = (None, "i0", "r1", {"ok": "r2"}, {"ok": "i1", "leaked": SECRETS["OTHER"]}, f"r{dice % 7}")
        return after_ms, values[dice // 7 % len(values)]

    def answer(self, question: str) -> str | None:
        if self.others == "never":
            return None
        return "approved" if self.others == "always" or digest(self.seed, question) % 2 else "rejected"


@dataclass
class _Choices:
    """The answers of the person in one run: those to repeat from the run before, then the first ones."""

    former: list[int]
    taken: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def choose(self, options: Sequence[Any]) -> Any:
        place = len(self.taken)
        chosen = self.former[place] if place < len(self.former) else 0
        self.taken.append(chosen)
        self.sizes.append(len(options))
        return options[chosen]

    def following(self) -> list[int] | None:
        """What to choose in the next run; None after the last one."""
        for place in range(len(self.taken) - 1, -1, -1):
            if self.taken[place] + 1 < self.sizes[place]:
                return [*self.taken[:place], self.taken[place] + 1]
        return None


def all_effects(graph: Graph, inputs: JSON, around: Surroundings, reused: Mapping[str, Any] | None = None) -> Iterator[Effect]:
    """The effects of all runs with these inputs: one for each way in which the person may answer their own questions, at most
    MAX_CHOICES, in which case it raises `TooManyChoices` at the end."""
    former: list[int] | None = []
    for _ in range(MAX_CHOICES):
        choices = _Choices(former or [])
        yield from _Run(graph, around, choices.choose).effects(inputs, reused or {})
        former = choices.following()
        if former is None:
            return
    raise TooManyChoices


class _Run:
    def __init__(self, graph: Graph, around: Surroundings, choose: Callable[[Sequence[Any]], Any]) -> None:
        self._graph = graph
        self._around = around
        self._choose = choose
        self._env = {name: SECRETS[name] for name in graph.env if name in SECRETS}
        self._state = State(graph, "run")
        self._agenda: list[tuple[int, int, Fact]] = []
        self._order = count()
        self._seen: list[Effect] = []

    def effects(self, inputs: JSON, reused: Mapping[str, Any]) -> list[Effect]:
        self._decide(Begin(inputs, reused=reused), 0)
        for _ in range(MAX_DECISIONS):
            due_ms = next_due_ms(self._state)
            if self._state.ended or (due_ms is None and not self._agenda):
                break
            if due_ms is None or (self._agenda and self._agenda[0][0] <= due_ms):
                at_ms, _, fact = heappop(self._agenda)
                self._decide(fact, at_ms)
            else:
                self._decide(Tick(), due_ms)
        return self._seen

    def _decide(self, fact: Fact, now_ms: int) -> None:
        decision: Decision = decide(self._state, [fact], now_ms, env=self._env)
        for dispatch in decision.dispatches:
            self._call(dispatch, now_ms)
        for event in decision.events:
            if event.type is EventType.NODE_WAITING:
                self._ask(event, now_ms)
        for instance in decision.expiries:
            self._decide(Expired(instance), now_ms)

    def _call(self, dispatch: Dispatch, now_ms: int) -> None:
        node = dispatch.instance.node
        params = json.dumps([dict(dispatch.params), dict(node.config.literals)])
        self._note(dispatch.id, node.kind.name, params)
        for tool in node.tools.values():
            for arguments in ({"q": "i0"}, {"q": "i1"}):
                if dispatch.render is not None:
                    self._note(dispatch.id, tool.kind.name, json.dumps([dict(dispatch.render(tool, arguments)), "tool"]))
        after_ms, value = self._around.result(node.kind.name, params)
        end: Fact
        if value is None:
            end = Failed(dispatch.id, dispatch.attempt, Failure("provider_error", "odd"))
        elif node.kind.name == "workflow":
            end = Answered(dispatch.id, SOURCE, value)
            self._schedule(now_ms, Suspended(dispatch.id, dispatch.attempt, Pause("subrun", exits=(SOURCE,))))
        else:
            end = Completed(dispatch.id, dispatch.attempt, Outcome(value))
        self._schedule(now_ms + after_ms, end)

    def _ask(self, event: Event, now_ms: int) -> None:
        details: Mapping[str, Any] = event.data.get("details") or {}
        if "message" not in details:
            return
        question = json.dumps([self._graph.name, details])
        if "notify" in details:
            self._note(event.instance, "notice", question)
        if ME in (details.get("approvers") or ()):
            handle = self._choose([None, "approved", "rejected"])
        else:
            handle = self._around.answer(question)
        if handle is not None:
            self._schedule(now_ms + 10, Answered(event.instance, handle, {}))

    def _note(self, instance: str, kind: str, params: str) -> None:
        path = "@".join(part.partition("[")[0] for part in instance.split("@"))
        self._seen.append(Effect(path, kind, params))

    def _schedule(self, at_ms: int, fact: Fact) -> None:
        heappush(self._agenda, (at_ms, next(self._order), fact))
