"""W13 and W14: runs that get messages.

    python -m benchmarks.talking entity 10000      W13, one run that takes so many messages in a loop; prints one line of JSON
    python -m benchmarks.talking keyed 10000       W14, so many runs, each waiting under its own key; prints two lines

In W13 each message is sent alone and wakes the run, which waits for the next one: an entity that lives for months. In W14 each
run gets one message by its key, and ends; beside them as many runs are answered by the links of their questions, in turns.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.engine import Engine
from benchmarks.growth import status_kb, stored
from benchmarks.sample import Sample
from benchmarks.workloads import Document, approval
from stepless.runtime.session.budget import Budget

ENTITY, KEYED, LINKED = "W13", "W14 message by key", "W14 answer by link"
MESSAGES = (100, 1_000, 10_000)
REPEAT = {100: 20, 1_000: 3}
RUNS, IN_TURN = 10_000, 100  # runs of each kind, and how many are woken before it is the turn of the other kind
VARIANT = "SQLite NORMAL"
BUDGET_MS = 600_000
_LATER_MS = 10**15  # than every hint


def entity(turns: int) -> Document:
    """Takes so many messages, one after the other, and ends."""
    body = {"nodes": {"got": {"type": "receive", "with": {"message": "tick"}}}}
    node = {"type": "loop", "with": {"times": turns, "results": "none", "max_iterations": 1_000_000, "body": body}}
    return {"id": "benchmark", "messages": {"tick": {}}, "max_steps": 10_000_000, "nodes": {"l": node}}


def keyed() -> Document:
    """As the approval of W7, with a message in place of the decision."""
    step = {"type": "function", "with": {"call": "benchmark.echo"}}
    got = {"type": "receive", "after": "a", "with": {"message": "paid"}}
    nodes = {"a": step, "got": got, "b": {**step, "after": "got"}}
    return {"id": "orders", "key": "<input.id>", "messages": {"paid": {}}, "nodes": nodes}


class Town:
    """The engine over a file, which receives its own hints."""

    def __init__(self, path: Path, *documents: Document) -> None:
        self.engine = Engine(None, path)
        self.service, self.world = self.engine.local.service, self.engine.local.world
        for document in documents:
            self.service.publish(document)

    async def work(self) -> None:
        """Executes the runs that have hints, until none is left."""
        queue: Any = self.world.queue
        while (message := queue.receive(_LATER_MS)) is not None:
            await self.engine.local.runner.run(message, Budget(BUDGET_MS))

    def expect(self, status: str, runs: Iterable[str]) -> None:
        """Raises `RuntimeError` if one of the runs has another status."""
        for run_id in runs:
            if (found := self.service.run(run_id).status) != status:
                raise RuntimeError(f"{run_id} is {found}, not {status}")


async def talk(town: Town, messages: int) -> tuple[float, float, list[int]]:
    """A run that takes so many messages, without its start: the seconds, the seconds of CPU, and the KB of memory of the process
    at a tenth of the messages, at half of them, and at the end."""
    run_id = town.service.start("benchmark", {}).run_id
    await town.work()
    town.expect("paused", [run_id])
    memory: list[int] = []
    cpu, before = time.process_time(), time.perf_counter()
    for number in range(messages):
        town.service.send_to_run(run_id, "tick", {"number": number})
        await town.work()
        if number + 1 in (messages // 10, messages // 2, messages):
            memory.append(status_kb("VmRSS"))
    took = time.perf_counter() - before, time.process_time() - cpu
    town.expect("completed", [run_id])
    return *took, memory


def measure_entity(messages: int, repeat: int = 1) -> Sample:
    """W13 for one number of messages. `grown_bytes` is how much more memory the process has at half of the messages of its last
    run, and at their end, than at a tenth of them."""
    sample = Sample(ENTITY, VARIANT, messages, messages)
    with tempfile.TemporaryDirectory() as folder:
        warm = Town(Path(folder) / "warm.db", entity(100))
        asyncio.run(talk(warm, 100))
        warm.engine.close()
        path = Path(folder) / "runs.db"
        town = Town(path, entity(messages))
        empty = path.stat().st_size
        for _ in range(repeat):
            gc.collect()
            wall, cpu, memory = asyncio.run(talk(town, messages))
            sample.wall.append(wall)
            sample.cpu.append(cpu)
        town.engine.close()
        sample.facts["file_bytes"] = (path.stat().st_size - empty) / repeat
        sample.facts["log_bytes"] = stored(path)[0] / repeat
    sample.facts["grown_bytes"] = [(each - memory[0]) * 1024 for each in memory[1:]]
    return sample


async def measure_keyed(runs: int, in_turn: int = IN_TURN) -> list[Sample]:
    """W14. Both kinds of runs wait in one file before anything is timed."""
    samples = [Sample(case, VARIANT, runs, runs, [0.0], [0.0]) for case in (KEYED, LINKED)]
    with tempfile.TemporaryDirectory() as folder:
        town = Town(Path(folder) / "runs.db", keyed(), approval())
        service = town.service
        waiting: list[tuple[str, str]] = []
        asked: list[tuple[str, str]] = []
        for number in range(runs):
            waiting.append((service.start("orders", {"id": f"order {number}"}).run_id, f"order {number}"))
            asked.append((service.start("benchmark", {}).run_id, ""))
            await town.work()
        town.expect("paused", (run_id for run_id, _ in [*waiting, *asked]))
        asked = [(run_id, service.run(run_id).pauses[0].token or "") for run_id, _ in asked]

        def send(key: str) -> None:
            service.send("orders", "paid", {"amount": 12}, key=key)

        def answer(token: str) -> None:
            service.answer(token, "approved", {})

        for first in range(0, runs, in_turn):
            for sample, each, act in ((samples[0], waiting, send), (samples[1], asked, answer)):
                gc.collect()
                cpu, before = time.process_time(), time.perf_counter()
                for _, how in each[first : first + in_turn]:
                    act(how)
                    await town.work()
                sample.wall[0] += time.perf_counter() - before
                sample.cpu[0] += time.process_time() - cpu
        town.expect("completed", (run_id for run_id, _ in [*waiting, *asked]))
        town.engine.close()
    return samples


def main() -> int:
    what, number = sys.argv[1], int(sys.argv[2])
    samples = [measure_entity(number, REPEAT.get(number, 1))] if what == "entity" else asyncio.run(measure_keyed(number))
    for sample in samples:
        print(sample.line(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
