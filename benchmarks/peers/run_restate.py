"""Restate: its server on disk, and a handler in this process. Every node is a `ctx.run` that the server journals.

The server is called over HTTP, and calls the handler over HTTP/2, as in production.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import hypercorn.asyncio
import hypercorn.config
import restate
from restate import Context, Service, Workflow, WorkflowContext, WorkflowSharedContext
from restate.context import RunOptions

from benchmarks.peers.protocol import AT_ONCE, Factory, Once, gathered, serve, timed
from benchmarks.peers.servers import answered, free_ports, server
from benchmarks.shapes import layered

PAUSE_S = 0.3  # until a run waits for its answer
TIMEOUT_S = 600
OPTIONS: RunOptions[int] = RunOptions()
steps, approvals = Service("Steps"), Workflow("Approval")


async def step(node: int) -> int:
    return node


async def nap(node: int) -> int:
    await asyncio.sleep(0.1)
    return node


@steps.handler()
async def in_a_row(context: Context, nodes: int) -> int:
    for node in range(nodes):
        await context.run_typed(f"n{node}", step, OPTIONS, node)
    return nodes


@steps.handler()
async def fan(context: Context, n: int) -> int:
    return await _fan(context, n, step)


@steps.handler()
async def naps(context: Context, n: int) -> int:
    return await _fan(context, n, nap)


async def _fan(context: Context, n: int, inner: Callable[[int], Any]) -> int:
    await context.run_typed("first", step, OPTIONS, 0)
    began = [context.run_typed(f"n{node}", inner, OPTIONS, node) for node in range(n)]
    for each in await restate.gather(*began):
        await each
    await context.run_typed("last", step, OPTIONS, n + 1)
    return n + 2


@steps.handler()
async def dag(context: Context, n: int) -> int:
    """Each node as soon as its parents have ended."""
    parents = layered(n)
    missing = [len(above) for above in parents]
    below: list[list[int]] = [[] for _ in parents]
    for node, above in enumerate(parents):
        for parent in above:
            below[parent].append(node)
    pending: dict[Any, int] = {}

    def start(node: int) -> None:
        pending[context.run_typed(f"n{node}", step, OPTIONS, node)] = node

    for node, count in enumerate(missing):
        if count == 0:
            start(node)
    done = 0
    while pending:
        completed, _ = await restate.wait_completed(*pending)
        for each in completed:
            node = pending.pop(each)
            await each
            done += 1
            for child in below[node]:
                missing[child] -= 1
                if missing[child] == 0:
                    start(child)
    return done


@approvals.main()
async def decided(context: WorkflowContext, _: int) -> str:
    await context.run_typed("before", step, OPTIONS, 0)
    answer = await context.promise("answer", type_hint=str).value()
    await context.run_typed("after", step, OPTIONS, 1)
    return answer


@approvals.handler()
async def answer(context: WorkflowSharedContext, value: str) -> None:
    await context.promise("answer", type_hint=str).resolve(value)


class Client:
    def __init__(self, http: httpx.AsyncClient, url: str) -> None:
        self._http, self._url = http, url

    async def call(self, path: str, body: object) -> Any:
        response = await self._http.post(f"{self._url}/{path}", json=body)
        response.raise_for_status()
        return response.json() if response.content else None

    async def whole(self, handler: str, n: int, expected: int) -> None:
        done = await self.call(f"Steps/{handler}", n)
        if done != expected:
            raise RuntimeError(f"{done} of {expected} nodes ran")


def binary() -> str:
    """The server's program, in the npm packages of this environment."""
    found = sorted(Path(sys.prefix).glob("node_modules/@restatedev/restate-server-*/bin/restate-server"))
    if not found:
        raise RuntimeError("no package of restate-server has a program for this platform")
    return str(found[0])


@asynccontextmanager
async def launched() -> AsyncIterator[Client]:
    ingress, admin, node, own = free_ports(4)
    with tempfile.TemporaryDirectory() as folder:
        variables = {
            **os.environ,
            "RESTATE_INGRESS__BIND_ADDRESS": f"127.0.0.1:{ingress}",
            "RESTATE_ADMIN__BIND_ADDRESS": f"127.0.0.1:{admin}",
            "RESTATE_BIND_ADDRESS": f"127.0.0.1:{node}",
            "RESTATE_ADVERTISED_ADDRESS": f"http://127.0.0.1:{node}",
            "RESTATE_LISTEN_MODE": "tcp",
            "RESTATE_DISABLE_TELEMETRY": "true",
            "RESTATE_LOG_FILTER": "error",
        }
        log = Path(folder) / "server.log"
        command = [binary(), "--base-dir", f"{folder}/data", "--node-name", "benchmark", "--no-logo"]
        limits = httpx.Limits(max_connections=4 * AT_ONCE)
        async with httpx.AsyncClient(timeout=TIMEOUT_S, limits=limits, trust_env=False) as http:
            stop = asyncio.Event()
            handlers = asyncio.create_task(_handlers(own, stop))
            try:
                with server(command, log, variables) as process:
                    client = Client(http, f"http://127.0.0.1:{ingress}")
                    await answered(process, log, lambda: _deploy(http, admin, own))
                    await answered(process, log, lambda: client.whole("in_a_row", 1, 1))
                    yield client
            finally:
                stop.set()
                await handlers


async def _handlers(port: int, stop: asyncio.Event) -> None:
    config = hypercorn.config.Config()
    config.bind, config.loglevel = [f"127.0.0.1:{port}"], "ERROR"
    config.h2_max_concurrent_streams, config.keep_alive_timeout = 2**31 - 1, 3_600
    config.graceful_timeout = config.shutdown_timeout = 1
    await hypercorn.asyncio.serve(restate.app([steps, approvals]), config, shutdown_trigger=stop.wait)


async def _deploy(http: httpx.AsyncClient, admin: int, own: int) -> None:
    response = await http.post(f"http://127.0.0.1:{admin}/deployments", json={"uri": f"http://127.0.0.1:{own}"})
    response.raise_for_status()


def one_run(handler: str, given: Callable[[int], int], nodes: Callable[[int], int]) -> Factory:
    @asynccontextmanager
    async def factory(variant: str, n: int) -> AsyncIterator[Once]:
        async with launched() as client:
            yield lambda: timed(client.whole(handler, given(n), nodes(n)))

    return factory


@asynccontextmanager
async def throughput(variant: str, n: int) -> AsyncIterator[Once]:
    async with launched() as client:
        yield lambda: timed(gathered(n, lambda: client.whole("in_a_row", 3, 3)))


@asynccontextmanager
async def resumed(variant: str, n: int) -> AsyncIterator[Once]:
    async with launched() as client:

        async def once() -> float:
            key = uuid.uuid4().hex
            run = asyncio.create_task(client.call(f"Approval/{key}/decided", 0))
            await asyncio.sleep(PAUSE_S)

            async def decision() -> None:
                await client.call(f"Approval/{key}/answer", "yes")
                await run

            return await timed(decision())

        yield once


def same(n: int) -> int:
    return n


if __name__ == "__main__":
    serve(
        "restate",
        {
            "W1": one_run("in_a_row", same, same),
            "W2": one_run("fan", same, lambda n: n + 2),
            "W3": one_run("naps", same, lambda n: n + 2),
            "W4": one_run("dag", same, lambda n: len(layered(n))),
            "W5": one_run("in_a_row", lambda n: 3 * n, lambda n: 3 * n),
            "W6 latency": one_run("in_a_row", same, same),
            "W6 throughput": throughput,
            "W7": resumed,
        },
    )
