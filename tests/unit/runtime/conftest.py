"""A world whose clock the test moves: the real service, runner, queue, timers and store, and work that the test supplies."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from dynamo_table import DirectClient, Table

from stepless.adapters.aws.dynamo.store import DynamoStore
from stepless.adapters.memory.blobs import MemoryBlobs
from stepless.adapters.memory.clock import SettableClock
from stepless.adapters.memory.queue import MemoryQueue
from stepless.adapters.memory.secrets import MemorySecrets
from stepless.adapters.memory.store import MemoryStore
from stepless.adapters.memory.timers import MemoryTimers
from stepless.adapters.sqlite.blobs import SqliteBlobs
from stepless.adapters.sqlite.store import SqliteStore
from stepless.core.events import Event
from stepless.errors import StoreUnavailable
from stepless.limits import BUSY_DELAY_MS, LOCAL_SWEEP_MS
from stepless.model.work import Result
from stepless.ports import Call, Message
from stepless.runtime.access.tokens import Key, Signer
from stepless.runtime.hosting.sweep import sweep
from stepless.runtime.runlog import RunLog
from stepless.runtime.service import Service
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.runner import InvocationEnd, Runner
from stepless.runtime.verbs.reads.inspecting import RunView
from stepless.runtime.versions import Versions
from stepless.runtime.wiring.local import local

START_MS = 1_700_000_000_000
SETTLED_MS = 5_000  # more than a hint waits for a lease, less than a timer of a test
Behaviour = Callable[[Call], Awaitable[Any]]


class Died(Exception):
    """This process is gone."""


class Faults:
    """Wraps ports, numbers every call, and makes the chosen call fail: before it has an effect, or after it, which its caller
    cannot distinguish."""

    def __init__(self) -> None:
        self.calls = 0
        self.at = 0  # 0: never
        self.after = False
        self.error: Exception = Died()
        self.names: list[str] = []

    def before(self, port: Any) -> Any:
        return _Port(self, port)


class _Port:
    def __init__(self, faults: Faults, port: Any) -> None:
        self._faults, self._port = faults, port

    def __getattr__(self, name: str) -> Any:
        verb, faults = getattr(self._port, name), self._faults

        def call(*given: Any, **named: Any) -> Any:
            faults.calls += 1
            faults.names.append(name)
            breaks = faults.calls == faults.at
            if breaks and not faults.after:
                raise faults.error
            answer = verb(*given, **named)
            if breaks:
                raise faults.error
            return answer

        return call


class Machine:
    """One world, and one process at a time that works on it. `calls` counts the attempts that were begun, by instance."""

    def __init__(self, store: Any = None, blobs: Any = None) -> None:
        self.store = store or MemoryStore()
        self.clock = SettableClock(START_MS)
        self.queue, self.timers = MemoryQueue(self.clock), MemoryTimers()
        self.faults = Faults()
        self.swept_ms = 0
        self.behaviours: dict[str, Behaviour] = {}
        self.calls: Counter[str] = Counter()
        self.blobs = blobs or MemoryBlobs()
        base = local(None).world
        self.world = replace(
            base, store=self.store, queue=self.queue, timers=self.timers, blobs=self.blobs, clock=self.clock,
            secrets=MemorySecrets({"HOOK": "hook-secret", "KEY": "a-secret-key"}),
            versions=Versions(self.store, base.kinds, self.blobs), kind_code={**base.kind_code, "function": self._work},
        )  # fmt: skip
        self.service = Service(self.world, Signer([Key("k1", b"one")]))
        self.runner = self.process()

    def process(self) -> Runner:
        """Another process over the same world; its calls of store, queue and timers may fail."""
        before = self.faults.before
        world = replace(self.world, store=before(self.store), queue=before(self.queue), timers=before(self.timers))
        return Runner(replace(world, versions=Versions(world.store, world.kinds, self.blobs)))

    def dying_service(self, at: int, after: bool) -> Service:
        """The verbs in a process of their own that dies at its `at`-th call of the store, the queue or the timers."""
        faults = Faults()
        faults.at, faults.after = at, after
        before = faults.before
        world = replace(self.world, store=before(self.store), queue=before(self.queue), timers=before(self.timers))
        return Service(replace(world, versions=Versions(world.store, world.kinds, self.blobs)), self.service.signer)

    async def _work(self, call: Call) -> Result:
        assert self.started(call.run_id, call.instance, call.attempt), "work began before its start was committed"
        self.calls[call.instance] += 1
        behaviour = self.behaviours.get(call.node)
        return Result(await behaviour(call) if behaviour is not None else call.node)

    # -- what happened ----------------------------------------------------------------------------------------------

    def log(self, run_id: str) -> list[Event]:
        return list(RunLog(self.store, self.world.blobs, run_id).read())

    def types(self, run_id: str) -> list[str]:
        return [f"{event.type.value} {event.instance}".strip() for event in self.log(run_id)]

    def completions(self, run_id: str) -> Counter[str]:
        """How often each instance completed."""
        return Counter(event.instance for event in self.log(run_id) if event.type == "node.completed")

    def started(self, run_id: str, instance: str, attempt: int) -> bool:
        return any(e.type == "node.started" and e.instance == instance and e.data.get("attempt", 1) == attempt
                   for e in self.log(run_id))  # fmt: skip

    def view(self, run_id: str) -> RunView:
        return self.service.run(run_id)

    # -- what happens next ------------------------------------------------------------------------------------------

    def start(self, nodes: Mapping[str, Any], inputs: Any = None, **top: Any) -> str:
        self.service.publish({"id": "small", **top, "nodes": nodes})
        return self.service.start("small", {} if inputs is None else inputs).run_id

    def settle(self) -> None:
        """Does everything that happens within SETTLED_MS."""
        while (at_ms := self.queue.next_ms()) is not None and at_ms <= self.clock.now_ms() + SETTLED_MS:
            self.step()

    def invoke(self, message: Message, budget: Budget | None = None) -> InvocationEnd:
        return asyncio.run(self.runner.run(message, budget or Budget(60_000)))

    def stop_during(self, node: str, run_id: str) -> InvocationEnd:
        """Starts the run and asks its session to stop while an attempt of the node works; the attempt ends afterwards."""

        async def scene() -> InvocationEnd:
            begun, release = asyncio.Event(), asyncio.Event()

            async def held(call: Call) -> str:
                begun.set()
                await release.wait()
                return "done"

            self.behaviours[node] = held
            running = asyncio.create_task(self.runner.run(Message(run_id, "start"), Budget(60_000)))
            await begun.wait()
            self.runner.sessions[run_id].stop()
            release.set()
            return await running

        return asyncio.run(scene())

    def step(self, budget: Budget | None = None) -> bool:
        """Moves the clock to the next thing that happens, and does it; False if nothing will happen any more."""
        now_ms = self.clock.now_ms()
        for run_id in self.timers.due(now_ms):
            self.queue.send(Message(run_id, "timer"))
        message = self.queue.receive(now_ms)
        if message is None:
            return self._move_on()
        try:
            self.invoke(message, budget)
        except StoreUnavailable:
            self.queue.send(message, BUSY_DELAY_MS)
        return True

    def _move_on(self) -> bool:
        due = self.store.list_due(2**62, limit=1)
        sweep_ms = max(due[0].due_ms or 0, self.swept_ms + LOCAL_SWEEP_MS) if due else None
        upcoming = [instant for instant in (self.queue.next_ms(), self.timers.next_ms(), sweep_ms) if instant is not None]
        if not upcoming:
            return False
        self.clock.set(max(self.clock.now_ms(), min(upcoming)))
        if sweep_ms is not None and self.clock.now_ms() >= sweep_ms:
            self.swept_ms = self.clock.now_ms()
            sweep(self.world)
        return True

    def drain(self, budget: Callable[[], Budget] | None = None, steps: int = 2_000) -> None:
        """Runs until nothing more happens without input from the test."""
        for _ in range(steps):
            if not self.step(budget() if budget is not None else None):
                return
        raise AssertionError(f"it never becomes idle: {self.runner}")


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def make_machine() -> type[Machine]:
    return Machine


@pytest.fixture
def node() -> Callable[..., dict[str, Any]]:
    def made(after: Any = None, **more: Any) -> dict[str, Any]:
        return {"type": "function", "with": {"call": "test.echo"}, **({"after": after} if after else {}), **more}

    return made


@pytest.fixture
def wide(node: Callable[..., dict[str, Any]]) -> Callable[[int], dict[str, Any]]:
    """Nodes that together produce more than one batch can hold, all at once."""

    def made(width: int) -> dict[str, Any]:
        noise = [Random(i).randbytes(12_500).hex() for i in range(width)]  # nothing compresses it
        values = {f"t{i}": {"type": "transform", "after": "s", "with": {"value": text}} for i, text in enumerate(noise)}
        return {"s": node(), **values, "z": node(list(values))}

    return made


@pytest.fixture(params=["memory", "sqlite", "dynamo"])
def stored_machine(request: pytest.FixtureRequest, make_machine: Any, tmp_path: Path) -> Any:
    """A machine over each of the three stores."""
    match request.param:
        case "sqlite":
            store = SqliteStore(tmp_path / "runs.db")
            request.addfinalizer(store.close)
            return make_machine(store, SqliteBlobs(store.database))
        case "dynamo":
            return make_machine(DynamoStore(DirectClient(Table()), "table", shards=3))
    return make_machine()
