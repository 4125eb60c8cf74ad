"""Pause and unpause, from the verb to the log, over a real store, queue and timers (docs/understand/semantics.md#pauses)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from stepless.errors import Conflict, NotFound
from stepless.limits import START_GRACE_MS
from stepless.model.work import NodeFailure
from stepless.ports import Call, Message
from stepless.runtime import inbox
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.pauses.children import caller

Node = Callable[..., dict[str, Any]]
HOUR_MS = 3_600_000
APPROVAL = {"type": "approval", "with": {"message": "Go on?"}}


def holds(machine: Any, run_id: str) -> list[str]:
    return ["held" if event.data["held"] else "released" for event in machine.log(run_id) if "held" in event.data]


def test_a_held_run_has_no_lease_no_message_and_no_due_date(machine: Any, node: Node) -> None:
    run_id = machine.start({"a": node(), "b": node("a")})
    machine.service.hold(run_id, by="ann", reason="an incident")
    machine.drain()
    view = machine.view(run_id)
    assert (view.status, view.held) == ("paused", {"by": "ann", "reason": "an incident", "at": machine.clock.now_ms()})
    assert (view.head.owner, view.head.due_ms, view.head.status) == (None, None, "paused")
    assert machine.queue.receive(machine.clock.now_ms() + HOUR_MS) is None
    assert machine.calls == {}
    machine.service.release(run_id)
    machine.drain()
    assert (machine.view(run_id).status, machine.view(run_id).held, machine.calls) == ("completed", None, {"a": 1, "b": 1})


def test_a_pause_that_comes_in_the_middle_of_a_node_waits_for_its_end(machine: Any, node: Node) -> None:
    async def paused_meanwhile(call: Call) -> str:
        machine.service.hold(call.run_id)
        machine.runner.sessions[call.run_id].poke()
        return "done"

    machine.behaviours["a"] = paused_meanwhile
    run_id = machine.start({"a": node(), "b": node("a"), "c": node("b")})
    machine.drain()
    view = machine.view(run_id)
    assert (view.status, view.nodes["a"].status, "c" in machine.calls) == ("paused", "completed", False)
    machine.service.release(run_id)
    machine.drain()
    assert (machine.view(run_id).status, machine.calls) == ("completed", {"a": 1, "b": 1, "c": 1})


def test_pausing_again_and_again_counts_every_time(machine: Any, node: Node) -> None:
    run_id = machine.start({"w": APPROVAL, "b": node("w.approved")})
    machine.drain()
    for _ in range(3):
        machine.service.hold(run_id)
        machine.drain()
        machine.service.release(run_id)
        machine.drain()
    assert holds(machine, run_id) == ["held", "released"] * 3


def test_asking_twice_is_asking_once(machine: Any, node: Node) -> None:
    run_id = machine.start({"w": APPROVAL})
    machine.service.release(run_id)
    for verb in (machine.service.hold, machine.service.hold, machine.service.release, machine.service.release):
        verb(run_id)
    machine.service.hold(run_id)
    machine.drain()
    machine.service.hold(run_id)
    machine.drain()
    assert holds(machine, run_id) == ["held", "released", "held"]


def test_changes_that_come_out_of_order_are_taken_in_order(machine: Any) -> None:
    run_id = machine.start({"w": APPROVAL})
    machine.drain()
    for number, held in ((3, True), (2, False)):
        machine.store.put_signal(run_id, inbox.hold_signal(number, held, None, None, machine.clock.now_ms()))
    machine.service.world.queue.send(_hint(run_id))
    machine.drain()
    assert holds(machine, run_id) == []
    machine.store.put_signal(run_id, inbox.hold_signal(1, True, None, None, machine.clock.now_ms() + 5))
    machine.service.world.queue.send(_hint(run_id))
    machine.drain()
    assert holds(machine, run_id) == ["held", "released", "held"]


def _hint(run_id: str) -> Message:
    return Message(run_id, "signal")


def test_a_hint_that_is_lost_is_made_up_for_by_the_sweep(machine: Any) -> None:
    run_id = machine.start({"w": APPROVAL})
    machine.drain()
    machine.service.hold(run_id)
    assert machine.queue.receive(machine.clock.now_ms()) is not None
    assert machine.store.get_run(run_id).due_ms == machine.clock.now_ms() + START_GRACE_MS
    machine.drain()
    assert holds(machine, run_id) == ["held"]


def test_a_run_that_has_ended_is_not_paused(machine: Any, node: Node) -> None:
    run_id = machine.start({"a": node()})
    machine.drain()
    for verb in (machine.service.hold, machine.service.release):
        with pytest.raises(Conflict) as refused:
            verb(run_id)
        assert (refused.value.code, refused.value.facts["run_status"]) == ("run_ended", "completed")
    with pytest.raises(NotFound):
        machine.service.hold("run_nobody")


def test_an_approval_is_answered_while_the_run_is_held_and_takes_effect_afterwards(machine: Any, node: Node) -> None:
    run_id = machine.start({"w": APPROVAL, "b": node("w.approved")})
    machine.service.hold(run_id)
    machine.drain()
    assert machine.view(run_id).nodes["w"].status == "queued", "it has not been asked yet"
    machine.service.release(run_id)
    machine.drain()
    machine.service.hold(run_id)
    machine.drain()
    machine.service.answer_pause(run_id, "w", "approved", {}, "ann")
    machine.drain()
    assert (machine.view(run_id).status, machine.view(run_id).nodes["b"].status, machine.calls) == ("paused", "queued", {})
    with pytest.raises(Conflict):
        machine.service.answer_pause(run_id, "w", "rejected", {}, "bob")
    machine.service.release(run_id)
    machine.drain()
    assert (machine.view(run_id).status, machine.calls) == ("completed", {"b": 1})


def test_timers_wake_a_held_run_to_be_recorded_and_nothing_else(machine: Any, node: Node) -> None:
    run_id = machine.start({"w": {"type": "wait", "with": {"for": "1h"}}, "a": node(retry={"attempts": 2, "backoff_ms": 60_000,
                            "max_backoff_ms": 60_000}), "z": node(["w", "a"])})  # fmt: skip

    async def fails_once(call: Call) -> str:
        if call.attempt == 1:
            machine.service.hold(call.run_id)
            raise NodeFailure("timeout", "timeout", "not now")
        return "done"

    machine.behaviours["a"] = fails_once
    machine.drain()
    nodes = machine.view(run_id).nodes
    assert {name: record.status for name, record in nodes.items()} == {"w": "completed", "a": "queued"}
    assert machine.view(run_id).status == "paused"
    machine.service.release(run_id)
    machine.drain()
    assert (machine.view(run_id).status, machine.calls) == ("completed", {"a": 2, "z": 1})


@pytest.mark.parametrize("at", range(1, 40))
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_process_that_dies_anywhere_neither_forgets_a_pause_nor_its_end(machine: Any, node: Node, at: int, after: bool) -> None:
    run_id = machine.start({"a": node(), "b": node("a")})
    machine.service.hold(run_id)
    machine.faults.at, machine.faults.after = at, after
    _live(machine)
    assert (machine.view(run_id).status, machine.calls) == ("paused", {})
    machine.service.release(run_id)
    _live(machine)
    assert (machine.view(run_id).status, machine.view(run_id).nodes["b"].status) == ("completed", "completed")
    assert holds(machine, run_id) == ["held", "released"]


def _live(machine: Any) -> None:
    """Until it rests; a process that dies is replaced."""
    while True:
        try:
            machine.drain(lambda: Budget(60_000))
            return
        except Exception as error:
            if type(error).__name__ != "Died":
                raise
            machine.runner = machine.process()


def test_a_held_parent_lets_its_child_go_on_and_takes_its_end(machine: Any, node: Node) -> None:
    machine.world.kind_code["workflow"] = caller(machine.world)
    machine.service.publish({"id": "inner", "nodes": {"x": node()}})
    run_id = machine.start({"c": {"type": "workflow", "with": {"workflow": "inner"}}, "z": node("c")})

    async def paused_meanwhile(call: Call) -> str:
        machine.service.hold(json.loads(machine.store.get_run(call.run_id).meta)["parent"]["run"])
        return "done"

    machine.behaviours["x"] = paused_meanwhile
    machine.drain()
    view = machine.view(run_id)
    assert (view.status, view.nodes["c"].status, view.nodes["z"].status) == ("paused", "completed", "queued")
    machine.service.release(run_id)
    machine.drain()
    assert machine.view(run_id).status == "completed"
