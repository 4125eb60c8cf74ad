"""The adapters that the contract suites hold for. Another one joins with one line in a table below."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Timer
from typing import Any

import pytest

from stepless.adapters.memory.blobs import MemoryBlobs
from stepless.adapters.memory.store import MemoryStore
from stepless.adapters.sqlite.blobs import SqliteBlobs
from stepless.adapters.sqlite.database import Database
from stepless.adapters.sqlite.store import SqliteStore
from stepless.ports import Blobs, Store

ENGINE = Path(__file__).parents[2] / "engine"
CHILD_SECONDS = 60  # then a child process is killed, its pipe ends, and the test that waits for it fails

STORES: dict[str, Callable[[Path], Store]] = {
    "memory": lambda folder: MemoryStore(),
    "sqlite": lambda folder: SqliteStore(folder / "store.db"),
    "sqlite-full": lambda folder: SqliteStore(folder / "store.db", synchronous="FULL"),
}
BLOBS: dict[str, Callable[[Path], Blobs]] = {
    "memory": lambda folder: MemoryBlobs(),
    "sqlite": lambda folder: SqliteBlobs(Database(folder / "store.db")),
}


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made: Any = STORES[request.param](tmp_path)
    yield made
    if hasattr(made, "close"):
        made.close()


@pytest.fixture(params=BLOBS)
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Blobs]:
    made: Any = BLOBS[request.param](tmp_path)
    yield made
    if hasattr(made, "close"):
        made.close()


@pytest.fixture
def race() -> Callable[..., list[Any]]:
    """`race(call, n=20)`: n threads call `call(i)` at the same moment; their answers, or the errors that they raised."""

    def run(call: Callable[[int], Any], n: int = 20) -> list[Any]:
        start = Barrier(n)

        def one(i: int) -> Any:
            start.wait(30)
            try:
                return call(i)
            except Exception as error:
                return error

        with ThreadPoolExecutor(n) as threads:
            return list(threads.map(one, range(n)))

    return run


@pytest.fixture
def spawn() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """`spawn(source, *arguments)`: a Python process that knows the engine, with pipes; it ends with the test at the latest."""
    children: list[tuple[subprocess.Popen[str], Timer]] = []

    def start(source: str, *arguments: object) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [sys.executable, "-c", source, *map(str, arguments)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env={"PYTHONPATH": str(ENGINE)},
        )
        timer = Timer(CHILD_SECONDS, child.kill)
        timer.start()
        children.append((child, timer))
        return child

    yield start
    for child, timer in children:
        timer.cancel()
        child.kill()
        child.communicate()
