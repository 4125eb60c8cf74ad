"""Signals that the core has received: a few are left in the inbox and passed again, which changes nothing; many, and
notifications of children, are marked as taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepless.errors import Refused
from stepless.limits import MAX_DURATION_MS, MAX_UNMARKED_SIGNALS
from stepless.ports import Message
from stepless.runtime.session.pauses.children import caller
from stepless.runtime.session.runner import InvocationEnd

Node = Callable[..., dict[str, Any]]


def approval(after: Any = None) -> dict[str, Any]:
    return {"type": "approval", "with": {"message": "Go on?"}, **({"after": after} if after else {})}


def work_off(machine: Any) -> None:
    """Every message that is there; the clock stands still."""
    while (message := machine.queue.receive(machine.clock.now_ms())) is not None:
        machine.invoke(message)


def test_a_few_answers_are_told_again_and_change_nothing(machine: Any, node: Node) -> None:
    run_id = machine.start({"w1": approval(), "a": node("w1.approved"), "w2": approval("a"), "b": node("w2.approved")})
    machine.drain()
    machine.service.answer_pause(run_id, "w1", "approved", {}, "Ada")
    machine.drain()
    batches = len(machine.store.read_log(run_id))
    for _ in range(3):
        assert machine.invoke(Message(run_id, "sweep")) is InvocationEnd.PARKED
        assert machine.queue.receive(machine.clock.now_ms()) is None  # what is not marked is no news
    assert len(machine.store.read_log(run_id)) == batches
    machine.service.answer_pause(run_id, "w2", "approved", {}, "Ada")
    machine.drain()
    assert machine.view(run_id).status == "completed"
    assert machine.calls == {"a": 1, "b": 1}
    assert [type for type in machine.types(run_id) if "resumed" in type] == ["node.resumed w1", "node.resumed w2"]
    assert "take_signals" not in machine.faults.names
    assert len(machine.store.read_inbox(run_id)) == 2


def test_many_answers_are_marked_so_that_an_inbox_stays_small(machine: Any) -> None:
    asked = MAX_UNMARKED_SIGNALS + 3
    run_id = machine.start({f"w{i}": approval() for i in range(asked)})
    machine.drain()
    for i in range(asked):
        machine.service.answer_pause(run_id, f"w{i}", "approved", {})
        machine.drain()
        assert len(machine.store.read_inbox(run_id)) == (i + 1) % (MAX_UNMARKED_SIGNALS + 1)
    assert machine.view(run_id).status == "completed"


def test_news_of_a_child_are_told_once(machine: Any) -> None:
    machine.world.kind_code["workflow"] = caller(machine.world)
    machine.service.publish({"id": "child", "nodes": {"c": {"type": "transform", "with": {"value": 1}}}})
    run_id = machine.start({"call": {"type": "workflow", "with": {"workflow": "child"}}, "w": approval("call")})
    machine.drain()
    assert machine.view(run_id).nodes["call"].status == "completed"
    assert machine.view(run_id).status == "paused"
    assert machine.store.read_inbox(run_id) == []


def test_a_parked_run_counts_against_the_concurrency_of_its_workflow(machine: Any) -> None:
    run_id = machine.start({"w": approval()}, concurrency=1)
    work_off(machine)
    head = machine.store.get_run(run_id)
    assert (head.status, head.due_ms) == ("paused", machine.clock.now_ms() + MAX_DURATION_MS)
    with pytest.raises(Refused):
        machine.service.start("small", {})
    machine.service.answer_pause(run_id, "w", "approved", {})
    work_off(machine)
    assert machine.view(run_id).status == "completed"
    assert machine.service.start("small", {}).run_id
