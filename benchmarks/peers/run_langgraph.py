"""LangGraph with its SQLite checkpointer. The state is one counter, the cheapest possible state.

Variants are its durability modes: `sync` stores every step before the next begins, `async` while the next is running, `exit`
only the end.
"""

from __future__ import annotations

import asyncio
import operator
import tempfile
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from benchmarks.peers.protocol import Factory, Once, gathered, serve, timed
from benchmarks.shapes import Parents, chain, fan, layered


class Counter(TypedDict, total=False):
    done: Annotated[int, operator.add]
    turns: int


async def step(state: Counter) -> Counter:
    return {"done": 1}


async def nap(state: Counter) -> Counter:
    await asyncio.sleep(0.1)
    return {"done": 1}


async def turn(state: Counter) -> Counter:
    return {"done": 1, "turns": state.get("turns", 0) + 1}


def ask(state: Counter) -> Counter:
    interrupt("Go on?")
    return {"done": 1}


def dag(parents: Parents, inner: Any = step) -> Any:
    graph = StateGraph(Counter)
    has_children = {parent for above in parents for parent in above}
    for node, above in enumerate(parents):
        graph.add_node(f"n{node}", inner if above and node in has_children else step)
    for node, above in enumerate(parents):
        names = [f"n{parent}" for parent in above] or [START]
        graph.add_edge(names[0] if len(names) == 1 else names, f"n{node}")
    return graph


def loop(turns: int) -> Any:
    graph = StateGraph(Counter)
    for name, work in (("a", step), ("b", step), ("c", turn)):
        graph.add_node(name, work)
    for source, target in ((START, "a"), ("a", "b"), ("b", "c")):
        graph.add_edge(source, target)
    graph.add_conditional_edges("c", lambda state: "a" if state["turns"] < turns else END, ["a", END])
    return graph


def approval() -> Any:
    graph = StateGraph(Counter)
    for name, work in (("a", step), ("ask", ask), ("b", step)):
        graph.add_node(name, work)
    for source, target in ((START, "a"), ("a", "ask"), ("ask", "b")):
        graph.add_edge(source, target)
    return graph


class App:
    """A graph that stores its steps in a file."""

    def __init__(self, graph: Any, saver: Any, durability: str, steps: int) -> None:
        self._app = graph.compile(checkpointer=saver)
        self._durability = durability
        self._steps = steps

    def thread(self) -> dict[str, Any]:
        return {"recursion_limit": self._steps + 20, "configurable": {"thread_id": uuid.uuid4().hex}}

    async def invoke(self, given: Any, thread: dict[str, Any]) -> Any:
        return await self._app.ainvoke(given, thread, durability=self._durability)

    async def run(self, expected: int) -> None:
        ended = await self.invoke({"done": 0}, self.thread())
        if ended["done"] != expected:
            raise RuntimeError(f"{ended['done']} of {expected} nodes ran")


@asynccontextmanager
async def opened(graph: Any, durability: str, steps: int) -> AsyncIterator[App]:
    with tempfile.TemporaryDirectory() as folder:
        async with AsyncSqliteSaver.from_conn_string(f"{folder}/steps.db") as saver:
            yield App(graph, saver, durability, steps)


def one_run(build: Callable[[int], Any], nodes: Callable[[int], int]) -> Factory:
    @asynccontextmanager
    async def factory(variant: str, n: int) -> AsyncIterator[Once]:
        async with opened(build(n), variant, nodes(n)) as app:
            yield lambda: timed(app.run(nodes(n)))

    return factory


@asynccontextmanager
async def throughput(variant: str, n: int) -> AsyncIterator[Once]:
    async with opened(dag(chain(3)), variant, 3) as app:
        yield lambda: timed(gathered(n, lambda: app.run(3)))


@asynccontextmanager
async def resumed(variant: str, n: int) -> AsyncIterator[Once]:
    async with opened(approval(), variant, 3) as app:

        async def once() -> float:
            thread = app.thread()
            await app.invoke({"done": 0}, thread)
            return await timed(app.invoke(Command(resume="yes"), thread))

        yield once


if __name__ == "__main__":
    serve(
        "langgraph",
        {
            "W1": one_run(lambda n: dag(chain(n)), lambda n: n),
            "W2": one_run(lambda n: dag(fan(n)), lambda n: n + 2),
            "W3": one_run(lambda n: dag(fan(n), nap), lambda n: n + 2),
            "W4": one_run(lambda n: dag(layered(n)), lambda n: len(layered(n))),
            "W5": one_run(loop, lambda n: 3 * n),
            "W6 latency": one_run(lambda n: dag(chain(3)), lambda n: 3),
            "W6 throughput": throughput,
            "W7": resumed,
        },
    )
