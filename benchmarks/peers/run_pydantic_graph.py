"""pydantic-graph: not durable, and without waits for people. The state is one counter."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from pydantic_graph import GraphBuilder, StepContext, reduce_sum

from benchmarks.peers.protocol import Factory, Once, gathered, serve, timed
from benchmarks.shapes import Parents, chain, fan, layered


@dataclass
class Counter:
    done: int = 0


async def step(context: StepContext[Counter, None, Any]) -> int:
    context.state.done += 1
    return 1


async def nap(context: StepContext[Counter, None, Any]) -> int:
    await asyncio.sleep(0.1)
    return await step(context)


def dag(parents: Parents, inner: Any = step) -> Any:
    """A node with several parents is a join and a step; one more join collects the ends."""
    builder = GraphBuilder(state_type=Counter, output_type=int, auto_instrument=False)
    below: list[list[int]] = [[] for _ in parents]
    for node, above in enumerate(parents):
        for parent in above:
            below[parent].append(node)
    steps = [
        builder.step(inner if above and below[node] else step, node_id=f"n{node}") for node, above in enumerate(parents)
    ]
    doors: list[Any] = list(steps)
    for node, above in enumerate(parents):
        if len(above) > 1:
            doors[node] = builder.join(reduce_sum, initial=0, node_id=f"j{node}")
            builder.add(builder.edge_from(doors[node]).to(steps[node]))
    end = builder.join(reduce_sum, initial=0, node_id="end")
    builder.add(builder.edge_from(builder.start_node).to(*(doors[node] for node, above in enumerate(parents) if not above)))
    for node, children in enumerate(below):
        builder.add(builder.edge_from(steps[node]).to(*([doors[child] for child in children] or [end])))
    builder.add(builder.edge_from(end).to(builder.end_node))
    return builder.build()


async def whole(graph: Any, expected: int) -> None:
    state = Counter()
    await graph.run(state=state)
    if state.done != expected:
        raise RuntimeError(f"{state.done} of {expected} nodes ran")


def one_run(build: Callable[[int], Parents], inner: Any = step) -> Factory:
    @asynccontextmanager
    async def factory(variant: str, n: int) -> AsyncIterator[Once]:
        parents = build(n)
        graph = dag(parents, inner)
        yield lambda: timed(whole(graph, len(parents)))

    return factory


@asynccontextmanager
async def throughput(variant: str, n: int) -> AsyncIterator[Once]:
    graph = dag(chain(3))
    yield lambda: timed(gathered(n, lambda: whole(graph, 3)))


if __name__ == "__main__":
    serve(
        "pydantic-graph",
        {
            "W1": one_run(chain),
            "W2": one_run(fan),
            "W3": one_run(fan, nap),
            "W4": one_run(layered),
            "W6 latency": one_run(chain),
            "W6 throughput": throughput,
        },
    )
