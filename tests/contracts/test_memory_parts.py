"""The queue, the timers, the clocks and the secrets of one process."""

from __future__ import annotations

import random
from typing import Any

import pytest

from stepless.adapters.memory.clock import SettableClock
from stepless.adapters.memory.queue import MemoryQueue
from stepless.adapters.memory.secrets import MemorySecrets
from stepless.adapters.memory.timers import MemoryTimers
from stepless.adapters.system import EnvSecrets, SystemClock
from stepless.ports import Clock, Message, Queue, Secrets, Timers


def received(queue: MemoryQueue, now_ms: int) -> list[str]:
    return [message.run_id for message in iter(lambda: queue.receive(now_ms), None)]


def test_messages_leave_in_the_order_in_which_they_become_visible() -> None:
    clock = SettableClock(100)
    queue = MemoryQueue(clock)
    port: Queue = queue
    for run_id, delay_ms in (("late", 50), ("a", 0), ("b", 0), ("soon", 10), ("past", -5)):
        port.send(Message(run_id, "start"), delay_ms)
    assert queue.next_ms() == 100
    assert received(queue, 99) == []
    assert received(queue, 109) == ["a", "b", "past"]
    assert queue.next_ms() == 110
    clock.set(140)
    port.send(Message("new", "start"))
    assert received(queue, 150) == ["soon", "new", "late"]
    assert (queue.next_ms(), len(queue)) == (None, 0)


def test_every_message_that_many_send_is_received_once(race: Any) -> None:
    queue = MemoryQueue(SettableClock())

    def send(i: int) -> None:
        for j in range(50):
            queue.send(Message(f"{i}.{j}", "start"))

    race(send)
    taken = race(lambda i: [queue.receive(0) for _ in range(50)])
    assert len({message.run_id for some in taken for message in some}) == 1_000


def test_whoever_waits_for_messages_is_woken_when_one_can_be_received() -> None:
    woken: list[int] = []
    queue = MemoryQueue(SettableClock())
    queue.listen(lambda: woken.append(len(queue)))
    queue.send(Message("r", "start"))
    assert woken == [1]


def test_timers_fire_in_order_once_and_never_early() -> None:
    timers = MemoryTimers()
    port: Timers = timers
    for run_id, at_ms in (("b", 20), ("a", 10), ("a", 30), ("a", 10), ("c", 20)):
        port.arm(run_id, at_ms)
    assert timers.next_ms() == 10
    assert timers.due(9) == ()
    assert timers.due(20) == ("a", "b", "c")
    assert timers.due(29) == ()
    assert timers.due(30) == ("a",)
    assert timers.next_ms() is None


def test_a_disarmed_run_is_not_woken_until_it_is_armed_again() -> None:
    timers = MemoryTimers()
    for run_id in ("a", "b"):
        timers.arm(run_id, 10)
    timers.disarm("a")
    timers.disarm("none")
    assert timers.due(10) == ("b",)
    timers.arm("a", 10)
    assert timers.due(10) == ("a",)
    assert timers.due(10) == ()


@pytest.mark.parametrize("seed", range(10))
def test_timers_agree_with_a_plain_set(seed: int) -> None:
    chance, timers, armed = random.Random(seed), MemoryTimers(), set[tuple[int, str]]()
    for now_ms in range(600):
        run_id = f"r{chance.randrange(6)}"
        if chance.random() < 0.3:
            timers.disarm(run_id)
            armed = {(at_ms, run) for at_ms, run in armed if run != run_id}
        else:
            at_ms = now_ms + chance.randrange(400)
            timers.arm(run_id, at_ms)
            armed.add((at_ms, run_id))
        assert timers.next_ms() == min(armed, default=(None,))[0]
        if chance.random() < 0.2:
            assert timers.due(now_ms) == tuple(dict.fromkeys(run for at_ms, run in sorted(armed) if at_ms <= now_ms))
            armed = {(at_ms, run) for at_ms, run in armed if at_ms > now_ms}


def test_a_settable_clock_stands_until_it_is_moved() -> None:
    clock = SettableClock(5)
    port: Clock = clock
    assert (port.now_ms(), clock.advance(10), port.now_ms()) == (5, 15, 15)
    clock.set(3)
    assert port.now_ms() == 3


def test_the_system_clock_counts_milliseconds_since_1970() -> None:
    port: Clock = SystemClock()
    assert 1_700_000_000_000 < port.now_ms() < 10_000_000_000_000


def test_secrets_come_from_the_environment_or_from_a_mapping(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPLESS_TEST_KEY", "s3cret")
    given: list[Secrets] = [EnvSecrets(), MemorySecrets({"STEPLESS_TEST_KEY": "s3cret"})]
    for secrets in given:
        assert secrets.get("STEPLESS_TEST_KEY") == "s3cret"
        assert secrets.get("STEPLESS_TEST_NONE") is None
        assert "s3cret" not in repr(secrets)
