"""A lost hint is compensated: a run for which a hint was sent is due START_GRACE_MS later, or at the end of the lease that was
granted with the hint, to the millisecond."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stepless.adapters.memory.store import MemoryStore
from stepless.limits import LEASE_MS, START_GRACE_MS
from stepless.ports import Message
from stepless.runtime.hosting.sweep import sweep
from stepless.runtime.session.pauses.children import caller, child_id

APPROVAL = {"type": "approval", "with": {"message": "Go on?"}}
CHILD = {"id": "child", "nodes": {"ask": APPROVAL}}
CALL = {"type": "workflow", "with": {"workflow": "child"}}


def lose(machine: Any) -> None:
    """Every message that is under way, and every timer's."""
    while machine.queue.receive(machine.clock.now_ms()) is not None:
        machine.clock.advance(0)


def answer(machine: Any, run_id: str) -> None:
    token = machine.view(run_id).pauses[0].token
    machine.service.answer(token, "approved", {})


def cancel(machine: Any, run_id: str) -> None:
    machine.service.cancel(run_id)


def looked_at(machine: Any, run_id: str, after_ms: int = START_GRACE_MS) -> bool:
    """Whether the run is due exactly `after_ms` from now, and then is hinted at."""
    lose(machine)
    assert machine.store.get_run(run_id).due_ms == machine.clock.now_ms() + after_ms
    machine.clock.advance(after_ms - 1)
    assert sweep(machine.world) == 0
    machine.clock.advance(1)
    return sweep(machine.world) == 1


def test_a_run_that_was_started(machine: Any, node: Callable[..., Any]) -> None:
    assert looked_at(machine, machine.start({"a": node()}), LEASE_MS)


@pytest.mark.parametrize(("verb", "after_ms"), [(answer, LEASE_MS), (cancel, START_GRACE_MS)])
def test_a_run_that_was_told_something(machine: Any, verb: Callable[..., None], after_ms: int) -> None:
    run_id = machine.start({"w": APPROVAL})
    machine.drain()
    assert machine.store.get_run(run_id).due_ms is None
    machine.clock.advance(5_000)
    verb(machine, run_id)
    assert looked_at(machine, run_id, after_ms)


@pytest.fixture
def family(machine: Any) -> tuple[Any, str, str]:
    """A machine, a run that waits for its child, and the child, which waits for an answer."""
    machine.world.kind_code["workflow"] = caller(machine.world)
    machine.service.publish(CHILD)
    parent = machine.start({"c": CALL})
    machine.drain()
    machine.clock.advance(5_000)
    return machine, parent, child_id(f"{parent}:c")


def test_a_child_that_was_made(machine: Any) -> None:
    machine.world.kind_code["workflow"] = caller(machine.world)
    machine.service.publish(CHILD)
    parent = machine.start({"c": CALL})
    machine.invoke(machine.queue.receive(machine.clock.now_ms()))
    assert looked_at(machine, child_id(f"{parent}:c"), LEASE_MS)


def test_a_parent_that_its_child_told_of_its_end(family: tuple[Any, str, str]) -> None:
    machine, parent, child = family
    answer(machine, child)
    machine.invoke(machine.queue.receive(machine.clock.now_ms()))
    assert machine.view(child).status == "completed"
    assert looked_at(machine, parent)


def test_a_child_whose_parent_was_cancelled(family: tuple[Any, str, str]) -> None:
    machine, parent, child = family
    machine.service.cancel(parent)
    machine.invoke(machine.queue.receive(machine.clock.now_ms()))
    assert machine.view(parent).status == "cancelled"
    assert looked_at(machine, child)


class LateSignals(MemoryStore):
    """Between a verb and its signal, an older hint for the run is served."""

    def __init__(self) -> None:
        super().__init__()
        self.machine: Any = None  # from when a hint is served

    def put_signal(self, run_id: str, signal: Any) -> Any:
        if self.machine is not None:
            self.machine.queue.send(Message(run_id, "signal"))  # an older hint, delivered again
            self.machine.drain()
            assert self.get_run(run_id).due_ms is None
        return super().put_signal(run_id, signal)


@pytest.mark.parametrize("verb", [answer, cancel])
def test_a_signal_that_a_session_came_before(make_machine: Any, verb: Callable[..., None]) -> None:
    store = LateSignals()
    machine = make_machine(store)
    run_id = machine.start({"w": APPROVAL})
    machine.drain()
    store.machine = machine
    verb(machine, run_id)
    assert looked_at(machine, run_id)
