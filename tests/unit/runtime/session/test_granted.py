"""A lease that was granted to the receiver of a hint: one of several receivers wins, and the others leave no trace."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from stepless.limits import FRESH_HEAD_MS, LEASE_MARGIN_MS, LEASE_MS
from stepless.ports import RECEIVER, Message
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.invocation_end import InvocationEnd

Node = Callable[..., dict[str, Any]]
ASK = {"type": "approval", "with": {"message": "Go on?", "timeout": "7d"}}


def paused(machine: Any, node: Node) -> str:
    run_id: str = machine.start({"ask": ASK, "pay": node("ask.approved")})
    machine.invoke(Message(run_id, "start"))
    while machine.queue.receive(machine.clock.now_ms()) is not None:
        pass
    machine.clock.advance(3_600_000)
    return run_id


def race(machine: Any, node: Node, message: Message, receivers: int = 4) -> list[InvocationEnd]:
    """Several processes receive the same hint at the same instant, and their nodes take a while."""

    async def slow(call: Any) -> str:
        await asyncio.sleep(0)
        return "done"

    machine.behaviours["pay"] = machine.behaviours["a"] = slow

    async def scene() -> list[InvocationEnd]:
        runs = (machine.process().run(message, Budget(60_000)) for _ in range(receivers))
        return list(await asyncio.gather(*runs))

    return asyncio.run(scene())


def test_of_the_receivers_of_a_start_one_runs_the_run(machine: Any, node: Node) -> None:
    run_id = machine.start({"a": node()})
    ends = race(machine, node, Message(run_id, "start"))
    assert ends.count(InvocationEnd.ENDED) == 1
    assert set(ends) <= {InvocationEnd.ENDED, InvocationEnd.FENCED, InvocationEnd.GONE}
    assert machine.calls == {"a": 1}
    machine.drain()
    assert machine.view(run_id).status == "completed"


def test_a_header_is_not_read_again_only_by_the_first_receiver_of_a_start_soon_after(machine: Any, node: Node) -> None:
    def reads(reason: str, later_ms: int = 0, times: int = 1) -> int:
        run_id = machine.start({"a": node()})
        machine.clock.advance(later_ms)
        before = machine.faults.names.count("get_run")
        for _ in range(times):
            machine.invoke(Message(run_id, reason))
        return int(machine.faults.names.count("get_run") - before)

    assert [reads("start"), reads("start", FRESH_HEAD_MS), reads("sweep"), reads("start", times=2)] == [0, 1, 1, 1]


def test_a_start_received_after_another_process_has_ended_the_run_changes_nothing(machine: Any, node: Node) -> None:
    run_id = machine.start({"a": node()})
    head = machine.world.fresh[run_id]
    machine.invoke(Message(run_id, "start"))
    log, ended = machine.store.read_log(run_id), machine.store.get_run(run_id)
    machine.world.fresh[run_id] = head  # of a process that did not hear of it
    assert machine.invoke(Message(run_id, "start")) is InvocationEnd.FENCED
    assert (machine.store.read_log(run_id), machine.store.get_run(run_id)) == (log, ended)
    assert machine.calls == {"a": 1}


def test_of_the_receivers_of_an_answer_one_goes_on(machine: Any, node: Node) -> None:
    run_id = paused(machine, node)
    machine.service.answer_pause(run_id, "ask", "approved", {}, "ada")
    ends = race(machine, node, Message(run_id, "signal"))
    assert ends.count(InvocationEnd.ENDED) == 1
    machine.drain()
    assert machine.calls == {"pay": 1}
    events = [event.type.value for event in machine.log(run_id)]
    assert "run.recovered" not in events and events.count("node.resumed") == 1


def test_an_answer_takes_the_lease_in_the_write_that_makes_the_run_due(machine: Any, node: Node) -> None:
    run_id = paused(machine, node)
    before = machine.store.get_run(run_id)
    machine.service.answer_pause(run_id, "ask", "approved", {}, "ada")
    head, until_ms = machine.store.get_run(run_id), machine.clock.now_ms() + LEASE_MS
    assert (head.owner, head.epoch, head.lease_until_ms, head.due_ms) == (RECEIVER, before.epoch + 1, until_ms, until_ms)
    machine.invoke(Message(run_id, "signal"))
    done = machine.store.get_run(run_id)
    assert (done.status, done.epoch, done.owner) == ("completed", head.epoch, None)


@pytest.mark.parametrize("left_ms", [LEASE_MARGIN_MS, 1])
def test_a_lease_that_is_nearly_over_is_not_used(machine: Any, node: Node, left_ms: int) -> None:
    run_id = machine.start({"a": node()})
    machine.clock.advance(LEASE_MS - left_ms)
    assert machine.invoke(Message(run_id, "start")) is InvocationEnd.BUSY
    assert machine.log(run_id) == []
    machine.clock.advance(left_ms)
    assert machine.invoke(Message(run_id, "start")) is InvocationEnd.ENDED
    assert machine.store.get_run(run_id).epoch == 2


@pytest.mark.parametrize("reason", ["limit", "continue", "fenced"])
def test_other_hints_leave_it_to_its_receiver(machine: Any, node: Node, reason: str) -> None:
    run_id = machine.start({"a": node()})
    assert machine.invoke(Message(run_id, reason)) is InvocationEnd.BUSY
    assert machine.log(run_id) == []


@pytest.mark.parametrize("reason", ["signal", "timer", "child"])
def test_a_receiver_that_finds_nothing_to_do_leaves_the_lease_to_the_others(machine: Any, node: Node, reason: str) -> None:
    """Another receiver may be at work under it: a third process that took the lease now would take its node for interrupted."""
    run_id = paused(machine, node)
    machine.store.grant_lease(run_id, machine.clock.now_ms() + LEASE_MS)
    granted = machine.store.get_run(run_id)
    assert machine.invoke(Message(run_id, reason)) is InvocationEnd.PARKED
    assert machine.store.get_run(run_id) == granted
    assert machine.invoke(Message(run_id, "continue")) is InvocationEnd.BUSY
    machine.clock.advance(LEASE_MS)
    assert machine.invoke(Message(run_id, "sweep")) is InvocationEnd.PARKED
    assert machine.store.get_run(run_id).owner is None


def test_whoever_comes_after_the_first_append_leaves(machine: Any, node: Node) -> None:
    """The first receiver dies after its commit. A second one must not take its node for interrupted before the lease is over."""
    run_id = paused(machine, node)
    machine.service.answer_pause(run_id, "ask", "approved", {}, "ada")

    async def scene() -> None:
        begun = asyncio.Event()

        async def held(call: Any) -> str:
            begun.set()
            await asyncio.Event().wait()
            return "never"

        machine.behaviours["pay"] = held
        first = asyncio.create_task(machine.process().run(Message(run_id, "signal"), Budget(60_000)))
        await begun.wait()
        assert await machine.process().run(Message(run_id, "signal"), Budget(60_000)) is InvocationEnd.FENCED
        first.cancel()

    asyncio.run(scene())
    assert machine.calls == {"pay": 1}
    del machine.behaviours["pay"]
    machine.drain()
    assert (machine.view(run_id).status, machine.calls) == ("completed", {"pay": 2})
    assert [event.type.value for event in machine.log(run_id)].count("run.recovered") == 1


def test_equal_batches_of_two_receivers_differ_in_their_bytes(machine: Any, node: Node) -> None:
    """Both decide the same at the same instant: without the writer's mark each would take the batch for its own."""
    run_id = machine.start({"a": node()})
    machine.invoke(Message(run_id, "start"))
    first = machine.store.read_log(run_id)[0]
    other = machine.start({"a": node()})
    machine.invoke(Message(other, "start"))
    second = machine.store.read_log(other)[0]
    assert (first.epoch, first.first, first.last) == (second.epoch, second.first, second.last)
    assert first.data != second.data and len(first.data) == len(second.data)


def test_a_run_that_is_held_by_another_is_made_due_instead(machine: Any, node: Node) -> None:
    run_id = paused(machine, node)
    now_ms = machine.clock.now_ms()
    lease = machine.store.take_lease(run_id, "another", now_ms, now_ms + LEASE_MS)
    machine.service.answer_pause(run_id, "ask", "approved", {}, "ada")
    head = machine.store.get_run(run_id)
    assert (head.owner, head.epoch) == ("another", lease.epoch) and head.due_ms < now_ms + LEASE_MS
