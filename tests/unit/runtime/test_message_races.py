"""Messages, starts and ends of runs that race: what the simulation of keys and messages found (tests/simulation/talking.py), each
with the fewest steps that show it."""

from __future__ import annotations

from typing import Any

import pytest

from stepless.errors import Conflict
from stepless.limits import START_GRACE_MS
from stepless.ports import Message
from stepless.runtime import inbox
from stepless.runtime.messages.kept import kept_for
from stepless.runtime.messages.keys import AFTER, Slot, slot_of
from stepless.runtime.session.receiving import waits_to_begin

ORDER: dict[str, Any] = {
    "id": "order",
    "key": "<input.id>",
    "messages": {"payment": {}},
    "nodes": {
        "order": {"type": "manual"},
        "paid": {"type": "receive", "after": "order", "with": {"message": "payment", "timeout": "3d"}},
        "done": {"type": "transform", "after": "paid", "with": {"value": "<order.amount>"}},
        "late": {"type": "transform", "after": "paid.timeout", "with": {"value": "late"}},
    },
}  # fmt: skip
SLOT = Slot("order", "A-1")


def order(machine: Any, amount: int = 5, by: Any = None, **options: Any) -> Any:
    return (by or machine.service).start("order", {"id": "A-1", "amount": amount}, **options)


def publish(machine: Any, rule: str = "join", **more: Any) -> None:
    machine.service.publish({**ORDER, "on_conflict": rule, **more})


def settle(machine: Any) -> None:
    """Does everything that happens within seconds."""
    while (at_ms := machine.queue.next_ms()) is not None and at_ms <= machine.clock.now_ms() + 5_000:
        machine.step()


def arrives_late(machine: Any, run_id: str, id: str, start: Any = None) -> None:
    """A sender read the header before the run ended, and puts its message now."""
    now_ms = machine.clock.now_ms()
    signal = inbox.message_signal(id, "payment", {"id": "A-1", "amount": 1}, now_ms, key="A-1", start=start)
    machine.store.touch_run(run_id, now_ms + START_GRACE_MS)
    machine.store.put_signal(run_id, signal)
    machine.queue.send(Message(run_id, "signal"))


def ended(machine: Any) -> str:
    """A run of the key that has ended."""
    run_id: str = order(machine).run_id
    settle(machine)
    machine.service.send("order", "payment", None, key="A-1", id="first")
    machine.drain()
    assert machine.view(run_id).status == "completed"
    return run_id


# -- messages -------------------------------------------------------------------------------------------------------------


def test_a_message_that_comes_after_the_end_is_unread(machine: Any) -> None:
    publish(machine)
    run = ended(machine)
    arrives_late(machine, run, "late")
    machine.drain()
    assert [mail.id for mail in machine.view(run).unread] == ["late"]


def test_a_message_that_asks_for_a_start_and_comes_after_the_end_starts_the_next_run(machine: Any) -> None:
    publish(machine)
    run = ended(machine)
    arrives_late(machine, run, "late", start={})
    machine.drain()
    assert machine.view(SLOT.run_id(2)).outputs == {"done": 1}


def test_a_run_that_begins_late_gets_what_was_kept_when_it_was_created(machine: Any) -> None:
    publish(machine)
    machine.service.send("order", "payment", 1, key="A-1", id="kept", keep_ms=60_000)
    run = order(machine, begins_ms=machine.clock.now_ms() + 7_200_000).run_id
    machine.clock.set(machine.clock.now_ms() + 3_600_000)
    assert list(kept_for(machine.world, SLOT)) == []  # another reader finds that it has expired, and removes it
    machine.drain()
    assert machine.view(run).outputs == {"done": 5}


def test_a_run_whose_hint_was_lost_gets_what_was_kept_when_it_was_created(machine: Any) -> None:
    publish(machine)
    machine.service.send("order", "payment", 1, key="A-1", id="kept", keep_ms=5_000)
    run = order(machine).run_id
    machine.clock.set(machine.clock.now_ms() + 30_000)
    machine.drain()
    assert machine.view(run).outputs == {"done": 5}


def test_a_message_that_is_sent_again_is_kept_as_long_as_it_says(machine: Any) -> None:
    publish(machine)
    kept_until = []
    for _ in range(2):
        kept_until.append(machine.service.send("order", "payment", 1, key="A-1", id="kept", keep_ms=60_000).kept_until_ms)
        machine.clock.set(machine.clock.now_ms() + 30_000)
    assert kept_until == [kept_until[0]] * 2


def test_a_message_that_is_sent_again_when_it_expires_is_kept(machine: Any, monkeypatch: Any) -> None:
    """A reader finds that it has expired, the sender keeps it again, and the reader removes it from the list."""
    publish(machine)
    send = machine.service.send
    send("order", "payment", 1, key="A-1", id="kept", keep_ms=5_000)
    machine.clock.set(machine.clock.now_ms() + 10_000)
    leave_line = machine.store.leave_line

    def slow(line: str, place: str) -> None:
        monkeypatch.undo()
        send("order", "payment", 1, key="A-1", id="kept", keep_ms=60_000)
        leave_line(line, place)

    monkeypatch.setattr(machine.store, "leave_line", slow)
    assert list(kept_for(machine.world, SLOT)) == []
    assert [signal.identity for signal in kept_for(machine.world, SLOT)] == ["kept"]


# -- starts ---------------------------------------------------------------------------------------------------------------


def test_a_run_that_is_replaced_before_it_begins_waits_for_the_former_all_the_same(machine: Any) -> None:
    """Its own successor begins when it has ended, and must not begin while the former is at work."""
    publish(machine, "replace")
    first = order(machine).run_id
    settle(machine)
    second, third = order(machine).run_id, order(machine).run_id
    for run_id in (second, third):
        assert waits_to_begin(machine.world, machine.store.get_run(run_id), machine.clock.now_ms())
    machine.drain()
    logs = [machine.log(run_id) for run_id in (first, second, third)]
    assert [log[-1].type.value for log in logs] == ["run.cancelled", "run.cancelled", "run.completed"]
