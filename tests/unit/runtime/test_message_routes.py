"""Routes of further keys: a sender finds a run exactly while a node of the run waits under the key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from stepless.adapters.memory.store import MemoryStore
from stepless.errors import NotFound
from stepless.limits import LEASE_MS
from stepless.ports import Batch
from stepless.runtime.messages.keys import RunKey

PAY = RunKey("pays", "pay-9")
WAITS: dict[str, Any] = {
    "id": "pays",
    "messages": {"paid": {}, "go": {}},
    "nodes": {
        "begin": {"type": "manual"},
        "each": {"type": "loop", "after": "begin", "with": {"times": 2, "body": {"nodes": {
            "paid": {"type": "receive", "with": {"message": "paid", "key": "<begin.payment>"}},
            "go": {"type": "receive", "after": "paid", "with": {"message": "go"}},
        }}}},
    },
}  # fmt: skip


class LostLogs(MemoryStore):
    """A store whose logs are lost once `is_damaged` is set."""

    is_damaged = False

    def read_log(self, run_id: str, after: int = 0, *, limit_bytes: int) -> Sequence[Batch]:
        return [] if self.is_damaged else super().read_log(run_id, after, limit_bytes=limit_bytes)


class Removals(MemoryStore):
    """A store that remembers what was removed from lines."""

    def __init__(self) -> None:
        super().__init__()
        self.removed: list[tuple[str, str]] = []

    def leave_line(self, line: str, position: str) -> None:
        self.removed.append((line, position))
        super().leave_line(line, position)


def waiting(machine: Any) -> str:
    machine.service.publish(WAITS)
    run_id: str = machine.service.start("pays", {"payment": "pay-9"}).run_id
    return run_id


def routed(machine: Any, id: str) -> tuple[str, ...]:
    """The runs that a message for the further key is delivered to."""
    try:
        delivered: tuple[str, ...] = machine.service.send("pays", "paid", None, key="pay-9", id=id).delivered
    except NotFound as error:
        assert error.code == "no_receiver"
        return ()
    return delivered


def is_open(machine: Any, run_id: str) -> bool:
    """Whether the log says that the run waits for `paid`."""
    types = [type for type in machine.types(run_id) if "paid@" in type]
    return bool(types) and types[-1].startswith("node.waiting")


@pytest.mark.parametrize("after", [False, True])
def test_a_route_that_a_death_has_left_over_gets_no_message(make_machine: Any, after: bool) -> None:
    """A process dies at any call. Then a sender finds the run exactly if the run waits, before any other session."""
    left_over = 0
    for at in range(1, 60):
        machine = make_machine()
        run = waiting(machine)
        machine.settle()
        machine.service.send_to_run(run, "paid", None, id="one")
        machine.faults.at, machine.faults.after, machine.faults.calls = at, after, 0
        died = False
        for _ in range(10):
            try:
                machine.step()
            except Exception as error:
                if type(error).__name__ != "Died":
                    raise
                died = True
                break
        left_over += died and not is_open(machine, run) and bool(machine.store.read_line(f"routes:{PAY.digest}", limit=9))
        found = is_open(machine, run)
        assert routed(machine, "two") == ((run,) if found else ()), (at, after)
        assert found or not machine.store.read_line(f"routes:{PAY.digest}", limit=9)
        machine.runner = machine.process()
        machine.clock.set(machine.clock.now_ms() + LEASE_MS)
        for _ in range(20):
            machine.step()
        received = [event.data["id"] for event in machine.log(run) if event.type == "message.received"]
        assert received == ["one", "two"][: 1 + found], (at, after)
        if not died:
            break
    assert left_over > 0


def test_a_late_removal_does_not_hide_a_later_wait(make_machine: Any) -> None:
    """A process freezes before it removes a route, and goes on when the run waits again under the same key."""
    machine = make_machine(store=Removals())
    run = waiting(machine)
    machine.settle()
    assert routed(machine, "one") == (run,)
    machine.settle()
    assert routed(machine, "nobody") == ()
    machine.service.send_to_run(run, "go", None)
    machine.settle()
    for line, position in list(machine.store.removed):
        machine.store.leave_line(line, position)
    assert routed(machine, "two") == (run,)


def test_a_run_whose_log_cannot_be_read_gets_what_is_sent_to_its_routes(make_machine: Any) -> None:
    machine = make_machine(store=LostLogs())
    run = waiting(machine)
    machine.settle()
    machine.store.is_damaged = True
    assert routed(machine, "one") == (run,)
