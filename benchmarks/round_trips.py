"""W12, on AWS's terms: the runner over a table each of whose requests takes ANSWER_MS, as in the same region.

    python -m benchmarks.round_trips        prints one line of JSON per case

The store is the one of the functions, the table is emulated in this process, and its work is part of the time of a request. The
figures are times divided by the time of a request as it was measured in the same run, and counted requests. The process is warm:
the graph is compiled, and the modules are imported. Requests to the queue take as long, and count.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks import shapes, workloads
from benchmarks.bars import CHAINS, TABLE
from benchmarks.sample import Sample
from benchmarks.workloads import Document
from stepless.adapters.aws.dynamo.store import DynamoStore
from stepless.adapters.aws.queue import SqsQueue, decode_message
from stepless.nodes import KINDS
from stepless.nodes.function import FunctionCall, function
from stepless.ports import Message
from stepless.runtime.access.tokens import Key, Signer
from stepless.runtime.service import Service
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.runner import Runner
from stepless.runtime.versions import Versions
from stepless.runtime.wiring.local import local

TOOLS = Path(__file__).parents[1] / "tests" / "tools"
ANSWER_MS = 4.0
FAN, HANDED_OVER = 1_000, 10
REPEAT = 5
BUDGET_MS = 600_000
SIGNER = Signer((Key("k", b"secret of the benchmark"),))
began: list[int] = []  # for each attempt, the requests that were made before it
_trips: list[float] = []  # the seconds of each request


@function("benchmark.watched")
async def watched(call: FunctionCall) -> str:
    began.append(len(_trips))
    return call.instance


class Slow:
    """A client each of whose requests takes `answer_ms`, or longer if the emulated service does."""

    def __init__(self, client: Any, answer_ms: float) -> None:
        self._client, self._seconds = client, answer_ms / 1000

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)
        if not callable(method):
            return method

        def request(**given: Any) -> Any:
            before = time.perf_counter()
            try:
                return method(**given)
            finally:
                if (rest := before + self._seconds - time.perf_counter()) > 0:
                    time.sleep(rest)
                _trips.append(time.perf_counter() - before)

        return request


@dataclass
class Sent:
    """The queue's service: keeps what was sent."""

    hints: list[Message] = field(default_factory=list)

    def send_message(self, *, MessageBody: str, **_: object) -> dict[str, Any]:  # noqa: N803
        self.hints.append(decode_message(MessageBody))
        return {}


class Region:
    """A runner whose requests are slow, and a service that publishes and starts without waiting."""

    def __init__(self, document: Document, answer_ms: float = ANSWER_MS) -> None:
        sys.path.extend(map(str, sorted(TOOLS.glob("[a-z]*"))))
        from dynamo_table import DirectClient, Table

        direct, built, self.sent = DirectClient(Table()), local(None), Sent()
        store = DynamoStore(direct, "runs")
        self.service = Service(replace(built.world, store=store, versions=Versions(store, KINDS), near=False), SIGNER)
        self.service.publish(document)
        store = DynamoStore(Slow(direct, answer_ms), "runs")
        queue = SqsQueue(Slow(self.sent, answer_ms), "https://sqs.us-east-1.amazonaws.com/1/q")
        self.runner = Runner(replace(built.world, store=store, queue=queue, versions=Versions(store, KINDS), near=False))

    def run(self, budget: Callable[[], Budget] = lambda: Budget(BUDGET_MS)) -> tuple[float, int]:
        """Seconds of one run over as many invocations as it needs, from the first message on; and its invocations."""
        run_id, invocations = self.service.start("benchmark", {}).run_id, 0
        hints = self.sent.hints
        hints[:] = [Message(run_id, "start")]
        began.clear()
        _trips.clear()
        gc.collect()

        async def whole() -> float:
            nonlocal invocations
            before = time.perf_counter()
            while hints:
                await self.runner.run(hints.pop(0), budget())
                invocations += 1
            return time.perf_counter() - before

        took = asyncio.run(whole())
        if (status := self.service.run(run_id).status) != "completed":
            raise RuntimeError(f"{run_id} is {status}")
        return took, invocations


def measured(case: str, document: Document, n: int, answer_ms: float = ANSWER_MS) -> Sample:
    """Facts: requests of a run, those before its first attempt, and the mean seconds of one."""
    region, sample = Region(document, answer_ms), Sample(case, TABLE, n, n)
    region.run()  # warms up
    requests: list[float] = []
    for _ in range(REPEAT):
        cpu = time.process_time()
        sample.wall.append(region.run()[0])
        sample.cpu.append(time.process_time() - cpu)
        requests += _trips
    sample.facts = {"requests": len(_trips), "before_first": began[0], "request_s": fmean(requests)}
    return sample


def handed_over(answer_ms: float = ANSWER_MS) -> Sample:
    """The requests that one hand-over adds to a run: the time of the first invocation is over after half of the nodes."""
    region, half = Region(chain(HANDED_OVER), answer_ms), HANDED_OVER // 2
    sample = Sample("W12 hand-over", TABLE, HANDED_OVER, 1)

    def budget() -> Budget:
        first = not began
        return Budget(1_000, clock=lambda: 10.0 if first and len(began) >= half else 0.0)

    region.run(budget)  # warms up
    region.run()
    whole = len(_trips)
    took, invocations = region.run(budget)
    sample.wall.append(took)
    sample.facts = {"requests": len(_trips) - whole, "invocations": invocations}
    return sample


def chain(nodes: int) -> Document:
    return workloads.graph(shapes.chain(nodes), "benchmark.watched")


def main() -> int:
    for nodes in CHAINS:
        print(measured("W12 chain", chain(nodes), nodes).line(), flush=True)
    print(measured("W12 fan-out", workloads.graph(shapes.fan(FAN), "benchmark.watched"), FAN).line(), flush=True)
    print(handed_over().line(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
