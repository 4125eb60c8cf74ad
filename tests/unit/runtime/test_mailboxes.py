"""The mailbox of a run: its bound, its masks, and messages that are there before a timeout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from stepless.adapters.memory.store import MemoryStore
from stepless.core.events import EventType
from stepless.errors import Refused
from stepless.limits import MAX_KNOWN_MESSAGES, MAX_MAILBOX
from stepless.ports import Message, Signal
from stepless.runtime import inbox


class Deadly(MemoryStore):
    """A store whose callers die at each second marking of signals, before it or after a part of it."""

    marked = 0

    def take_signals(self, run_id: str, signals: Sequence[Signal]) -> None:
        self.marked += 1
        if self.marked % 2:
            super().take_signals(run_id, signals[: len(signals) // 3 * (self.marked % 4 // 2)])
            raise RuntimeError("this process is gone")
        super().take_signals(run_id, signals)


def started(machine: Any, timeout: str | None = None, **top: Any) -> str:
    """A run that waits for `go`."""
    wait: dict[str, Any] = {"message": "go", **({"timeout": timeout} if timeout else {})}
    nodes = {"s": {"type": "manual"}, "w": {"type": "receive", "after": "s", "with": wait}}
    machine.service.publish({"id": "waits", "messages": {"tick": {}, "go": {}}, **top, "nodes": nodes})
    run_id: str = machine.service.start("waits", {}).run_id
    return run_id


def test_a_full_mailbox_hides_nothing_that_a_node_waits_for(machine: Any) -> None:
    """Its sender was told that the run has it, so the run must not wait for it until others are read."""
    run = started(machine)
    for number in range(MAX_MAILBOX):
        machine.service.send_to_run(run, "tick", number)
    machine.service.send_to_run(run, "go", "now")
    machine.drain()
    view = machine.view(run)
    assert (view.status, view.outputs["w"]["data"], len(view.unread)) == ("completed", "now", MAX_MAILBOX)


@pytest.mark.check
def test_a_run_whose_mailbox_is_full_refuses_further_messages(machine: Any) -> None:
    run = started(machine)
    for number in range(MAX_MAILBOX):
        machine.service.send_to_run(run, "tick", number)
    machine.settle()
    with pytest.raises(Refused) as refused:
        machine.service.send_to_run(run, "go", None)
    assert refused.value.code == "mailbox_full"
    assert len(machine.view(run).unread) == MAX_MAILBOX


def test_a_message_that_was_there_before_a_timeout_is_earlier(machine: Any) -> None:
    """No process ran until the timeout was over."""
    run = started(machine, timeout="3d")
    machine.settle()
    machine.service.send_to_run(run, "go", "now")
    while machine.queue.receive(machine.clock.now_ms() + 60_000) is not None:
        continue
    machine.clock.set(machine.clock.now_ms() + 4 * 86_400_000)
    machine.drain()
    assert machine.view(run).outputs["w"]["data"] == "now"


def test_secrets_in_a_message_are_masked_in_the_log(machine: Any) -> None:
    run = started(machine, env=["KEY"])
    machine.service.send_to_run(run, "go", {"text": "it is a-secret-key", "list": ["a-secret-key"]}, by="a-secret-key")
    machine.drain()
    assert machine.view(run).status == "completed"
    assert "a-secret-key" not in str([event.data for event in machine.log(run)])


def test_messages_that_dead_processes_have_not_marked_are_taken_once(make_machine: Any) -> None:
    """Also if more are in the inbox than a run keeps the ids of."""
    machine, sent, dead = make_machine(store=Deadly()), 2 * MAX_KNOWN_MESSAGES + 7, 0
    body = {"nodes": {"w": {"type": "receive", "with": {"message": "tick"}}}}
    loop = {"times": 2 * sent, "results": "none", "max_iterations": 2 * sent, "body": body}
    run = machine.start({"l": {"type": "loop", "with": loop}}, messages={"tick": {}}, max_steps=10 * sent)
    machine.settle()
    for number in range(sent):
        machine.store.put_signal(run, inbox.message_signal(f"m{number:04}", "tick", number, machine.clock.now_ms()))
    machine.queue.send(Message(run, "signal"))
    for _ in range(30):
        try:
            machine.drain()
        except RuntimeError:
            dead += 1
    got = [event.data["id"] for event in machine.log(run) if event.type is EventType.MESSAGE_RECEIVED]
    assert (got, dead > 2) == ([f"m{number:04}" for number in range(sent)], True)
