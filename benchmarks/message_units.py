"""Counts the units of the table that keys and messages take, beside a question that is answered.

`python -m benchmarks.cost` prints them with the bills. A run with a message writes what a run with an answered question writes,
the mark of the message that is taken, and what its key takes. In `entity`, one run takes messages that come BURST at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from benchmarks.sample import Sample
from benchmarks.talking import entity
from benchmarks.workloads import Document
from stepless.adapters.aws.capacity import CapacityMeter

if TYPE_CHECKING:
    from benchmarks.cost import Account

CASE = "message units"
ASKED, DIRECTED, BY_KEY, FURTHER, ENTITY = "answer", "message to a run", "message by key", "message by further key", "entity"
MOST_UNITS = {ASKED: 13, DIRECTED: 14, BY_KEY: 16, FURTHER: 16, ENTITY: 4}
BURST, MESSAGES = 10, 100


def flows() -> dict[str, Document]:
    """One run of each waits once, and ends with what it got."""
    start: Document = {"start": {"type": "manual"}}
    ask: Document = {"type": "approval", "after": "start", "with": {"message": "Go on?"}}
    got: Document = {"type": "receive", "after": "start", "with": {"message": "paid"}}
    further: Document = {**got, "with": {"message": "paid", "key": "<input.order>"}}
    paid: Document = {"messages": {"paid": {}}}
    return {
        ASKED: {"id": "asked", "nodes": start | {"ask": ask}},
        DIRECTED: {"id": "directed", **paid, "nodes": start | {"got": got}},
        BY_KEY: {"id": "keyed", "key": "<input.order>", **paid, "nodes": start | {"got": got}},
        FURTHER: {"id": "further", **paid, "nodes": start | {"got": further}},
    }


def measured(there: Account) -> Iterator[Sample]:
    """The units of each flow, after a run that is not counted, and those of a message of an entity."""
    for name, document in flows().items():
        there.service.publish(document)
        _talk(there, name, document["id"], "o-1")
        yield _sample(there, name, 1, lambda name=name, workflow=document["id"]: _talk(there, name, workflow, "o-2"))  # type: ignore[misc]
    turns = MESSAGES + BURST
    there.service.publish({**entity(turns), "id": "entity"})
    run_id = there.ask(lambda: there.service.start("entity", {})).run_id
    there.work()
    _burst(there, run_id)
    yield _sample(there, ENTITY, MESSAGES, lambda: [_burst(there, run_id) for _ in range(MESSAGES // BURST)])
    if there.service.run(run_id).status != "completed":
        raise RuntimeError("the entity did not get all messages")


def _sample(there: Account, name: str, units: int, act: Callable[[], object]) -> Sample:
    meter = CapacityMeter()
    meter.watch(there.dynamo)
    act()
    used = meter.take().tally
    meter.unwatch(there.dynamo)
    facts = {"write_units": used.write_units / units, "read_units": used.read_units / units}
    return Sample(CASE, name, units, units, facts=facts)


def _talk(there: Account, name: str, workflow: str, order: str) -> None:
    """A run from its start to its end."""
    run_id = there.ask(lambda: there.service.start(workflow, {"order": order})).run_id
    there.work()
    if name == ASKED:
        there.ask(lambda: there.service.answer_pause(run_id, "ask", "approved", {}, "ada"))
    elif name == DIRECTED:
        there.ask(lambda: there.service.send_to_run(run_id, "paid", {"amount": 12}))
    else:
        there.ask(lambda: there.service.send(workflow, "paid", {"amount": 12}, key=order))
    there.work()
    if (status := there.service.run(run_id).status) != "completed":
        raise RuntimeError(f"{workflow} is {status}")


def _burst(there: Account, run_id: str) -> None:
    for number in range(BURST):
        there.ask(lambda number=number: there.service.send_to_run(run_id, "tick", {"number": number}))  # type: ignore[misc]
    there.work()
