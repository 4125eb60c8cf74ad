"""The floor: what the same work costs without any engine, in plain asyncio, and with one SQLite commit per node.

A counter per node, one task per ready node. The durable floors commit each node's result before its successors start.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from benchmarks.workloads import Parents


class Journal:
    """One row per finished node, one commit per row."""

    def __init__(self, path: Path, synchronous: str) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, cached_statements=256)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute(f"PRAGMA synchronous={synchronous}")
        self._connection.execute("CREATE TABLE node (run TEXT, node INT, output TEXT, PRIMARY KEY (run, node)) WITHOUT ROWID")

    def commit(self, run: str, node: int, output: str) -> None:
        self._connection.execute("INSERT INTO node VALUES (?, ?, ?)", (run, node, output))

    def close(self) -> None:
        self._connection.close()


async def task(node: int) -> str:
    return f"n{node}"


async def run(parents: Parents, journal: Journal | None = None, name: str = "run") -> int:
    """Runs a DAG; answers how many nodes ran."""
    missing = [len(above) for above in parents]
    below: list[list[int]] = [[] for _ in parents]
    for node, above in enumerate(parents):
        for parent in above:
            below[parent].append(node)
    done: list[tuple[int, str]] = []
    wake = asyncio.Event()

    async def work(node: int) -> None:
        done.append((node, await task(node)))
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


def _ready(missing: Sequence[int]) -> list[int]:
    return [node for node, count in enumerate(missing) if not count]
