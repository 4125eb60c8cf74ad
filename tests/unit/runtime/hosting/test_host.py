"""One process that serves runs: how it learns of them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from stepless.adapters.memory.clock import SettableClock
from stepless.adapters.memory.queue import MemoryQueue
from stepless.adapters.memory.store import MemoryStore
from stepless.adapters.memory.timers import MemoryTimers
from stepless.ports import Signal
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
