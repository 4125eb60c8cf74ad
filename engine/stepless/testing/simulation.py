"""Simulates runs of the real core on a virtual clock, without I/O and without waiting (`simulate`). Days pass in milliseconds.

At every instant, signals come first, then the ends of attempts, then timers; each in the order in which it was scheduled.

A scenario has one run, and further ones where something starts or reruns it. They follow one another, as the runs of a key do, so
the simulation has one run at a time: what happens before a signal, then the signal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from stepless.compile import compile_document
from stepless.core.deciding.ending import outputs
from stepless.core.events import Event, EventType
from stepless.core.facts import Begin, CancelRequested, Received
from stepless.core.history.tags import Tag
from stepless.core.history.trace import NodeRecord, Trace, envelope
from stepless.core.mailbox import Mail
from stepless.core.outcomes import Former
from stepless.core.state import State
from stepless.core.values.variables import outgoing_cells
from stepless.errors import InvalidRequest
from stepless.model.declaration.policies import OnConflict
from stepless.model.graph import Graph
from stepless.model.json import JSON
from stepless.nodes import KINDS
from stepless.runtime.messages.keys import checked_key, key_of_start
from stepless.runtime.verbs.starts.reruns import FAILED, checked_target
from stepless.testing.assertions import Assertions
from stepless.testing.script import Entry, Script, scripted
from stepless.testing.signals import Rerun, Sent, Signal, Start, Timed, as_signals, read_signals, time_ms
from stepless.testing.simulated_run import RUN_ID, Reload, Setting, SimulatedRun

_MESSAGES = "messages"


class Envelope(dict[str, Any]):
    """An event as the API returns it, with its virtual instant."""

    @property
    def at_ms(self) -> int:
        return int(self["at_ms"])


@dataclass(frozen=True, slots=True)
class Simulation(Assertions):
    """The outcome of a simulated run, with the assertions of a test (`assertions`). Of several runs it is that of the last one.

    `status` is that of the run (`paused` if it still waits for an answer). `nodes` maps instance ids to records. `events` are
    envelopes in log order. `error` is the root cause of a failed run, `failures` counts failed instances. `unread` are the
    messages that no node took, by name in the order of arrival. `undelivered` are the ids of messages that no run received.
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
    unread: Sequence[Mail] = ()
    undelivered: Sequence[str] = ()


def simulate(
    document: Mapping[str, JSON],
    inputs: JSON = None,
    *,
    entry: str | Sequence[str] | None = None,
    script: Mapping[str, Entry | Sequence[Entry]] | None = None,
    signals: Sequence[Mapping[str, Any]] = (),
    messages: Sequence[Mapping[str, Any]] = (),
    key: JSON = None,
    delay: int | str = 0,
    cancel_at: int | None = None,
    seed: int | None = None,
    env: Mapping[str, str] | None = None,
    reload: Reload = None,
) -> Simulation:
    """Runs a document to its end, or until only unanswered pauses are left.

    `script` maps a node id or instance id to the outcome that replaces its work: `{"ok": {ms, value, handle, set}}`,
    `{"fail": {ms, cause, code, retry_after_ms}}`, `{"human": {resume_at, handle, expires_at}}`, `{"wait": {resume_at}}`, or a
    list of them, one per attempt. Without a script, pure and waiting kinds do their real work, and every other node returns
    its own id after 1 ms.

    `messages` are `{"name", "data", "at", "id", "key", "by", "keep"}`; an entry `messages` of the script sends messages, too. One
    without a key is for the run, one with a key for a run that answers to it, within `keep`.
    `signals` are what else happens: `{"at", "cancel": true}`, `{"at", "resume": instance, "handle", "answer"}`,
    `{"at", "hold": true or false}`, `{"at", "message": name, …}` as above, `{"at", "start": inputs, "key", "delay"}` for a
    further start, and `{"at", "rerun": node, instance, "failed" or null}` once the run has ended. What would be refused changes
    nothing.

    `key` and `delay` are those of the start. Times are milliseconds or durations like `90s`; instants count from 0
    (1970-01-01T00:00:00Z). `seed` draws retry jitter, which is otherwise 1. `env` has the values of `${NAME}`. `reload` discards
    the run after every decision and loads it again, from its log or from a snapshot, as another process would; the outcome must
    not change.

    Raises `DocumentRefused` with every finding, `InvalidRequest` for a script or signal that cannot be read, `NotFound` for a
    message that the document does not declare.
    """
    entries = [entry] if isinstance(entry, str) else entry
    script, sent = _without_messages(script or {}, document)
    plan = Script(script)
    graph = scripted(compile_document(document, KINDS, entries=entries), plan)
    cancelled = [{"at": cancel_at, "cancel": True}] if cancel_at is not None else []
    timed = read_signals([*signals, *as_signals([*sent, *messages]), *cancelled], graph)
    first = Start({} if inputs is None else inputs, None if key is None else checked_key(key), time_ms(delay))
    return _Runs(Setting(graph, plan, Random(seed) if seed is not None else None, env or {}, reload), first).play(timed)


def _without_messages(
    script: Mapping[str, Any], document: Mapping[str, JSON]
) -> tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]:
    """The script without its messages, and these. A node that is named `messages` keeps its entry."""
    sent, nodes = script.get(_MESSAGES), document.get("nodes")
    if not isinstance(sent, list) or (isinstance(nodes, Mapping) and _MESSAGES in nodes):
        return script, ()
    return {name: entry for name, entry in script.items() if name != _MESSAGES}, sent


class _Runs:
    """The runs of a scenario, of which the last one counts: `run`. They have one key, or none."""

    def __init__(self, setting: Setting, first: Start) -> None:
        self._setting = setting
        self._graph = setting.graph
        self._kept: list[tuple[int, Received]] = []  # with the instant until which each is kept
        self._undelivered: list[str] = []
        self._inputs = first.inputs
        self._key = self._key_of(first, 0)
        self.run = self._new(Begin(first.inputs), 0, first.delay_ms)

    def play(self, signals: Sequence[Timed]) -> Simulation:
        for at_ms, signal in signals:
            self.run.advance(at_ms)
            self._happen(signal, at_ms)
        self.run.advance()
        run = self.run
        return outcome(self._graph, run.state, run.events, run.unread, self._undelivered)

    def _happen(self, signal: Signal, at_ms: int) -> None:
        match signal:
            case Sent():
                self._send(signal, at_ms)
            case Start():
                self._start(signal, at_ms)
            case Rerun(origin):
                self._rerun(origin, at_ms)
            case _:
                self.run.tell(signal, at_ms)

    def _send(self, sent: Sent, at_ms: int) -> None:
        mail = sent.mail
        if mail.key is not None and sent.keeps_ms:
            self._kept.append((at_ms + sent.keeps_ms, mail))
        is_for_it = mail.key in (None, self._key) or self.run.answers_to(mail.key)
        is_kept = mail.key is not None and sent.keeps_ms > 0
        if not (is_for_it and self.run.receive(mail, at_ms)) and not is_kept:
            self._undelivered.append(mail.id)

    def _kept_for(self, key: str, now_ms: int) -> list[Received]:
        return [mail for until_ms, mail in self._kept if mail.key == key and until_ms > now_ms]

    def _start(self, start: Start, at_ms: int) -> None:
        former = self.run
        key = self._key_of(start, at_ms)
        if key is None or key != self._key:
            message, mend = "a further start has the key of the run", "give the first start the same `key`"
            raise InvalidRequest(message, code="invalid_signal", place="signals", mend=mend)
        begins_ms = at_ms + start.delay_ms
        if not former.state.ended:
            if self._graph.on_conflict is not OnConflict.REPLACE:
                return
            former.tell(CancelRequested(None, "replaced by a further start"), at_ms)
            former.advance()
            begins_ms = max(begins_ms, former.ended_ms or at_ms)
        self._inputs = start.inputs
        self.run = self._new(Begin(start.inputs), at_ms, begins_ms)

    def _rerun(self, origin: str | None, at_ms: int) -> None:
        former = self.run
        if not former.state.ended:
            message, mend = f"the run has not ended at {at_ms} ms", "rerun it later"
            raise InvalidRequest(message, code="invalid_signal", place="signals", mend=mend)
        begin = Begin(self._inputs)
        if origin is not None:
            target = None if origin == FAILED else checked_target(self._graph, origin)
            outcomes = Former(self._graph, RUN_ID, target)
            for event in former.events:
                outcomes.add(event)
            reused, kept = outcomes.outcomes()
            begin = begin._replace(reused=reused, kept=kept)
        self.run = self._new(begin, at_ms, at_ms)

    def _new(self, begin: Begin, at_ms: int, begins_ms: int) -> SimulatedRun:
        """A run that is created at an instant. What is kept for its key then is in its inbox."""
        run = SimulatedRun(self._setting, begin, begins_ms, self._kept_for)
        for mail in self._kept_for(self._key, at_ms) if self._key is not None else ():
            run.receive(mail, at_ms)
        return run

    def _key_of(self, start: Start, at_ms: int) -> str | None:
        if start.key is not None or self._graph.key is None:
            return start.key
        return key_of_start(self._graph, start.inputs, at_ms)


def outcome(
    graph: Graph, state: State, events: Sequence[Event], unread: Sequence[Mail] = (), undelivered: Sequence[str] = ()
) -> Simulation:
    """Returns the outcome of a run, from its log and the state that follows from it."""
    trace = Trace(graph, RUN_ID).extend(events)
    last = events[-1]
    cells = outgoing_cells(state.root, lambda expression, values: values[-1])
    return Simulation(
        status=state.status.value,
        outputs=outputs(state),
        variables={name: cell.value for name, cell in cells.items()},
        nodes=trace.nodes,
        events=[Envelope(envelope(graph, RUN_ID, event), at_ms=event.at_ms) for event in events],
        error=last.data.get("error") if last.type is EventType.RUN_FAILED else None,
        failures=state.failures,
        tags=trace.tags,
        log=events,
        graph=graph,
        unread=tuple(unread),
        undelivered=tuple(undelivered),
    )
