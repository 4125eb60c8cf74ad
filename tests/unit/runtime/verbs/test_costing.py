"""Bills of runs: where requests are not counted, from the log."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from stepless.adapters.aws.dynamo.headers import item_of
from stepless.adapters.memory.queue import MemoryQueue
from stepless.errors import NotFound
from stepless.model.runs.tally import Tally, decode_tally, encode_tally
from stepless.model.work import NodeFailure
from stepless.nodes.function import FunctionCall, function
from stepless.ports import RECEIVER, Lease, RunHead
from stepless.runtime.billing import estimating
from stepless.runtime.session.budget import Budget
from stepless.runtime.wiring.local import Local, local

Bill = Mapping[str, Any]
NOON_MS = 1_800_000_000_000


@function("costing.second_time_lucky")
def second_time_lucky(call: FunctionCall) -> str:
    if call.attempt == 1:
        raise NodeFailure("provider_error", "provider_error", "not yet")
    return "done"


@pytest.fixture
def engine() -> Local:
    return local(None)


@pytest.fixture
def ran(engine: Local) -> Callable[..., Bill]:
    """A run of these nodes to its end, and its bill."""

    def run(nodes: Mapping[str, Any], answers: str | None = None, inputs: Any = None) -> Bill:
        engine.service.publish({"id": "billed", "nodes": {"start": {"type": "manual"}, **nodes}})
        run_id = engine.service.start("billed", inputs or {}).run_id
        work(engine)
        if answers:
            engine.service.answer_pause(run_id, answers, "approved", {}, "ada")
            work(engine)
        assert engine.service.run(run_id).status == "completed"
        return engine.service.cost(run_id)

    return run


def work(engine: Local) -> None:
    queue: Any = engine.world.queue
    assert isinstance(queue, MemoryQueue)
    while (message := queue.receive(2**62)) is not None:
        asyncio.run(engine.runner.run(message, Budget(60_000)))


def counts(sheet: Bill) -> dict[str, float]:
    return {line["what"]: line["count"] for line in sheet["lines"]}


def test_a_run_that_nobody_counted_is_estimated_and_says_so(ran: Callable[..., Bill]) -> None:
    bill = ran({"a": {"type": "transform", "after": "start", "with": {"value": "<start>"}}})
    assert bill["basis"] == "estimated from the log" and "Nothing was billed" in bill["notes"][0]
    assert counts(bill)["DynamoDB write units"] == 3 + 1 + 3  # create with the lease, one batch, the end
    assert counts(bill)["SQS requests"] == 3
    assert bill["usd_per_million_runs"] == pytest.approx(sum(line["usd_per_million_runs"] for line in bill["lines"]), abs=0.01)


def test_what_a_run_spent_is_billed_as_it_was_counted(engine: Local) -> None:
    engine.service.publish({"id": "billed", "nodes": {"start": {"type": "manual"}}})
    run_id = engine.service.start("billed", {}).run_id
    granted = Lease(run_id, RECEIVER, 1, 2)
    engine.world.store.update_run(granted, 1, release=True, spent=encode_tally(Tally(write_units=7, queue_requests=2)))
    bill = engine.service.cost(run_id)
    assert (bill["basis"], counts(bill)) == ("counted", {"DynamoDB write units": 7, "SQS requests": 2})


@pytest.mark.parametrize(("exported", "events"), [("", 0), ("otel9", 0), ("bus0/3", 0), ("bus1", 1), ("bus99 otel2", 2)])
def test_events_that_the_bus_has_accepted_are_billed(engine: Local, exported: str, events: int) -> None:
    """run.started is the first event of the log, run.completed the last one."""
    engine.service.publish({"id": "billed", "nodes": {"start": {"type": "manual"}}})
    run_id = engine.service.start("billed", {}).run_id
    work(engine)
    lease = engine.world.store.take_lease(run_id, "test", 2**40, 2**40 + 1)
    assert isinstance(lease, Lease)
    engine.world.store.update_run(lease, 2**40, release=True, exported=exported)
    bill = engine.service.cost(run_id)
    assert counts(bill).get("EventBridge events", 0) == events
    billed = [line["usd_per_million_runs"] for line in bill["lines"] if line["what"] == "EventBridge events"]
    assert billed == ([events] if events else [])


def test_an_answer_costs_a_touch_a_signal_and_two_more_invocations(ran: Callable[..., Bill]) -> None:
    ask = {"type": "approval", "after": "start", "with": {"message": "Go on?", "timeout": "2d"}}
    bill = counts(ran({"ask": ask}, "ask"))
    assert (bill["HTTP API requests"], bill["Lambda requests"]) == (2, 4)
    assert bill["Scheduler schedules"] == 1


def test_others_are_asked_for_each_attempt_and_each_wait(ran: Callable[..., Bill]) -> None:
    work = {"type": "function", "after": "start", "with": {"call": "costing.second_time_lucky"}}
    work["retry"] = {"attempts": 2, "backoff_ms": 1}
    ask = {"type": "approval", "after": "a", "with": {"message": "Go on?"}}
    pure = {"type": "transform", "after": "ask.approved", "with": {"value": 1}}
    bill = ran({"a": work, "ask": ask, "b": pure}, "ask")
    transitions, durable = bill["beside"]
    assert counts(transitions) == {"state transitions": 1 + 2 + 1 + 1}
    assert counts(durable)["durable operations"] == 1 + 2 + 1
    assert durable["times"] == round(durable["usd_per_run"] / bill["usd_per_run"], 2)


def test_large_inputs_are_written_once_beside_the_header(ran: Callable[..., Bill]) -> None:
    small = counts(ran({}))["DynamoDB write units"]
    text = "".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(20_000))  # packs badly
    assert 20 < counts(ran({}, inputs={"text": text}))["DynamoDB write units"] - small < 70


def test_an_output_too_large_for_the_log_is_a_blob(ran: Callable[..., Bill]) -> None:
    large = {"type": "transform", "after": "start", "with": {"value": "<start.text>"}}
    bill = counts(ran({"a": large}, inputs={"text": "long " * 10_000}))
    assert bill["S3 writes"] >= 1


@pytest.mark.parametrize("inputs", [b"{}", b'{"order":"o-1"}' * 30, b"x" * 5_000])
def test_a_header_is_taken_for_as_large_as_it_is(inputs: bytes) -> None:
    head = RunHead(
        f"run_{'a' * 20}", "refund-approval", "f" * 64, "running", NOON_MS, NOON_MS, inputs, b'{"tags":["a"]}',
        due_ms=NOON_MS, owner="b" * 16, lease_until_ms=NOON_MS, spent=b"[25,11,23,9,1,0,0,2,5,79,40448]",
    )  # fmt: skip
    kept = {"z": zlib.compress(inputs)} if len(inputs) > 512 else {"i": inputs}
    item = item_of(head, kept, "3", b"n" * 9)
    size = sum(len(name) + (8 if isinstance(value, int) else len(value)) for name, value in item.items())
    assert abs(size - estimating.head_bytes(head)) < 60


def test_leaving_costs_by_how_the_run_is_left() -> None:
    head = RunHead("r", "wf", "h", "created", 1, 1, b"{}")
    ended = estimating.leaving(head, "completed", None, 100)
    parked = estimating.leaving(head, "paused", 200, 100)
    again = estimating.leaving(RunHead("r", "wf", "h", "paused", 1, 1, b"{}"), "paused", None, 100)
    handed = estimating.leaving(head, "running", 100, 100)
    first, later = (estimating.leaving(head, status, 100, 100, passed_on=True) for status in ("running", "created"))
    assert [(tally.write_units, tally.index_units, tally.queue_requests) for tally in (first, later)] == [(2, 1, 1), (1, 0, 1)]
    assert [tally.write_units for tally in (ended, parked, again, handed)] == [3, 3, 2, 3]
    assert [tally.index_units for tally in (ended, parked, again, handed)] == [2, 2, 1, 2]
    assert [tally.queue_requests for tally in (ended, parked, handed)] == [0, 0, 1]


def test_a_run_that_does_not_exist_has_no_bill(engine: Local) -> None:
    with pytest.raises(NotFound):
        engine.service.cost("run_none")


def test_nothing_is_kept_where_nobody_counts(engine: Local, ran: Callable[..., Bill]) -> None:
    head = engine.world.store.get_run(ran({})["run_id"])
    assert head is not None and decode_tally(head.spent) == Tally() and head.spent == b""
