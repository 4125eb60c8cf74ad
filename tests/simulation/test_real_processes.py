"""Real processes instead of a simulation, over one SQLite file: killed with SIGKILL, two at once, on a full disk, with a clock
that is set back. STEPLESS_KILLS says how often to kill (`make simulate-kills`)."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from real_runner import DOCUMENT, LIVES, RUNS, all_ended, answer, begin, serve_until, served

from stepless.adapters.memory.queue import MemoryQueue
from stepless.adapters.memory.secrets import MemorySecrets
from stepless.adapters.memory.timers import MemoryTimers
from stepless.adapters.sqlite.blobs import SqliteBlobs
from stepless.adapters.sqlite.run_database import in_file
from stepless.adapters.sqlite.store import SqliteStore
from stepless.adapters.system import EnvSecrets, SystemClock
from stepless.core.events import NODE_ENDS, RUN_ENDS, Event, EventType
from stepless.core.stored.codec import decode_batch
from stepless.errors import StoreUnavailable
from stepless.nodes import KIND_CODE, KINDS
from stepless.ports import RunFilter
from stepless.runtime.access.tokens import Key, Signer
from stepless.runtime.hosting.host import Host
from stepless.runtime.service import Service
from stepless.runtime.session.runner import Runner
from stepless.runtime.versions import Versions
from stepless.runtime.wiring.local import Local, assemble
from stepless.runtime.world import World

KILLS = int(os.environ.get("STEPLESS_KILLS", "36"))
SCRIPT = Path(__file__).with_name("real_runner.py")
INSTANCES = 1 + 6 + 4 + 1


@pytest.fixture
def file(tmp_path: Path) -> str:
    return str(tmp_path / "runs.db")


def run_script(*arguments: str) -> None:
    done = subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-4_000:]


def lines(path: str) -> Iterator[list[str]]:
    if Path(path).exists():
        yield from (json.loads(line) for line in Path(path).read_text().splitlines())


def check(file: str, runs: int) -> int:
    """Checks every invariant that is visible from outside; returns how often work was repeated."""
    store = SqliteStore(file)
    heads = store.list_runs(RunFilter(), limit=100).items
    logs: dict[str, list[Event]] = {}
    for head in heads:
        batches = store.read_log(head.run_id)
        assert [batch.first for batch in batches] == [1, *(batch.last + 1 for batch in batches[:-1])]
        logs[head.run_id] = events = [event for batch in batches for event in decode_batch(batch.data, batch.first)]
        assert [event.type in RUN_ENDS for event in events] == [False] * (len(events) - 1) + [True]
        assert (head.status, head.sequence, head.owner, head.due_ms) == ("completed", len(events), None, None)
        ended = Counter(event.instance for event in events if event.type in NODE_ENDS)
        assert max(ended.values()) == 1
    store.close()
    assert len(heads) == runs
    check_answers(file, logs)
    return check_effects(file, logs)


def check_answers(file: str, logs: dict[str, list[Event]]) -> None:
    """Every acknowledged decision is in the log, and every pause continued once."""
    resumed = {(run, e.instance): e.data["handle"] for run, log in logs.items() for e in log if e.type is EventType.NODE_RESUMED}
    for events in logs.values():
        assert max(Counter(event.instance for event in events if event.type is EventType.NODE_RESUMED).values()) == 1
    for run_id, pause, handle in lines(f"{file}.answers"):
        assert resumed[run_id, pause] == handle


def check_effects(file: str, logs: dict[str, list[Event]]) -> int:
    """Work was done at least once, never before its commit or after its end, and again only after it was interrupted."""
    done: Counter[tuple[str, str]] = Counter()
    for run_id, instance, token, fault in lines(f"{file}.effects"):
        assert token == f"{run_id}:{instance}"
        assert not fault, f"{instance} of {run_id} had its effect {fault}"
        done[run_id, instance] += 1
    assert len(done) == len(logs) * INSTANCES
    for run_id, events in logs.items():
        cut = Counter(i for event in events if event.type is EventType.RUN_RECOVERED for i in event.data["instances"])
        assert all(times <= 1 + cut[instance] for (run, instance), times in done.items() if run == run_id)
    return sum(done.values()) - len(done)


@pytest.mark.parametrize("seed", range(max(1, KILLS // LIVES)))
def test_a_process_that_is_killed_at_any_instant_loses_nothing_and_commits_nothing_twice(seed: int, file: str) -> None:
    run_script("kill", file, str(seed), str(LIVES))
    check(file, RUNS)


def test_two_processes_on_one_file_run_each_others_runs_and_repeat_nothing(file: str) -> None:
    run_script("pair", file, "1")
    assert check(file, 2 * RUNS) == 0


def test_a_full_disk_stops_the_runs_and_room_lets_them_go_on(file: str) -> None:
    store = SqliteStore(file)
    engine = assemble(in_file(store), 60_000, EnvSecrets())
    served(file, store)
    begin(engine.service, "full")
    (pages,) = store.database.row("PRAGMA page_count")
    store.database.rows(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreUnavailable):
        for number in range(1_000):
            engine.service.start("real", {"ballast": "x" * 2_000}, key=f"more{number}")
    begun = len(engine.service.search(RunFilter(), limit=1_000).items)
    met = asyncio.run(cramped(engine, file, store))
    store.close()
    assert met
    assert check(file, begun) >= 0


async def cramped(engine: Local, file: str, store: SqliteStore) -> bool:
    """Serves on the full disk for a while, then frees space and serves to the end; returns whether a write was refused."""
    looks = 0

    def meanwhile() -> None:
        nonlocal looks
        looks += 1
        if looks == 10:
            store.database.rows("PRAGMA max_page_count = 1000000")
        elif looks > 10:
            answer(engine.service, file, Random(0), RUNS)

    await serve_until(engine.host, lambda: looks > 10 and all_ended(engine.service), meanwhile)
    return looks > 10


class SteppedClock(SystemClock):
    """The system's clock, which a test can set."""

    def __init__(self) -> None:
        self.back_ms = 0

    def now_ms(self) -> int:
        return super().now_ms() - self.back_ms


def test_a_clock_that_is_set_back_costs_the_time_that_it_is_set_back_by_and_nothing_else(file: str) -> None:
    store, clock = SqliteStore(file), SteppedClock()
    queue, timers = MemoryQueue(clock), MemoryTimers()
    world = World(store, queue, timers, SqliteBlobs(store.database), clock, MemorySecrets(), KINDS, Versions(store, KINDS),
                  KIND_CODE)  # fmt: skip
    runner = Runner(world)
    host = Host(world, runner, queue, timers, budget_ms=60_000)
    service = Service(world, Signer([Key("k", b"key")]))
    served(file, store)
    nodes = {name: node for name, node in DOCUMENT["nodes"].items() if name in ("a", "l", "p")}  # type: ignore[attr-defined]
    service.publish({"id": "real", "nodes": nodes})
    for _ in range(4):
        service.start("real", {})

    def meanwhile() -> None:
        clock.back_ms = 1_500

    asyncio.run(serve_until(host, lambda: all_ended(service), meanwhile))
    assert {head.status for head in service.search(RunFilter()).items} == {"completed"}
    store.close()
