"""What runs cost, as DynamoDB bills them: the targets of the design, counted over the real engine."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from stepless.adapters.aws.capacity import CapacityMeter
from stepless.adapters.aws.dynamo.store import DynamoStore
from stepless.adapters.memory.blobs import MemoryBlobs
from stepless.adapters.memory.queue import MemoryQueue
from stepless.adapters.memory.secrets import MemorySecrets
from stepless.core.events import Event
from stepless.model.graph import Graph
from stepless.model.runs.span import Measure, Span
from stepless.nodes.function import function
from stepless.ports import OpenStore, RunHead
from stepless.runtime.exporting.exporter import ExportedRun
from stepless.runtime.exporting.relay import Relay
from stepless.runtime.exporting.telemetry import TelemetryExporter
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.runner import Runner
from stepless.runtime.wiring.exporting import log_reader
from stepless.runtime.wiring.local import Local, assemble

CHANCE = random.Random(1)
COUNTED_MS = 60_000


@function("capacity.half_a_kilobyte")
def half_a_kilobyte() -> str:
    return "".join(CHANCE.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=500))


WORK = {"type": "function", "with": {"call": "capacity.half_a_kilobyte"}}
CHAIN = {
    "id": "chain",
    "nodes": {"n0": {"type": "manual"}} | {f"n{i}": {**WORK, "after": f"n{i - 1}"} for i in range(1, 11)},
}
FAN_OUT = {
    "id": "fan-out",
    "nodes": {"start": {"type": "manual"}}
    | {f"w{i}": {**WORK, "after": "start"} for i in range(50)}
    | {"all": {"type": "join", "after": [f"w{i}" for i in range(50)]}},
}
APPROVAL = {
    "id": "approval",
    "nodes": {
        "start": {"type": "manual"},
        "ask": {"type": "approval", "after": "start", "with": {"message": "Go on?"}},
        "pay": {**WORK, "after": "ask.approved"},
    },
}


@pytest.fixture
def engine(dynamo: Any, table: str, meter: CapacityMeter) -> Local:
    engine = assemble(OpenStore(DynamoStore(dynamo, table), MemoryBlobs()), COUNTED_MS, MemorySecrets())
    for document in (CHAIN, FAN_OUT, APPROVAL):
        engine.service.publish(document)
        drive(engine, engine.service.start(document["id"], {"warm": True}).run_id)
    return engine


def drive(engine: Local, run_id: str, runner: Runner | None = None) -> None:
    """Runs until no message is left."""
    queue: Any = engine.world.queue
    assert isinstance(queue, MemoryQueue)
    while (message := queue.receive(2**62)) is not None:
        asyncio.run((runner or engine.runner).run(message, Budget(COUNTED_MS)))


@pytest.mark.parametrize(("workflow", "most"), [("chain", 18), ("fan-out", 45)])
def test_a_run_stays_below_its_write_units(engine: Local, meter: CapacityMeter, workflow: str, most: int) -> None:
    meter.take()
    run_id = engine.service.start(workflow, {"order": "o-1", "amount": 12}).run_id
    drive(engine, run_id)
    used = meter.take()
    assert engine.service.run(run_id).status == "completed"
    assert 12 < used.tally.write_units <= most, used


class Receiver:
    """A system outside that receives every event."""

    at_once = 100

    def __init__(self, name: str) -> None:
        self.name = name
        self.received = 0

    def concerns(self, graph: Graph) -> bool:
        return True

    def selects(self, event: Event) -> bool:
        return True

    def opened(self, run: ExportedRun) -> None:
        return

    async def export(self, run: ExportedRun, events: Sequence[Event]) -> int:
        self.received += len(events)
        return events[-1].sequence


class Traces:
    """The port `Telemetry`, which accepts everything."""

    async def send_spans(self, spans: Sequence[Span]) -> None:
        return

    async def send_measures(self, measures: Sequence[Measure]) -> None:
        return


@pytest.mark.parametrize("workflow", ["chain", "approval"])
def test_exporting_costs_no_unit(engine: Local, meter: CapacityMeter, workflow: str) -> None:
    exporters = [Receiver("bus"), Receiver("hook")]
    telemetry = TelemetryExporter(Traces(), log_reader(engine.world.store, engine.world.blobs))
    worlds = [engine.world, replace(engine.world, relay=Relay([*exporters, telemetry], engine.world.meter), traces=True)]
    costs = []
    for world in worlds:
        runner = Runner(world)
        meter.take()
        run_id = engine.service.start(workflow, {"order": "o-1", "amount": 12}).run_id
        drive(engine, run_id, runner)
        if workflow == "approval":
            engine.service.answer_pause(run_id, "ask", "approved", {}, "ada")
            drive(engine, run_id, runner)
        costs.append(meter.take())
        assert engine.service.run(run_id).status == "completed"
    assert (costs[0].tally.write_units, costs[0].tally.read_units, costs[0].requests) == (
        costs[1].tally.write_units, costs[1].tally.read_units, costs[1].requests,
    )  # fmt: skip
    assert {exporter.received for exporter in exporters} == {engine.world.store.get_run(run_id).sequence}  # type: ignore[union-attr]


def test_an_approval_with_its_pause_stays_below_its_write_units(engine: Local, meter: CapacityMeter) -> None:
    meter.take()
    run_id = engine.service.start("approval", {"order": "o-1"}).run_id
    drive(engine, run_id)
    assert engine.service.run(run_id).status == "paused"
    engine.service.answer_pause(run_id, "ask", "approved", {}, "ada")
    drive(engine, run_id)
    used = meter.take()
    assert engine.service.run(run_id).status == "completed"
    assert 12 < used.tally.write_units <= 20, used


def test_what_is_counted(dynamo: Any, table: str, meter: CapacityMeter) -> None:
    store = DynamoStore(dynamo, table)
    run = RunHead("r", "wf", "h", "created", 1, 1, b"{}", due_ms=10)
    store.create_run(run)
    meter.take()
    store.create_run(RunHead("r2", "wf", "h", "created", 1, 1, b"{}", due_ms=10))
    created = meter.take()
    assert (created.tally.write_units, created.tally.index_units, created.requests) == (3, 2, {"dynamodb.PutItem": 1})
    store.create_run(run)
    assert meter.take().tally.write_units == 1  # refused, and billed
    lease = store.take_lease("r", "me", 2, 30_000)
    assert lease
    store.update_run(lease, 3, until_ms=60_000)
    assert (meter.take().tally.write_units, store.get_run("r").due_ms) == (2, 60_000)  # type: ignore[union-attr]
    store.get_run("r")
    read = meter.take()
    assert (read.tally.write_units, read.tally.read_units) == (0, 2)


def test_a_run_that_nobody_needs_to_look_at_costs_one_unit_to_forget_and_one_to_find_again(
    dynamo: Any, table: str, meter: CapacityMeter
) -> None:
    store = DynamoStore(dynamo, table)
    store.create_run(RunHead("r", "wf", "h", "created", 1, 1, b"{}", due_ms=10))

    def units() -> tuple[float, float]:
        used = meter.take().tally
        return used.write_units, used.index_units

    def parked(status: str, until_ms: int) -> None:
        lease = store.take_lease("r", "me", 2, until_ms)
        assert lease
        meter.take()
        store.update_run(lease, 3, status=status, release=True)

    parked("paused", 100)
    assert units() == (2, 1)
    store.touch_run("r", 50)
    assert units() == (2, 1)
    parked("paused", 100)
    meter.take()
    assert store.take_lease("r", "me", 4, 100)  # by a hint that nobody announced: not refused first, nor left out of the index
    assert units() == (2, 1)
    assert [run.run_id for run in store.list_due(100)] == ["r"]
    parked("completed", 200)
    assert units() == (3, 2)


def test_large_inputs_are_paid_for_once(dynamo: Any, table: str, meter: CapacityMeter) -> None:
    store, inputs = DynamoStore(dynamo, table), CHANCE.randbytes(200_000)
    run = RunHead("r", "wf", "h", "created", 1, 1, inputs, due_ms=10)
    store.create_run(run)
    assert 190 < meter.take().tally.write_units < 210
    lease = store.take_lease("r", "me", 2, 30_000)
    assert lease
    assert meter.take().tally.write_units == 1
    assert store.get_run("r").inputs == inputs  # type: ignore[union-attr]
