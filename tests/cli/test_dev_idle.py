"""What `stepless dev` does while nothing happens, counted on a loop whose time passes at once: no measured time, so no other load
of the machine changes the result."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from idle_loop import IdleLoop

from stepless.adapters.memory.queue import MemoryQueue
from stepless.adapters.memory.timers import MemoryTimers
from stepless.cli.dev.folder import Folder
from stepless.cli.dev.modules import Modules
from stepless.cli.dev.server import listen, serve
from stepless.limits import LOCAL_SWEEP_MS, WATCH_MS
from stepless.ports import Store
from stepless.runtime.hosting.host import Host
from stepless.runtime.service import Service
from stepless.runtime.session.runner import Runner
from stepless.runtime.triggers.schedule_firing import Schedules
from stepless.runtime.wiring.local import Local, local

Write = Callable[[str, str], str]

IDLE_MS = 600_000
TURNS = 2_000  # of the loop, until every run waits
NAP = """
id: nap
nodes:
  start: {type: manual}
  nap: {type: wait, after: start, with: {for: 2d}}
"""


class Asked:
    """A store that counts the calls of each of its methods."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.count: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        self.count[name] += 1
        return getattr(self._store, name)


@pytest.fixture
def loop() -> Iterator[IdleLoop]:
    made = IdleLoop()
    yield made
    made.close()


@pytest.fixture
def built(loop: IdleLoop, tmp_path: Path) -> Iterator[Local]:
    """The engine of `stepless dev` over a file, on the clock of the loop."""
    usual = local(tmp_path / "dev.db")
    queue, timers = MemoryQueue(loop), MemoryTimers()
    store: Any = Asked(usual.world.store)
    world = replace(usual.world, clock=loop, queue=queue, timers=timers, store=store)
    runner = Runner(world)
    host = Host(world, runner, queue, timers, budget_ms=60_000, pace=loop)
    service = Service(world, usual.service.signer)
    yield Local(world, service, runner, host, 0, usual.invitations, Schedules(world), usual.files)
    usual.close()


async def idle(loop: IdleLoop, built: Local, folder: Path, every_ms: int | None) -> tuple[int, Counter[str]]:
    """Serves ten workflows with twenty runs that wait. Returns how often the process woke up in IDLE_MS, and what it asked the
    store for. With `every_ms`, something beside the server polls the store."""
    watched = Folder(folder, Modules(folder, None), built.service, 30)
    watched.publish_all()
    arguments = argparse.Namespace(
        folder=str(folder), db=str(folder / "dev.db"), host="127.0.0.1", port=0, port_file=None, open=False, allow_host=[]
    )
    server = asyncio.create_task(serve(built, watched, listen("127.0.0.1", 0), arguments))
    runs = [built.service.start(f"nap{number % 10}", {}).run_id for number in range(20)]
    for _ in range(TURNS):
        await asyncio.sleep(0)
    assert {built.service.overview(run_id).status for run_id in runs} == {"paused"}
    asked: Any = built.world.store
    poller = asyncio.create_task(polling(loop, asked, every_ms)) if every_ms else None
    asked.count.clear()
    began, woken = loop.now_ms(), loop.idle.wakes
    await loop.passed(IDLE_MS)
    assert loop.now_ms() - began == IDLE_MS
    counted = loop.idle.wakes - woken, asked.count.copy()
    if poller is not None:
        poller.cancel()
    os.kill(os.getpid(), signal.SIGTERM)
    assert await server == 0
    return counted


async def polling(loop: IdleLoop, store: Store, every_ms: int) -> None:
    while True:
        store.list_due(0, limit=1)
        await loop.passed(every_ms)


@pytest.fixture
def naps(write: Write) -> None:
    for number in range(10):
        write(f"nap{number}.yaml", NAP.replace("id: nap", f"id: nap{number}"))


SWEEPS = IDLE_MS // LOCAL_SWEEP_MS + 1
WAKES = IDLE_MS // WATCH_MS + SWEEPS


def test_an_idle_server_wakes_for_its_files_and_its_sweep_and_reads_no_run(
    loop: IdleLoop, built: Local, tmp_path: Path, naps: None
) -> None:
    woken, asked = loop.run_until_complete(idle(loop, built, tmp_path, None))
    assert IDLE_MS // LOCAL_SWEEP_MS <= woken <= WAKES
    assert {method for method, count in asked.items() if count > SWEEPS} == set()
    assert set(asked) <= {"check", "list_due", "list_expired", "overwrite_removed", "list_entries"}


def test_a_poll_five_times_a_second_is_seen(loop: IdleLoop, built: Local, tmp_path: Path, naps: None) -> None:
    woken, asked = loop.run_until_complete(idle(loop, built, tmp_path, 200))
    assert woken > WAKES and asked["list_due"] > SWEEPS
