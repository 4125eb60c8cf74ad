"""A hand-over: the lease is passed on with the message that continues the run, and only with that message."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from stepless.errors import StoreUnavailable
from stepless.limits import BUSY_DELAY_MS, LEASE_MARGIN_MS, LEASE_MS, SNAPSHOT_TAIL_BYTES
from stepless.ports import SUCCESSOR, Message
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.invocation_end import InvocationEnd

Node = Callable[..., dict[str, Any]]


def handed_over(machine: Any, node: Node, budget_ms: int = 0, nodes: int = 4) -> tuple[str, Message]:
    """A run whose first invocation had time for one node, and the message that continues it."""
    run_id = machine.start({"n0": node(), **{f"n{i}": node(f"n{i - 1}") for i in range(1, nodes)}})
    machine.queue.receive(machine.clock.now_ms())
    assert machine.invoke(Message(run_id, "start"), Budget(budget_ms)) is InvocationEnd.CONTINUED
    message = machine.queue.receive(machine.clock.now_ms())
    assert message is not None and len(machine.queue) == 0
    return run_id, message


def made(machine: Any, message: Message, budget_ms: int = 60_000) -> list[str]:
    """The calls of the ports in one invocation."""
    machine.faults.names.clear()
    machine.invoke(message, Budget(budget_ms))
    return list(machine.faults.names)


def test_the_message_names_the_lease_that_the_header_grants(machine: Any, node: Node) -> None:
    run_id, message = handed_over(machine, node)
    head, until_ms = machine.store.get_run(run_id), machine.clock.now_ms() + LEASE_MS
    assert (head.owner, head.epoch, head.lease_until_ms, head.due_ms) == (SUCCESSOR, 2, until_ms, until_ms)
    assert message == Message(run_id, "continue", 1, epoch=2, unsaved=True)


def test_the_next_invocation_takes_no_lease_and_looks_for_no_snapshot(machine: Any, node: Node) -> None:
    run_id, message = handed_over(machine, node, nodes=2)
    names = made(machine, message)
    assert names == ["get_run", "read_log", "read_inbox", "append", "append", "update_run", "disarm"]
    assert machine.view(run_id).status == "completed"
    assert machine.calls == machine.completions(run_id) == Counter({"n0": 1, "n1": 1})
    assert "run.recovered" not in machine.types(run_id)


def test_a_snapshot_is_read_if_there_is_one(machine: Any, node: Node) -> None:
    async def long(call: Any) -> str:
        return "".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(SNAPSHOT_TAIL_BYTES // 10))

    machine.behaviours.update({f"n{i}": long for i in range(12)})
    run_id, message = handed_over(machine, node, nodes=12)
    messages = [message]
    while machine.invoke(messages[-1], Budget(0)) is InvocationEnd.CONTINUED:
        following = machine.queue.receive(machine.clock.now_ms())
        assert following is not None
        assert following.unsaved == (machine.store.get_snapshot(run_id) is None)
        messages.append(following)
    assert {message.unsaved for message in messages} == {True, False}
    assert machine.view(run_id).status == "completed"
    assert machine.completions(run_id) == Counter({f"n{i}": 1 for i in range(12)})


def test_of_the_receivers_of_a_doubled_message_one_goes_on(machine: Any, node: Node) -> None:
    run_id, message = handed_over(machine, node)

    async def slow(call: Any) -> str:
        await asyncio.sleep(0)
        return "done"

    machine.behaviours.update({f"n{i}": slow for i in range(4)})

    async def scene() -> list[InvocationEnd]:
        return list(await asyncio.gather(*(machine.process().run(message, Budget(60_000)) for _ in range(4))))

    ends = asyncio.run(scene())
    assert ends.count(InvocationEnd.ENDED) == 1 and set(ends) <= {InvocationEnd.ENDED, InvocationEnd.FENCED, InvocationEnd.GONE}
    machine.drain()
    assert machine.calls == machine.completions(run_id) == Counter({f"n{i}": 1 for i in range(4)})
    assert [event.type.value for event in machine.log(run_id)].count("run.continued") == 1


def test_a_stale_message_leaves_the_next_lease_to_its_own(machine: Any, node: Node) -> None:
    run_id, first = handed_over(machine, node)
    assert machine.invoke(first, Budget(0)) is InvocationEnd.CONTINUED
    second = machine.queue.receive(machine.clock.now_ms())
    before = machine.log(run_id)
    assert machine.invoke(first) is InvocationEnd.BUSY
    assert machine.log(run_id) == before
    assert machine.invoke(second) is InvocationEnd.ENDED
    assert machine.invoke(first) is InvocationEnd.GONE
    hops = [event.data["hops"] for event in machine.log(run_id) if event.type == "run.continued"]
    assert hops == [1, 2] and machine.calls == Counter({f"n{i}": 1 for i in range(4)})


@pytest.mark.parametrize("reason", ["start", "signal", "sweep", "timer", "child", "fenced", "continue"])
def test_other_hints_leave_the_lease_to_the_message_that_names_it(machine: Any, node: Node, reason: str) -> None:
    run_id, message = handed_over(machine, node)
    before = machine.log(run_id)
    for epoch in (0, 1, 3):
        assert machine.invoke(Message(run_id, reason, 1, epoch=epoch)) is InvocationEnd.BUSY
    assert machine.log(run_id) == before
    assert machine.invoke(message) is InvocationEnd.ENDED


def test_a_message_that_is_lost_costs_the_rest_of_the_lease(machine: Any, node: Node) -> None:
    run_id, _ = handed_over(machine, node)
    machine.drain()
    assert machine.view(run_id).status == "completed"
    assert machine.calls == machine.completions(run_id) == Counter({f"n{i}": 1 for i in range(4)})
    assert "run.recovered" not in machine.types(run_id)


@pytest.mark.parametrize("left_ms", [LEASE_MARGIN_MS, 0])
def test_a_late_message_waits_until_the_lease_is_over_and_looks_for_a_snapshot(machine: Any, node: Node, left_ms: int) -> None:
    run_id, message = handed_over(machine, node)
    machine.clock.advance(LEASE_MS - left_ms)
    if left_ms:
        assert machine.invoke(message) is InvocationEnd.BUSY
        machine.clock.advance(left_ms)
    names = made(machine, message)
    assert names[:3] == ["get_run", "take_lease", "get_snapshot"]
    assert machine.view(run_id).status == "completed" and machine.store.get_run(run_id).epoch == 3


def test_a_message_and_a_header_of_the_former_release_are_understood(machine: Any, node: Node) -> None:
    """It released the lease, and its message names none."""
    run_id, message = handed_over(machine, node)
    head, now_ms = machine.store.get_run(run_id), machine.clock.now_ms()
    lease = machine.store.take_lease(run_id, SUCCESSOR, now_ms, now_ms + LEASE_MS)
    machine.store.update_run(lease, now_ms, sequence=head.sequence, due_ms=now_ms, release=True)
    names = made(machine, Message(run_id, "continue", message.hops))
    assert names[:3] == ["get_run", "take_lease", "get_snapshot"]
    assert machine.view(run_id).status == "completed"
    assert [event.type.value for event in machine.log(run_id)].count("run.continued") == 1


def test_the_former_release_continues_once_the_lease_is_over(machine: Any, node: Node) -> None:
    """It does not know the owner, so the lease is another process's to it, and it sends the message again without the epoch."""
    run_id, message = handed_over(machine, node)
    for _ in range(LEASE_MS // BUSY_DELAY_MS):
        now_ms = machine.clock.now_ms()
        assert machine.store.take_lease(run_id, "former", now_ms, now_ms + LEASE_MS) is None
        machine.clock.advance(BUSY_DELAY_MS)
    assert machine.invoke(message._replace(epoch=0, unsaved=False)) is InvocationEnd.ENDED
    assert machine.view(run_id).status == "completed"


@pytest.mark.parametrize("after", [False, True])
def test_a_hand_over_whose_answer_is_lost_is_made_once(machine: Any, node: Node, after: bool) -> None:
    run_id = machine.start({"n0": node(), "n1": node("n0")})
    machine.queue.receive(machine.clock.now_ms())
    tried: list[int] = []

    def update_run(*given: Any, **named: Any) -> Any:
        tried.append(named.get("grant_ms"))
        if len(tried) == 1 and not after:
            raise StoreUnavailable("no answer")
        lease = type(machine.store).update_run(machine.store, *given, **named)
        if len(tried) == 1:
            raise StoreUnavailable("no answer")
        return lease

    machine.store.update_run = update_run
    assert machine.invoke(Message(run_id, "start"), Budget(0)) is InvocationEnd.CONTINUED
    assert len(tried) == 2 and tried[0] == tried[1]
    head = machine.store.get_run(run_id)
    assert (head.owner, head.epoch) == (SUCCESSOR, 2)
    machine.drain()
    assert machine.view(run_id).status == "completed" and machine.calls == Counter({"n0": 1, "n1": 1})


def test_a_process_that_stops_passes_no_lease_on(machine: Any, node: Node) -> None:
    """Its queue may end with it: the run is due at once, and the next process takes it."""

    run_id = machine.start({"a": node(), "b": node("a")})
    assert machine.stop_during("a", run_id) is InvocationEnd.CONTINUED
    head = machine.store.get_run(run_id)
    assert (head.owner, head.due_ms) == (None, machine.clock.now_ms())
