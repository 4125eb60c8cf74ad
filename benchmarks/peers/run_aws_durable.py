"""The SDK of Lambda durable functions, with its local runner instead of the service: the time of the service itself and of the
network is not in these figures.

Variants name where the local runner stores its checkpoints: `memory` or `sqlite`. A DAG is executed wave by wave.
"""

from __future__ import annotations

import asyncio
import json
import logging
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from aws_durable_execution_sdk_python import DurableContext, durable_execution
from aws_durable_execution_sdk_python.config import MapConfig
from aws_durable_execution_sdk_python_testing import DurableFunctionTestRunner
from aws_durable_execution_sdk_python_testing.stores.sqlite import SQLiteExecutionStore

from benchmarks.peers.protocol import Factory, Once, gathered, serve, timed
from benchmarks.shapes import layered

POLL_S = 0.005
TIMEOUT_S = 120
PAUSE_S = 0.1
ALL_AT_ONCE = MapConfig(max_concurrency=None)


def step(context: Any) -> int:
    return 1


def nap(context: Any) -> int:
    time.sleep(0.1)
    return 1


def side_by_side(context: DurableContext, nodes: int, work: Callable[[Any], int]) -> int:
    done = context.map(list(range(nodes)), lambda child, item, index, items: child.step(work), config=ALL_AT_ONCE)
    return len(done.get_results())


def in_a_row(nodes: int) -> Any:
    @durable_execution
    def handler(event: Any, context: DurableContext) -> int:
        return sum(context.step(step) for _ in range(nodes))

    return handler


def fan(n: int, work: Callable[[Any], int] = step) -> Any:
    @durable_execution
    def handler(event: Any, context: DurableContext) -> int:
        return context.step(step) + side_by_side(context, n, work) + context.step(step)

    return handler


def dag(n: int) -> Any:
    depth: list[int] = []
    for above in layered(n):
        depth.append(1 + max((depth[parent] for parent in above), default=-1))
    waves = [depth.count(level) for level in range(max(depth) + 1)]

    @durable_execution
    def handler(event: Any, context: DurableContext) -> int:
        return sum(side_by_side(context, wave, step) for wave in waves)

    return handler


@durable_execution
def approval(event: Any, context: DurableContext) -> int:
    context.step(step)
    context.wait_for_callback(lambda callback, context: None, name="answer")
    context.step(step)
    return 3


@asynccontextmanager
async def runner(variant: str, handler: Any) -> AsyncIterator[Any]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # the runner still writes after it was closed
        store = SQLiteExecutionStore.create_and_initialize(f"{folder}/steps.db") if variant == "sqlite" else None
        made = DurableFunctionTestRunner(handler=handler, poll_interval=POLL_S, execution_timeout=TIMEOUT_S, store=store)
        try:
            yield made
        finally:
            made.close()


def checked(result: Any, expected: int) -> None:
    if json.loads(result.result or "null") != expected:
        raise RuntimeError(f"{result.status}: {result.result}, {result.error}")


async def whole(made: Any, expected: int) -> None:
    name = uuid.uuid4().hex
    result = await asyncio.to_thread(partial(made.run, input='""', execution_name=name, execution_timeout=TIMEOUT_S))
    checked(result, expected)


def one_run(build: Callable[[int], Any], nodes: Callable[[int], int]) -> Factory:
    @asynccontextmanager
    async def factory(variant: str, n: int) -> AsyncIterator[Once]:
        async with runner(variant, build(n)) as made:
            yield lambda: timed(whole(made, nodes(n)))

    return factory


@asynccontextmanager
async def throughput(variant: str, n: int) -> AsyncIterator[Once]:
    async with runner(variant, in_a_row(3)) as made:
        yield lambda: timed(gathered(n, lambda: whole(made, 3)))


@asynccontextmanager
async def resumed(variant: str, n: int) -> AsyncIterator[Once]:
    async with runner(variant, approval) as made:

        async def once() -> float:
            execution = made.run_async(input='""', execution_name=uuid.uuid4().hex)
            callback = made.wait_for_callback(execution, timeout=TIMEOUT_S)
            await asyncio.sleep(PAUSE_S)

            async def answered() -> None:
                made.send_callback_success(callback, b'"yes"')
                checked(await asyncio.to_thread(made.wait_for_result, execution, TIMEOUT_S), 3)

            return await timed(answered())

        yield once


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    serve(
        "aws-durable",
        {
            "W1": one_run(in_a_row, lambda n: n),
            "W2": one_run(fan, lambda n: n + 2),
            "W3": one_run(lambda n: fan(n, nap), lambda n: n + 2),
            "W4": one_run(dag, lambda n: len(layered(n))),
            "W5": one_run(lambda n: in_a_row(3 * n), lambda n: 3 * n),
            "W6 latency": one_run(in_a_row, lambda n: n),
            "W6 throughput": throughput,
            "W7": resumed,
        },
    )
