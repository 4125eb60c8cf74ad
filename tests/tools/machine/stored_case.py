"""Plays a conformance case through the service, the runner and a store, on a virtual clock.

The process that serves runs is an actor of `virtual_time`, and what comes from outside another one, a quarter of a millisecond
early: as in `simulate`, signals come first at every instant. Work follows the script of the case, whatever its kind.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from virtual_time import Actor, Schedule, VirtualLoop, passing

from stepless.adapters.memory.queue import MemoryQueue
from stepless.adapters.memory.secrets import MemorySecrets
from stepless.adapters.memory.timers import MemoryTimers
from stepless.core.facts import Answered, CancelRequested, Completed, HoldChanged, Suspended
from stepless.core.fold import fold
from stepless.core.state import State
from stepless.errors import SteplessError
from stepless.model.graph import Body, Graph, Node
from stepless.model.kind import Pause
from stepless.model.runs.statuses import ENDED
from stepless.model.work import NodeFailure, Result
from stepless.nodes import KINDS, KindCode
from stepless.ports import Blobs, Call, Store
from stepless.runtime.access.tokens import Key, Signer
from stepless.runtime.hosting.host import Host
from stepless.runtime.runlog import RunLog
from stepless.runtime.service import Service
from stepless.runtime.session.runner import Runner
from stepless.runtime.versions import Versions
from stepless.runtime.world import World
from stepless.testing.script import Script, scripted
from stepless.testing.signals import Rerun, Sent, Signal, Start, as_signals, read_signals
from stepless.testing.simulation import Simulation, outcome

EPOCH_MS: Final = 1_700_000_000_000  # instant 0 of a case
BUDGET_MS: Final = 60_000
EARLY_MS: Final = 0.25
REFUSALS: Final = frozenset({"run_ended", "no_receiver", "message_conflict", "mailbox_full", "key_taken", "already_decided"})


class CaseClock:
    """Shows the time of the schedule. What happens a little early happens at the millisecond that follows."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule

    def now_ms(self) -> int:
        return EPOCH_MS + int(self._schedule.now_ms + 2 * EARLY_MS)


class ScriptedVersions(Versions):
    """Versions whose nodes follow the script."""

    def __init__(self, store: Store, blobs: Blobs, script: Script) -> None:
        super().__init__(store, KINDS, blobs)
        self._script = script

    def graph(self, workflow_id: str, version: str, entries: Sequence[str] | None = None) -> Graph:
        return scripted(super().graph(workflow_id, version, entries), self._script)


class ScriptedWork(dict[str, KindCode]):
    """The code of every kind: what the script says."""

    def __init__(self, script: Script, document: Mapping[str, Any]) -> None:
        super().__init__()
        self._script = script
        self._nodes: dict[str, Node] = {}
        self._document = document

    def __missing__(self, kind: str) -> KindCode:
        return self._work

    def __contains__(self, kind: object) -> bool:
        return True

    def learn(self, graph: Graph) -> None:
        self._nodes = {node.id: node for node in _nodes(graph.root)}

    async def _work(self, call: Call) -> Result | Pause:
        step = self._script.step(call.instance, self._nodes[call.node], call.attempt, 1.0)
        await passing(step.after_ms)
        match step.fact:
            case Completed(outcome=done):
                return Result(done.value, done.handle, done.variables)
            case Suspended(pause=pause):
                return pause
            case fact:
                failure = fact.failure
                raise NodeFailure(failure.cause, failure.code, failure.message, retry_after_ms=failure.retry_after_ms)


def _nodes(body: Body) -> Iterator[Node]:
    for node in body.nodes:
        yield node
        if node.container is not None:
            yield from _nodes(node.container.body)


class StoredCase:
    """One case over one store. `play` returns what became of its last run."""

    def __init__(self, case: Mapping[str, Any], store: Store, blobs: Blobs, env: Mapping[str, str] | None = None) -> None:
        self.schedule = Schedule()
        clock = CaseClock(self.schedule)
        self.queue, self.timers = MemoryQueue(clock), MemoryTimers()
        script = dict(case.get("script", {}))
        messages = script.pop("messages", ())
        plan = Script(script)
        self._document, self._inputs, self._entry = case["document"], case.get("inputs"), case.get("entry")
        self._work = ScriptedWork(plan, self._document)
        versions = ScriptedVersions(store, blobs, plan)
        self.world = World(
            store, self.queue, self.timers, blobs, clock, MemorySecrets(dict(env or {})), KINDS, versions, self._work
        )  # fmt: skip
        self.service = Service(self.world, Signer([Key("k1", b"one")]))
        self._given = [*case.get("signals", ()), *as_signals(messages)]
        self.runs: list[str] = []
        self._runner: Runner | None = None
        self._told = False
        self._undelivered: list[str] = []

    def play(self) -> Simulation:
        """Raises what `publish` raises."""
        version = self.service.publish(self._document).version
        graph = self.world.versions.graph(version.workflow_id, version.hash, self._entries())
        self._work.learn(graph)
        signals = read_signals(self._given, graph)
        self._start(Start({} if self._inputs is None else self._inputs))
        self.schedule.spawn("person", lambda actor: self._tell(actor, signals))
        self.schedule.spawn("host", self._serve)
        self.schedule.run(self._over)
        return self._outcome(graph)

    def _entries(self) -> list[str] | None:
        return [self._entry] if isinstance(self._entry, str) else self._entry

    # -- the process --------------------------------------------------------------------------------------------------

    def _serve(self, actor: Actor) -> None:
        self._runner = Runner(self.world)
        host = Host(self.world, self._runner, self.queue, self.timers, budget_ms=BUDGET_MS)
        loop = VirtualLoop(actor)
        asyncio.set_event_loop(loop)
        try:
            loop.run_until_complete(host.serve())
        finally:
            loop.close()

    def _over(self) -> bool:
        """Whether nothing will happen any more."""
        if not self._told or self._runner is None or self._runner.sessions:
            return False
        if self.queue.next_ms() is not None or self.timers.next_ms() is not None:
            return False
        heads = [self.world.store.get_run(run_id) for run_id in self.runs]
        return all(head is not None and (head.status in ENDED or head.due_ms is None) for head in heads)

    # -- what comes from outside --------------------------------------------------------------------------------------

    def _tell(self, actor: Actor, signals: Sequence[tuple[int, Signal]]) -> None:
        for at_ms, signal in signals:
            wait_ms = at_ms - EARLY_MS - self.schedule.now_ms
            if wait_ms > 0:
                actor.pause(wait_ms)
            try:
                self._happen(signal)
            except SteplessError as error:
                if error.code not in REFUSALS:
                    raise
                if isinstance(signal, Sent):
                    self._undelivered.append(signal.mail.id)
        self._told = True

    def _happen(self, signal: Signal) -> None:
        run_id, service = self.runs[-1], self.service
        match signal:
            case Sent(mail, keeps_ms) if mail.key is not None:
                service.send(self._document["id"], mail.name, mail.data, key=mail.key, id=mail.id, by=mail.by, keep_ms=keeps_ms)
            case Sent(mail, _):
                service.send_to_run(run_id, mail.name, mail.data, id=mail.id, by=mail.by)
            case Start():
                self._start(signal)
            case Rerun(origin):
                self.runs.append(service.rerun(run_id, node=origin).run_id)
            case CancelRequested():
                service.cancel(run_id)
            case HoldChanged(held=True):
                service.hold(run_id)
            case HoldChanged():
                service.release(run_id)
            case Answered(instance, handle, answer):
                service.answer_pause(run_id, instance, handle or None, answer)

    def _start(self, start: Start) -> None:
        begins_ms = self.world.clock.now_ms() + start.delay_ms if start.delay_ms else None
        started = self.service.start(
            self._document["id"], start.inputs, run_key=start.key, begins_ms=begins_ms, entry=self._entries()
        )  # fmt: skip
        if not started.joined:
            self.runs.append(started.run_id)

    # -- what came out ------------------------------------------------------------------------------------------------

    def _outcome(self, graph: Graph) -> Simulation:
        log = RunLog(self.world.store, self.world.blobs, self.runs[-1])
        events = [replace(event, at_ms=event.at_ms - EPOCH_MS) for event in log.read()]
        state = State(graph, self.runs[-1])
        for event in events:
            fold(state, event)
        return outcome(graph, state, events, self.service.run(self.runs[-1]).unread, self._undelivered)
