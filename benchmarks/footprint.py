"""What a run leaves behind: bytes per node in a SQLite file, and the write units that DynamoDB would bill.

    python -m benchmarks.footprint        prints one line of JSON each

Write units are those of an emulator which computes them as AWS documents them; where it cannot be installed, it says so.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import shapes, workloads
from benchmarks.engine import BUDGET_MS, Engine
from benchmarks.growth import stored
from benchmarks.sample import Sample
from benchmarks.workloads import RESULT_BYTES, Document
from stepless.adapters.memory.blobs import MemoryBlobs
from stepless.adapters.memory.queue import MemoryQueue
from stepless.adapters.memory.secrets import MemorySecrets
from stepless.runtime.bootstrap import Local, assemble
from stepless.runtime.budget import Budget

TOOLS = Path(__file__).parents[1] / "tests" / "tools"
NODES = 1_000


def bytes_per_node(nodes: int = NODES) -> Sample:
    """A chain whose every node answers half a kilobyte."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        Engine(workloads.graph(shapes.chain(nodes), "benchmark.result"), path).close()
        empty = path.stat().st_size
        engine, sample = Engine(None, path), Sample("bytes per node", "SQLite NORMAL", nodes, nodes)
        sample.wall.append(engine.run_once())
        engine.close()
        sample.facts["result_bytes"] = RESULT_BYTES
        sample.facts["file_bytes"] = (path.stat().st_size - empty) / nodes
        sample.facts["log_bytes"] = stored(path)[0] / nodes
        return sample


def flows() -> dict[str, Document]:
    """By case: a chain of ten, a fan-out of fifty and a join, an approval; each after a start that costs nothing."""
    work = {"type": "function", "with": {"call": "benchmark.result"}}
    start: Document = {"start": {"type": "manual"}}
    chain = {f"n{i}": {**work, "after": f"n{i - 1}" if i else "start"} for i in range(10)}
    fan = {f"w{i}": {**work, "after": "start"} for i in range(50)}
    ask = {"type": "approval", "after": "start", "with": {"message": "Go on?"}}
    return {
        "chain of 10": {"id": "chain", "nodes": start | chain},
        "fan-out of 50": {"id": "fan-out", "nodes": start | fan | {"all": {"type": "join", "after": list(fan)}}},
        "approval": {"id": "approval", "nodes": start | {"ask": ask, "pay": {**work, "after": "ask.approved"}}},
    }


def write_units() -> list[Sample]:
    """Of one run each, after one that is not counted."""
    sys.path.append(str(TOOLS))
    import aws_services
    import emulators

    try:
        with aws_services.dynoxide() as service:
            return [_units(service("dynamodb"), name, document) for name, document in flows().items()]
    except emulators.Missing as missing:
        return [Sample("write units", name, 1, 1, error=str(missing)) for name in flows()]


def _units(client: Any, name: str, document: Document) -> Sample:
    from stepless.adapters.aws.capacity import CapacityMeter
    from stepless.adapters.aws.store import DynamoStore
    from stepless.adapters.aws.table import create_table_arguments

    table = f"benchmark-{document['id']}"
    client.create_table(**create_table_arguments(table))
    engine = assemble(DynamoStore(client, table), MemoryBlobs(), BUDGET_MS, MemorySecrets())
    engine.service.publish(document)
    meter = CapacityMeter()
    meter.watch(client)
    for _ in range(2):
        meter.taken()
        _run(engine, document["id"])
    used = meter.taken()
    meter.forget(client)
    facts = {"write_units": used.write_units, "index_units": used.index_units, "read_units": used.read_units}
    return Sample("write units", name, 1, 1, facts={**facts, "requests": sum(used.requests.values())})


def _run(engine: Local, workflow: str) -> None:
    run_id = engine.service.start(workflow, {"order": "o-1", "amount": 12}).run_id
    _drive(engine)
    if engine.service.run(run_id).status == "paused":
        engine.service.decide(run_id, "ask", "approved", {}, "ada")
        _drive(engine)
    if engine.service.run(run_id).status != "completed":
        raise RuntimeError(f"{workflow} did not complete")


def _drive(engine: Local) -> None:
    """Until no message is left, whenever it is due."""
    queue = engine.world.queue
    if not isinstance(queue, MemoryQueue):
        raise TypeError("messages are read from memory here")
    while (message := queue.receive(2**62)) is not None:
        asyncio.run(engine.runner.run(message, Budget(BUDGET_MS)))


def main() -> int:
    for sample in (bytes_per_node(), *write_units()):
        print(sample.line(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
