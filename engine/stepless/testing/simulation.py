"""Simulates one run of the real core on a virtual clock, without I/O and without waiting (`simulate`). Days pass in milliseconds.

At every instant, signals come first, then the ends of attempts, then timers; each in the order in which it was scheduled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import Any, Literal

from stepless.compile import compile_document
from stepless.core.decide import decide
from stepless.core.deciding.ending import outputs
from stepless.core.deciding.pauses import next_due_ms
from stepless.core.decision import Decision, Dispatch
from stepless.core.events import Event, EventType
from stepless.core.facts import Answered, Begin, CancelRequested, Expired, Fact, Failed, Failure, Received, Tick
from stepless.core.fold import fold
from stepless.core.history.tags import Tag
from stepless.core.history.trace import NodeRecord, Trace, envelope
from stepless.core.state import State
from stepless.core.stored.snapshot import decode_state, encode_state
from stepless.core.values.variables import outgoing_cells
from stepless.errors import EngineBug, InvalidRequest
from stepless.model.graph import Graph
from stepless.model.json import JSON
from stepless.nodes import KINDS
from stepless.testing.assertions import Assertions
from stepless.testing.script import Entry, Script, scripted

RUN_ID = "simulation"
_SIGNAL, _RESULT = 0, 1


class Envelope(dict[str, Any]):
    """An event as the API returns it, with its virtual instant."""

    @property
    def at_ms(self) -> int:
        return int(self["at_ms"])


@dataclass(frozen=True, slots=True)
class Simulation(Assertions):
    """The outcome of a simulated run, with the assertions of a test (`assertions`).

    `status` is that of the run (`paused` if it still waits for an answer). `nodes` maps instance ids to records. `events` are
    envelopes in log order. `error` is the root cause of a failed run, `failures` counts failed instances.
    """

    status: str
    outputs: JSON
    variables: Mapping[str, JSON]
    nodes: Mapping[str, NodeRecord]
    events: Sequence[Envelope]
    error: Mapping[str, JSON] | None
    failures: int
    tags: Sequence[Tag]
    log: Sequence[Event] = field(repr=False)
    graph: Graph = field(repr=False)


def simulate(
    document: Mapping[str, JSON],
    inputs: JSON = None,
    *,
    entry: str | Sequence[str] | None = None,
    script: Mapping[str, Entry | Sequence[Entry]] | None = None,
    signals: Sequence[Mapping[str, Any]] = (),
    cancel_at: int | None = None,
    seed: int | None = None,
    env: Mapping[str, str] | None = None,
    reload: Literal["log", "snapshot"] | None = None,
) -> Simulation:
    """Runs a document to its end, or until only unanswered pauses are left.

    `script` maps a node id or instance id to the outcome that replaces its work: `{"ok": {ms, value, handle, set}}`,
    `{"fail": {ms, cause, code, retry_after_ms}}`, `{"human": {resume_at, handle, expires_at}}`, `{"wait": {resume_at}}`, or a
    list of them, one per attempt. Without a script, pure and waiting kinds do their real work, and every other node returns
    its own id after 1 ms. `signals` are `{"at", "cancel": true}`, `{"at", "resume": instance, "handle", "answer"}` or
    `{"at", "message": name, "data", "id", "key", "by"}`; an entry `messages` of the script, a list of `{"at", "name", "data"}`,
    sends messages, too. Times are virtual milliseconds from 0 (1970-01-01T00:00:00Z). `seed` draws retry jitter, which is
    otherwise 1. `env` has the values of `${NAME}`. `reload` discards the run after every decision and loads it again, from its
    log or from a snapshot, as another process would; the outcome must not change.

    Raises `DocumentRefused` with every finding, `InvalidRequest` for a script or signal that cannot be read.
    """
    entries = [entry] if isinstance(entry, str) else entry
    script, sent = _without_messages(script or {}, document)
    plan = Script(script)
    graph = scripted(compile_document(document, KINDS, entries=entries), plan)
    world = _World(graph, plan, Random(seed) if seed is not None else None, env or {}, reload)
    cancelled = [{"at": cancel_at, "cancel": True}] if cancel_at is not None else []
    for number, signal in enumerate([*signals, *sent, *cancelled], 1):
        world.schedule(*_signal(signal, graph, number))
    return world.run({} if inputs is None else inputs)


_MESSAGES = "messages"


def _without_messages(
    script: Mapping[str, Any], document: Mapping[str, JSON]
) -> tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]:
    """The script without its messages, and these as signals. A node that is named `messages` keeps its entry."""
    sent, nodes = script.get(_MESSAGES), document.get("nodes")
    if not isinstance(sent, list) or (isinstance(nodes, Mapping) and _MESSAGES in nodes):
        return script, ()
    signals = [{**message, "message": message.get("name")} for message in sent]
    return {name: entry for name, entry in script.items() if name != _MESSAGES}, signals


def _signal(signal: Mapping[str, Any], graph: Graph, number: int) -> tuple[int, int, Fact]:
    if "at" not in signal or not (signal.get("cancel") or signal.get("resume") or signal.get("message")):
        raise InvalidRequest(f"not a signal: {signal}", code="invalid_signal", mend="see the docstring of `simulate`")
    if signal.get("message"):
        return signal["at"], _SIGNAL, _message(signal, graph, number)
    if signal.get("cancel"):
        return signal["at"], _SIGNAL, CancelRequested()
    return signal["at"], _SIGNAL, Answered(signal["resume"], signal.get("handle") or "", signal.get("answer"))


def _message(signal: Mapping[str, Any], graph: Graph, number: int) -> Received:
    """A message, refused as a run would refuse it."""
    name, data = str(signal["message"]), signal.get("data")
    declared = graph.messages.get(name)
    if declared is None:
        known = ", ".join(graph.messages) or "none"
        raise InvalidRequest(f"the workflow declares no message `{name}`", code="unknown_message", mend=f"it declares {known}")
    violations = declared.contract.violations(data) if declared.contract is not None else ()
    if violations:
        raise InvalidRequest(f"the data does not fit the message `{name}`: {violations[0]}", code="message_invalid", place="data")
    return Received(signal.get("id") or f"message-{number}", name, data, signal.get("key"), signal.get("by"), signal["at"])


class _World:
    """The virtual world of one run: a queue of facts by instant."""

    def __init__(self, graph: Graph, script: Script, random: Random | None, env: Mapping[str, str], reload: str | None) -> None:
        self.graph = graph
        self.script = script
        self.random = random
        self.env = env
        self.reload = reload
        self.state = State(graph, RUN_ID)
        self.events: list[Event] = []
        self.early: dict[str, Answered] = {}  # answers that came before their pause was recorded
        self._agenda: list[tuple[int, int, int, Fact]] = []
        self._order = count()

    def schedule(self, at_ms: int, rank: int, fact: Fact) -> None:
        heappush(self._agenda, (at_ms, rank, next(self._order), fact))

    def run(self, inputs: JSON) -> Simulation:
        self._decide(Begin(inputs), 0)
        while not self.state.ended:
            due_ms = next_due_ms(self.state)
            if self._agenda and (due_ms is None or self._agenda[0][0] <= due_ms):
                at_ms, _, _, fact = heappop(self._agenda)
                self._happen(fact, at_ms)
            elif due_ms is not None:
                self._decide(Tick(), due_ms)
            else:
                break
        return self._result()

    def _happen(self, fact: Fact, now_ms: int) -> None:
        if isinstance(fact, Answered):
            instance = self.state.find(fact.instance)
            if instance is None or not (instance.settled or fact.instance in self.state.waiting):
                self.early.setdefault(fact.instance, fact)
                return
            if not fact.handle and instance.wait is not None and instance.wait.exits:
                fact = Answered(fact.instance, instance.wait.exits[0], fact.answer, fact.by)
        self._decide(fact, now_ms)

    def _decide(self, fact: Fact, now_ms: int) -> None:
        decision = decide(self.state, [fact], now_ms, env=self.env)
        self.events += decision.events
        for dispatch in decision.dispatches:
            self._dispatch(dispatch, now_ms)
        self._open_pauses(decision, now_ms)
        if self.reload is not None and decision.events and not self.state.ended:
            self._load_again(now_ms)
        for instance in decision.expiries:
            self._decide(Expired(instance), now_ms)

    def _load_again(self, now_ms: int) -> None:
        """Loads the state as another process would. Timers that were already settled come back with it and have no effect."""
        if self.reload == "snapshot":
            state = decode_state(encode_state(self.state), self.graph, RUN_ID)
            if state is None:
                raise EngineBug("a snapshot that was just written cannot be read", place=RUN_ID)
            self.state = state
        else:
            self.state = State(self.graph, RUN_ID)
            for event in self.events:
                fold(self.state, event)
            self.state.notes.clear()
        if decide(self.state, [Tick()], now_ms - 1, env=self.env).events:
            raise EngineBug("loading a run made something happen", place=f"sequence {self.state.sequence}")

    def _dispatch(self, dispatch: Dispatch, now_ms: int) -> None:
        node = dispatch.instance.node
        chance = self.random.random() if self.random is not None else 1.0
        step = self.script.step(dispatch.id, node, dispatch.attempt, chance)
        after_ms, fact = step.after_ms, step.fact
        if after_ms > node.timeout_ms:
            message = f"no answer within {node.timeout_ms} ms"
            after_ms, fact = node.timeout_ms, Failed(dispatch.id, dispatch.attempt, _timeout(message), chance)
        self.schedule(now_ms + after_ms, _RESULT, fact)

    def _open_pauses(self, decision: Decision, now_ms: int) -> None:
        """Schedules the answers of pauses that have just opened: those that arrived early, and those of the script."""
        for event in decision.events:
            if event.type is not EventType.NODE_WAITING:
                continue
            early = self.early.pop(event.instance, None)
            if early is not None:
                self.schedule(now_ms, _SIGNAL, early)
            answer = self.script.answer(event.instance)
            if answer is not None:
                at_ms, handle, value = answer
                exits = event.data.get("exits") or ["source"]
                self.schedule(max(now_ms, at_ms), _SIGNAL, Answered(event.instance, handle or exits[0], value))

    def _result(self) -> Simulation:
        state = self.state
        trace = Trace(self.graph, RUN_ID).extend(self.events)
        last = self.events[-1]
        error = last.data.get("error") if last.type is EventType.RUN_FAILED else None
        cells = outgoing_cells(state.root, lambda expression, values: values[-1])
        return Simulation(
            status=state.status.value,
            outputs=outputs(state),
            variables={name: cell.value for name, cell in cells.items()},
            nodes=trace.nodes,
            events=[Envelope(envelope(self.graph, RUN_ID, event), at_ms=event.at_ms) for event in self.events],
            error=error,
            failures=state.failures,
            tags=trace.tags,
            log=self.events,
            graph=self.graph,
        )


def _timeout(message: str) -> Failure:
    return Failure("timeout", "timeout", message, "timeout")
