"""graphon, the engine of Dify: it uses threads, and has no store.

Its graphs contain the state of a run, so each run needs a new one; creating it is not timed, except where runs are counted.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from graphon.entities.base_node_data import BaseNodeData
from graphon.entities.graph_init_params import GraphInitParams
from graphon.enums import NodeExecutionType, WorkflowNodeExecutionStatus
from graphon.graph.graph import Edge, Graph
from graphon.graph_engine.command_channels import InMemoryChannel
from graphon.graph_engine.config import GraphEngineConfig
from graphon.graph_engine.graph_engine import GraphEngine
from graphon.graph_events.graph import GraphRunSucceededEvent
from graphon.graph_events.node import NodeRunSucceededEvent
from graphon.node_events.base import NodeRunResult
from graphon.nodes.base.node import Node
from graphon.runtime.graph_runtime_state import GraphRuntimeState
from graphon.runtime.variable_pool import VariablePool

from benchmarks.peers.protocol import Factory, Once, gathered, serve
from benchmarks.shapes import Parents, chain, fan, layered

WORKERS = {"default": 5, "50 workers": 50}


class Data(BaseNodeData):
    type: str = "benchmark"


class Step(Node[Data]):
    node_type = "benchmark"
    execution_type = NodeExecutionType.EXECUTABLE

    @classmethod
    def version(cls) -> str:
        return "1"

    def _run(self) -> NodeRunResult:
        return NodeRunResult(status=WorkflowNodeExecutionStatus.SUCCEEDED, outputs={"done": 1})


class First(Step):
    node_type = "benchmark-first"
    execution_type = NodeExecutionType.ROOT


class Nap(Step):
    node_type = "benchmark-nap"

    def _run(self) -> NodeRunResult:
        time.sleep(0.1)
        return super()._run()


def engine(parents: Parents, workers: int, inner: type[Step]) -> GraphEngine:
    """A DAG below one additional node, since graphon starts at a single root."""
    state = GraphRuntimeState(variable_pool=VariablePool(), start_at=time.time())
    settings = GraphInitParams(workflow_id="w", graph_config={"nodes": [], "edges": []}, run_context={}, call_depth=0)
    has_children = {parent for above in parents for parent in above}

    def made(kind: type[Step], name: str) -> Step:
        config = {"id": name, "data": Data(title=name, type=kind.node_type)}
        return kind(id=name, config=config, graph_init_params=settings, graph_runtime_state=state)

    nodes: dict[str, Step] = {"root": made(First, "root")}
    edges: dict[str, Edge] = {}
    into: dict[str, list[str]] = {}
    out: dict[str, list[str]] = {}
    for number, above in enumerate(parents):
        name = f"n{number}"
        nodes[name] = made(inner if above and number in has_children else Step, name)
        for source in [f"n{parent}" for parent in above] or ["root"]:
            edge = Edge(id=f"{source}-{name}", tail=source, head=name, source_handle="source")
            edges[edge.id] = edge
            out.setdefault(source, []).append(edge.id)
            into.setdefault(name, []).append(edge.id)
    graph = Graph(nodes=nodes, edges=edges, in_edges=into, out_edges=out, root_node=nodes["root"])
    config = GraphEngineConfig(min_workers=1, max_workers=workers)
    return GraphEngine(workflow_id="w", graph=graph, graph_runtime_state=state, command_channel=InMemoryChannel(), config=config)


def whole(parents: Parents, workers: int, inner: type[Step]) -> float:
    """Seconds of one run."""
    made = engine(parents, workers, inner)
    before, done, last = time.perf_counter(), 0, None
    for event in made.run():
        done += isinstance(event, NodeRunSucceededEvent)
        last = event
    took = time.perf_counter() - before
    if done != len(parents) + 1 or not isinstance(last, GraphRunSucceededEvent):
        raise RuntimeError(f"{done} of {len(parents) + 1} nodes ran: {last}")
    return took


def one_run(build: Callable[[int], Parents], inner: type[Step] = Step) -> Factory:
    @asynccontextmanager
    async def factory(variant: str, n: int) -> AsyncIterator[Once]:
        parents = build(n)

        async def once() -> float:
            return whole(parents, WORKERS[variant], inner)

        yield once

    return factory


@asynccontextmanager
async def throughput(variant: str, n: int) -> AsyncIterator[Once]:
    async def once() -> float:
        before = time.perf_counter()
        await gathered(n, lambda: asyncio.to_thread(whole, chain(3), WORKERS[variant], Step))
        return time.perf_counter() - before

    yield once


if __name__ == "__main__":
    logging.disable(logging.ERROR)
    serve(
        "graphon",
        {
            "W1": one_run(chain),
            "W2": one_run(fan),
            "W3": one_run(fan, Nap),
            "W4": one_run(layered),
            "W6 latency": one_run(chain),
            "W6 throughput": throughput,
        },
    )
