"""One process that serves runs: how it learns of them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from stepless.adapters.memory.clock import SettableClock
from stepless.adapters.memory.queue import MemoryQueue
from stepless.adapters.memory.store import MemoryStore
from stepless.adapters.memory.timers import MemoryTimers
from stepless.ports import Message, Signal
from stepless.runtime.hosting.host import Host
from stepless.runtime.service import Service
from stepless.runtime.session.runner import Runner
from stepless.runtime.versions import Versions
from stepless.runtime.wiring.local import local

WAIT_S = 20.0
HOUR_MS = 3_600_000


class Broken(MemoryStore):
    """Its inboxes have a bug."""

    def read_inbox(self, *_: object, **__: object) -> Sequence[Signal]:
        raise ZeroDivisionError("a bug")


def hosted(pace: SettableClock, clock: SettableClock, store: MemoryStore) -> tuple[Host, Service]:
    built = local(None)
    queue, timers = MemoryQueue(pace), MemoryTimers()
    world = replace(built.world, clock=clock, queue=queue, timers=timers, store=store,
                    versions=Versions(store, built.world.kinds))  # fmt: skip
    host = Host(world, Runner(world), queue, timers, budget_ms=60_000, pace=pace)
    return host, Service(world, built.service.signer)


async def served_once(host: Host) -> None:
    """Until one invocation has ended."""
    ended = asyncio.Event()
    host.on_ending = lambda run_id: ended.set()
    server = asyncio.create_task(host.serve())
    async with asyncio.timeout(WAIT_S):
        await ended.wait()
    await host.stop()
    await server


def start(service: Service) -> str:
    service.publish({"id": "small", "nodes": {"a": {"type": "transform", "with": {"value": 1}}}})
    return service.start("small", {}).run_id


def test_a_clock_that_is_set_back_delays_no_hint() -> None:
    clock = SettableClock(2 * HOUR_MS)
    host, service = hosted(SettableClock(10 * HOUR_MS), clock, MemoryStore())
    run_id = start(service)
    clock.set(HOUR_MS)
    asyncio.run(served_once(host))
    assert service.run(run_id).status == "completed"


def test_a_bug_ends_the_invocation_and_is_told_to_whoever_waits_for_the_run() -> None:
    host, service = hosted(SettableClock(HOUR_MS), SettableClock(HOUR_MS), Broken())
    run_id = start(service)
    asyncio.run(served_once(host))
    assert "ZeroDivisionError: a bug" in str(host.faults[run_id])
    assert service.run(run_id).status == "created"


def test_a_wait_that_began_while_the_clock_was_ahead_ends_after_its_length() -> None:
    """The clock is set three days ahead and back again. The wait of ten minutes ends ten minutes later, not in three days."""
    clock = SettableClock(HOUR_MS + 72 * HOUR_MS)
    host, service = hosted(SettableClock(HOUR_MS), clock, MemoryStore())
    service.publish({"id": "small", "nodes": {"w": {"type": "wait", "with": {"for": "10m"}}}})
    run_id = service.start("small", {}).run_id

    async def play() -> None:
        ended = asyncio.Event()
        host.on_ending = lambda _: ended.set()
        server = asyncio.create_task(host.serve())
        async with asyncio.timeout(WAIT_S):
            await ended.wait()
            ended.clear()
            clock.set(HOUR_MS)
            host.wake()
            await ended.wait()
            ended.clear()
            head = service.world.store.get_run(run_id)
            assert head is not None and head.due_ms == HOUR_MS + 600_000
            clock.set(HOUR_MS + 600_000)
            host.wake()
            await ended.wait()
        await host.stop()
        await server

    asyncio.run(play())
    assert service.run(run_id).status == "completed"


def test_a_timer_that_is_due_does_not_wait_behind_thousands_of_new_runs() -> None:
    clock = SettableClock(HOUR_MS)
    host, service = hosted(SettableClock(HOUR_MS), clock, MemoryStore())
    world, taken = service.world, list[str]()
    for number in range(5_000):
        world.queue.send(Message(f"new{number}", "start"))
    world.timers.arm("due", HOUR_MS - 1)
    host.serves = lambda run_id: taken.append(run_id) is not None

    async def play() -> None:
        server = asyncio.create_task(host.serve())
        for _ in range(1_000):
            if taken:
                break
            await asyncio.sleep(0)
        await host.stop()
        await server

    asyncio.run(play())
    assert taken[0] == "due"
