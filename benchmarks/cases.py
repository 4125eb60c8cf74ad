"""W1 to W7, each on the engine's stores and the floors, in turn, in one process.

    python -m benchmarks.cases W1 1000 5 10      prints one line of JSON per variant
"""

from __future__ import annotations

import asyncio
import itertools
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import floor, shapes, workloads
from benchmarks.engine import Engine, Synchronous, timed
from benchmarks.floor import Journal
from benchmarks.sample import Once, Sample, interleaved
from benchmarks.shapes import Parents
from benchmarks.workloads import Document

AT_ONCE = 50
Bare = Callable[[Journal | None, str], Any]  # the floor of a case, called with the store and the run's id


@dataclass(frozen=True)
class Case:
    """A workload at one size: the document, the same work without an engine, and the number of units of one repetition."""

    document: Document
    bare: Bare
    units: int
    ours: Callable[[Engine], float] = Engine.run_once
    before: Bare | None = None  # what the floor does before it is timed


def _dag(parents: Parents) -> Case:
    return Case(workloads.graph(parents), lambda journal, name: floor.run(parents, journal, name), len(parents))


def _naps(n: int) -> Case:
    parents = shapes.fan(n)
    document = workloads.graph(parents, inner="benchmark.nap")
    return Case(document, lambda journal, name: floor.run(parents, journal, name, floor.nap), 1)


def _loop(turns: int) -> Case:
    return Case(workloads.loop(turns), lambda journal, name: floor.loop(turns, journal, name), 3 * turns)


def _many(runs: int) -> Case:
    document = workloads.graph(shapes.chain(3))
    return Case(
        document, lambda journal, name: floor.many(runs, AT_ONCE, journal, name), runs, lambda e: e.run_many(runs, AT_ONCE)
    )


def _resume(_: int) -> Case:
    async def pause(journal: Journal | None, name: str) -> None:
        if journal is not None:
            journal.commit(name, 0, "n0")

    return Case(workloads.approval(), floor.resumed, 1, Engine.resume_once, pause)


CASES: Mapping[str, Callable[[int], Case]] = {
    "W1": lambda n: _dag(shapes.chain(n)),
    "W2": lambda n: _dag(shapes.fan(n)),
    "W3": _naps,
    "W4": lambda n: _dag(shapes.layered(n)),
    "W5": _loop,
    "W6 latency": lambda _: _dag(shapes.chain(3)),
    "W6 throughput": _many,
    "W7": _resume,
}
SIZES: Mapping[str, int] = {
    "W1": 1_000, "W2": 1_000, "W3": 50, "W4": 1_000, "W5": 333, "W6 latency": 3, "W6 throughput": 500, "W7": 1,
}  # fmt: skip
REPEAT: Mapping[str, int] = {"W6 latency": 60, "W7": 60}
PROCESSES: Mapping[str, int] = {"W3": 3}  # one process may run on a slower processor the whole time, and W3 is short


def measure(name: str, n: int, repeat: int, seconds: float) -> list[Sample]:
    """All variants of a case."""
    case = CASES[name](n)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))

        def both(synchronous: Synchronous) -> dict[str, Once]:
            journal = Journal(folder / f"floor-{synchronous}.db", synchronous)
            engine = Engine(case.document, folder / f"{synchronous}.db", synchronous)
            stack.callback(journal.close)
            stack.callback(engine.close)
            bare = partial(run_bare, case, journal, itertools.count())
            return {f"floor, SQLite {synchronous}": bare, f"SQLite {synchronous}": partial(case.ours, engine)}

        memory = Engine(case.document)
        variants: dict[str, Once] = {
            "floor": partial(run_bare, case, None, itertools.count()),
            "memory": partial(case.ours, memory),
            **both("NORMAL"),
        }
        measured = interleaved(name, n, case.units, variants, repeat, seconds)
        return measured + interleaved(name, n, case.units, both("FULL"), repeat, seconds / 2, warm=False)


def run_bare(case: Case, journal: Journal | None, runs: itertools.count[int]) -> float:
    async def whole() -> float:
        name = f"run-{next(runs)}"
        if case.before is not None:
            await case.before(journal, name)
        return await timed(case.bare(journal, name))

    return asyncio.run(whole())


def main() -> int:
    name, n, repeat, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    for sample in measure(name, n, repeat, seconds):
        print(sample.line(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
