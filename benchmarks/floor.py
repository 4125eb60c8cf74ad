"""The floor: the cost of the same work without an engine, in plain asyncio, and with one SQLite commit per node.

A counter per node, one task per ready node. The durable floors commit each node's result before its successors start.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from benchmarks.shapes import Parents

Task = Callable[[int], Awaitable[str]]


class Journal:
    """One row per finished node, one commit per row."""

    def __init__(self, path: Path, synchronous: str) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, cached_statements=256)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute(f"PRAGMA synchronous={synchronous}")
        self._connection.execute("CREATE TABLE node (run TEXT, node INT, output TEXT, PRIMARY KEY (run, node)) WITHOUT ROWID")

    def commit(self, run: str, node: int, output: str) -> None:
        self._connection.execute("INSERT INTO node VALUES (?, ?, ?)", (run, node, output))

    def outputs(self, run: str) -> dict[int, str]:
        return dict(self._connection.execute("SELECT node, output FROM node WHERE run = ?", (run,)))

    def close(self) -> None:
        self._connection.close()


async def task(node: int) -> str:
    return f"n{node}"


async def nap(node: int) -> str:
    await asyncio.sleep(0.1)
    return f"n{node}"


async def run(parents: Parents, journal: Journal | None = None, name: str = "run", inner: Task = task) -> int:
    """Runs a DAG; returns how many nodes ran. `inner` is the work of those that have both parents and children."""
    missing = [len(above) for above in parents]
    below: list[list[int]] = [[] for _ in parents]
    for node, above in enumerate(parents):
        for parent in above:
            below[parent].append(node)
    done: list[tuple[int, str]] = []
    wake = asyncio.Event()

    async def work(node: int) -> None:
        call = inner if parents[node] and below[node] else task
        done.append((node, await call(node)))
        wake.set()

    finished = 0
    async with asyncio.TaskGroup() as group:
        for node in _ready(missing):
            group.create_task(work(node))
        while finished < len(parents):
            await wake.wait()
            wake.clear()
            batch, done[:] = done[:], []
            for node, output in batch:
                if journal is not None:
                    journal.commit(name, node, output)
                for target in below[node]:
                    missing[target] -= 1
                    if not missing[target]:
                        group.create_task(work(target))
            finished += len(batch)
    return finished


async def loop(turns: int, journal: Journal | None = None, name: str = "run") -> int:
    """Three tasks in a row, a number of times."""
    for number in range(3 * turns):
        output = await asyncio.get_running_loop().create_task(task(number))
        if journal is not None:
            journal.commit(name, number, output)
    return 3 * turns


async def many(runs: int, at_once: int, journal: Journal | None = None, name: str = "run") -> int:
    """Runs of a chain of three, a number of them at once."""
    gate = asyncio.Semaphore(at_once)
    chain: Parents = [[], [0], [1]]

    async def one(number: int) -> int:
        async with gate:
            return await run(chain, journal, f"{name}-{number}")

    return sum(await asyncio.gather(*(one(number) for number in range(runs))))


async def resumed(journal: Journal | None = None, name: str = "run") -> None:
    """The work after a decision: read the stored outputs, store the decision, do one task."""
    if journal is not None and 0 not in journal.outputs(name):
        raise RuntimeError(f"{name} was never paused")
    for node in (1, 2):
        output = await task(node)
        if journal is not None:
            journal.commit(name, node, output)


def _ready(missing: Sequence[int]) -> list[int]:
    return [node for node, count in enumerate(missing) if not count]
