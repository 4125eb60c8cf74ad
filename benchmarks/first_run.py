"""The time of a cold process until its first run has ended, which includes the work that imports postpone.

Uses the runner's function unchanged, with a SQLite file instead of DynamoDB. Another process has published and started the run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stepless.adapters.memory.queue import MemoryQueue
from stepless.adapters.memory.timers import MemoryTimers
from stepless.adapters.sqlite.store import SqliteStore
from stepless.adapters.system import SystemClock
from stepless.nodes.function.registry import function
from stepless.ports import Message
from stepless.runtime.session.budget import Budget

DOCUMENT: dict[str, Any] = {
    "id": "first",
    "variables": {"greeted": ""},
    "nodes": {
        "start": {"type": "manual"},
        "greet": {"type": "function", "after": "start", "with": {"call": "benchmark.greet", "args": {"name": "<start.name>"}}},
        "long": {"type": "condition", "after": "greet", "with": {"cases": {"yes": "len(<greet>) > 3", "no": "else"}}},
        "keep": {"type": "set", "after": "long.yes", "with": {"variables": {"greeted": "<greet>"}}},
    },
}


@function("benchmark.greet")
def greet(name: str) -> str:
    return f"Hello, {name}!"


def prepare(path: Path) -> Iterator[str]:
    """Publishes a workflow, and starts a run for each id that is asked for: its lease is granted to who comes within seconds."""
    from stepless.runtime.wiring.local import local

    engine = local(path)
    engine.service.publish(DOCUMENT)
    engine.close()
    while True:
        engine = local(path)
        run_id = engine.service.start("first", {"name": "Ada"}).run_id
        engine.close()
        yield run_id


def finish(cloud: Any, path: str, run_id: str) -> None:
    """Runs one of them to its end, with the objects that `functions/runner` has created."""
    from dataclasses import replace

    from stepless.nodes import KINDS
    from stepless.runtime.session.runner import Runner
    from stepless.runtime.versions import Versions

    clock, store = SystemClock(), SqliteStore(path)
    world = replace(cloud.world, store=store, queue=MemoryQueue(clock), timers=MemoryTimers(), clock=clock,
                    versions=Versions(store, KINDS))  # fmt: skip
    asyncio.run(Runner(world).run(Message(run_id, "start"), Budget(60_000)))
    head = store.get_run(run_id)
    if head is None or head.status != "completed":
        raise RuntimeError(f"{run_id} is {head.status if head else 'gone'}")
    store.close()
