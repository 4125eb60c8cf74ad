"""How long a call of the store holds the event loop: `python -m benchmarks.store_calls` (docs/understand/decisions/0003).

The runner calls the store in the thread of its loop. Here every call that it makes there is timed, each method by itself, over
SQLite in its two modes, with and without another process that writes to the same file, and over a table of DynamoDB whose
answers take `ANSWER_MS`. Beside them: what it would cost to make the same call in a thread.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks import shapes, workloads
from benchmarks.engine import BUDGET_MS, Synchronous
from stepless.adapters.sqlite.run_database import SqliteRunDatabase
from stepless.ports import Message
from stepless.runtime.commits import Commits
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.runner import Runner
from stepless.runtime.wiring.local import local

ANSWER_MS = 4.0  # of a table in the same region
Times = dict[str, list[float]]


class Timed:
    """A port each of whose calls is timed, in microseconds; `before_ms` is waited in each."""

    def __init__(self, port: Any, times: Times, before_ms: float = 0) -> None:
        self._port, self._times, self._before_s = port, times, before_ms / 1000

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._port, name)

        def call(*given: Any, **named: Any) -> Any:
            began = time.perf_counter()
            try:
                if self._before_s:
                    time.sleep(self._before_s)
                return method(*given, **named)
            finally:
                self._times[name].append((time.perf_counter() - began) * 1e6)

        return call


def chain_of(nodes: int, path: Path | None, synchronous: Synchronous = "NORMAL", runs: int = 1, answer_ms: float = 0) -> Times:
    """The calls of so many runs of a chain, all at once; those that share a transaction are one call, `together`."""
    times: Times = defaultdict(list)
    built = local(None if path is None else SqliteRunDatabase(path, synchronous=synchronous))
    built.service.publish(workloads.graph(shapes.chain(nodes)))
    store = Timed(built.world.store, times, answer_ms)

    @contextmanager
    def together() -> Iterator[None]:
        began = time.perf_counter()
        with built.world.store.together():  # type: ignore[attr-defined]
            yield
        times["together"].append((time.perf_counter() - began) * 1e6)

    commits = Commits(together if path is not None else None)
    runner = Runner(replace(built.world, store=store, commits=commits))  # type: ignore[arg-type]
    started = [built.service.start("benchmark", {}).run_id for _ in range(runs)]

    async def all_runs() -> None:
        await asyncio.gather(*(runner.run(Message(run_id, "start"), Budget(BUDGET_MS)) for run_id in started))

    began = time.perf_counter()
    asyncio.run(all_runs())
    times["(the whole)"].append((time.perf_counter() - began) * 1e6)
    built.close()
    return times


def in_a_thread(calls: int = 2_000) -> float:
    """Microseconds that a call takes longer when it is made in a thread: the median."""

    async def measured() -> list[float]:
        times = []
        for _ in range(calls):
            began = time.perf_counter()
            await asyncio.to_thread(int)
            times.append((time.perf_counter() - began) * 1e6)
        return times

    return statistics.median(asyncio.run(measured()))


def write_meanwhile(path: str, stop: Any) -> None:
    """Another process that writes to the file, a row of 1 KB in each transaction, 500 times a second."""
    connection = sqlite3.connect(path, timeout=5, isolation_level=None)
    connection.execute("create table if not exists elsewhere (body blob)")
    while not stop.is_set():
        connection.execute("insert into elsewhere values (zeroblob(1024))")
        time.sleep(0.002)


def table(title: str, times: Times) -> None:
    whole = times.pop("(the whole)")[0]
    print(f"\n{title}: {whole / 1000:,.0f} ms in all, {sum(map(sum, times.values())) / whole:.0%} of it in the store")
    print(f"  {'call':<14}{'calls':>7}{'median':>10}{'p99':>10}{'longest':>10}   µs")
    for name, taken in sorted(times.items(), key=lambda entry: -sum(entry[1])):
        taken.sort()
        p99 = taken[min(len(taken) - 1, int(len(taken) * 0.99))]
        print(f"  {name:<14}{len(taken):>7}{statistics.median(taken):>10,.0f}{p99:>10,.0f}{taken[-1]:>10,.0f}")


def main() -> int:
    with tempfile.TemporaryDirectory() as named:
        folder = Path(named)
        table("SQLite NORMAL, a chain of 1,000", chain_of(1_000, folder / "a.db"))
        table("SQLite FULL, a chain of 1,000", chain_of(1_000, folder / "b.db", "FULL"))
        table("SQLite NORMAL, 50 chains of 20 at once", chain_of(20, folder / "c.db", runs=50))
        stop = multiprocessing.Event()
        local(folder / "d.db").close()
        other = multiprocessing.Process(target=write_meanwhile, args=(str(folder / "d.db"), stop))
        other.start()
        try:
            table("SQLite NORMAL, a chain of 1,000, another process writes", chain_of(1_000, folder / "d.db"))
        finally:
            stop.set()
            other.join()
    table(f"a table that answers in {ANSWER_MS:.0f} ms, a chain of 20", chain_of(20, None, answer_ms=ANSWER_MS))
    table(f"a table that answers in {ANSWER_MS:.0f} ms, 8 chains of 20 at once", chain_of(20, None, runs=8, answer_ms=ANSWER_MS))
    print(f"\na call in a thread: {in_a_thread():,.0f} µs more")
    return 0


if __name__ == "__main__":
    sys.exit(main())
