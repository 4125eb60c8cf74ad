"""How an adapter of a peer is called, and what it prints: one line of JSON for one case.

    python -m benchmarks.peers.run_dbos default W1 1000 5 10      variant, case, n, repetitions, seconds

Runs in the peer's environment: only the standard library and `benchmarks.sample` may be imported here.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager

from benchmarks.sample import Sample

AT_ONCE = 50
Once = Callable[[], Awaitable[float]]  # one repetition; returns its seconds
Factory = Callable[[str, int], AbstractAsyncContextManager[Once]]  # variant and n
PER_RUN = {"W3", "W6 throughput", "W7"}  # the cases that are divided by runs; all others are divided by nodes


async def timed(work: Awaitable[object]) -> float:
    before = time.perf_counter()
    await work
    return time.perf_counter() - before


async def gathered(runs: int, one: Callable[[], Awaitable[object]]) -> None:
    """A number of runs, AT_ONCE of them concurrently."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def gated() -> None:
        async with gate:
            await one()

    await asyncio.gather(*(gated() for _ in range(runs)))


def units(case: str, n: int) -> int:
    """What a repetition is divided by, the same as for this project's engine."""
    if case in PER_RUN:
        return n if case == "W6 throughput" else 1
    return {"W2": n + 2, "W5": 3 * n}.get(case, n)


def serve(peer: str, cases: Mapping[str, Factory]) -> None:
    """Measures the case on the command line, and exits without waiting for remaining threads of the peer."""
    variant, case, n, repeat, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5])
    label = peer if variant == "default" else f"{peer}, {variant}"
    sample = Sample(case, label, n, units(case, n))
    if case in cases:
        asyncio.run(_measure(sample, cases[case](variant, n), repeat, seconds))
    else:
        sample.error = "no adapter for this workload"
    print(sample.line(), flush=True)
    os._exit(0)


async def _measure(sample: Sample, opened: AbstractAsyncContextManager[Once], repeat: int, seconds: float) -> None:
    async with opened as once:
        until = time.perf_counter() + seconds
        if sample.n < 100:
            await once()  # warms up; a long run does so by itself
        while len(sample.wall) < repeat and (not sample.wall or time.perf_counter() < until):
            cpu = time.process_time()
            sample.wall.append(await once())
            sample.cpu.append(time.process_time() - cpu)
