"""DBOS over SQLite, its default. It has no graphs: a workflow is code, and every node is a step of it.

A DAG is executed wave by wave, since steps must be called in the same order in each replay of a workflow.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

from dbos import DBOS, DBOSConfig

from benchmarks.peers.protocol import Factory, Once, gathered, serve, timed
from benchmarks.shapes import layered

PAUSE_S = 0.3  # until a run waits for its answer


@DBOS.step()
async def step(node: int) -> int:
    return node


@DBOS.step()
async def nap(node: int) -> int:
    await asyncio.sleep(0.1)
    return node


@DBOS.workflow()
async def in_a_row(nodes: int) -> int:
    for node in range(nodes):
        await step(node)
    return nodes


@DBOS.workflow()
async def fan(n: int) -> int:
    await step(0)
    done = await asyncio.gather(*(step(node) for node in range(1, n + 1)))
    await step(n + 1)
    return len(done) + 2


@DBOS.workflow()
async def naps(n: int) -> int:
    await step(0)
    done = await asyncio.gather(*(nap(node) for node in range(1, n + 1)))
    await step(n + 1)
    return len(done) + 2


@cache
def waves(n: int) -> list[list[int]]:
    """Nodes by depth: those of one wave do not depend on each other."""
    depth: list[int] = []
    for above in layered(n):
        depth.append(1 + max((depth[parent] for parent in above), default=-1))
    made: list[list[int]] = [[] for _ in range(max(depth) + 1)]
    for node, level in enumerate(depth):
        made[level].append(node)
    return made


@DBOS.workflow()
async def dag(n: int) -> int:
    done = 0
    for wave in waves(n):
        done += len(await asyncio.gather(*(step(node) for node in wave)))
    return done


@DBOS.workflow()
async def approval(n: int) -> str:
    await step(0)
    answer = await DBOS.recv_async("answer", timeout_seconds=60)
    await step(1)
    return str(answer)


@asynccontextmanager
async def launched() -> AsyncIterator[None]:
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/steps.db"
        config = DBOSConfig(name="benchmark", system_database_url=url, log_level="ERROR", run_admin_server=False)
        DBOS(config=config)
        DBOS.launch()
        try:
            yield
        finally:
            DBOS.destroy()


async def whole(workflow: Callable[[int], Awaitable[int]], n: int, expected: int) -> None:
    handle: Any = await DBOS.start_workflow_async(workflow, n)
    done = await handle.get_result()
    if done != expected:
        raise RuntimeError(f"{done} of {expected} nodes ran")


def one_run(workflow: Callable[[int], Awaitable[int]], given: Callable[[int], int], nodes: Callable[[int], int]) -> Factory:
    @asynccontextmanager
    async def factory(variant: str, n: int) -> AsyncIterator[Once]:
        async with launched():
            yield lambda: timed(whole(workflow, given(n), nodes(n)))

    return factory


@asynccontextmanager
async def throughput(variant: str, n: int) -> AsyncIterator[Once]:
    async with launched():
        yield lambda: timed(gathered(n, lambda: whole(in_a_row, 3, 3)))


@asynccontextmanager
async def resumed(variant: str, n: int) -> AsyncIterator[Once]:
    async with launched():

        async def once() -> float:
            handle: Any = await DBOS.start_workflow_async(approval, 1)
            await asyncio.sleep(PAUSE_S)

            async def answered() -> None:
                await DBOS.send_async(handle.workflow_id, "yes", "answer")
                await handle.get_result()

            return await timed(answered())

        yield once


def same(n: int) -> int:
    return n


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    serve(
        "dbos",
        {
            "W1": one_run(in_a_row, same, same),
            "W2": one_run(fan, same, lambda n: n + 2),
            "W3": one_run(naps, same, lambda n: n + 2),
            "W4": one_run(dag, same, lambda n: len(layered(n))),
            "W5": one_run(in_a_row, lambda n: 3 * n, lambda n: 3 * n),
            "W6 latency": one_run(in_a_row, same, same),
            "W6 throughput": throughput,
            "W7": resumed,
        },
    )
