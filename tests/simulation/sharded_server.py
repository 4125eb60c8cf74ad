"""Runs a workflow with a `distributed` node over one SQLite file, for test_killed_shards: `python sharded_server.py FILE ITEMS`.

The effect of an item is a line in FILE.effects. Item 7 ends the process. The last process prints the output of the node.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from threading import Event
from typing import Any

from stepless import function
from stepless.runtime.wiring.local import local
from stepless.runtime.wiring.single_run import follow, serving

POISONED = 7
DOCUMENT: dict[str, Any] = {
    "id": "fan",
    "nodes": {
        "go": {"type": "manual"},
        "each": {
            "type": "distributed", "after": "go",
            "with": {
                "items": "<go.items>", "shard": 50, "commit": {"items": 10}, "lanes": 4, "concurrency": 12,
                "tolerate": {"count": 1},
                "body": {"nodes": {"one": {"type": "function", "with": {"call": "shards.square", "args": {"n": "<item>"}}}}},
            },
        },
    },
}  # fmt: skip


async def main(path: str, items: int) -> None:
    effects = os.open(f"{path}.effects", os.O_APPEND | os.O_CREAT | os.O_WRONLY)

    @function("shards.square")
    def square(n: int) -> int:
        os.write(effects, f"{n}\n".encode())
        if n == POISONED:
            os._exit(9)
        Event().wait(0.01)
        return n * n

    engine = local(path)
    engine.service.publish(DOCUMENT)
    run_id = engine.service.start("fan", {"items": list(range(items))}, key="one").run_id
    async with serving(engine) as server:
        async for _ in follow(engine, run_id, server):
            continue
    sys.stdout.write(json.dumps(engine.service.run(run_id).nodes["each"].output))
    engine.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
