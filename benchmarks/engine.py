"""Our engine, as a user runs it: publish, start, run to the end; on the memory store or on SQLite."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Literal

from benchmarks.workloads import Document
from stepless.ports import Message
from stepless.runtime.bootstrap import Local, local
from stepless.runtime.budget import Budget
from stepless.runtime.runner import Ending

Synchronous = Literal["NORMAL", "FULL"]


class Engine:
    """One store with one workflow published."""

    def __init__(self, document: Document, path: Path | None = None, synchronous: Synchronous = "NORMAL") -> None:
        self.local: Local = local(path, synchronous=synchronous)
        self.local.service.publish(document)

    async def run(self) -> str:
        """One run from its start to its end; answers its id. Raises when it did not complete."""
        started = self.local.service.start("benchmark", {})
        message: Message | None = Message(started.run_id, "start")
        ending = Ending.CONTINUED
        while ending is Ending.CONTINUED and message is not None:
            ending = await self.local.runner.run(message, Budget(600_000))
            message = Message(started.run_id, "continue")
        head = self.local.world.store.get_run(started.run_id)
        if head is None or head.status != "completed":
            raise RuntimeError(f"{started.run_id} is {head.status if head else 'gone'}")
        return started.run_id

    def run_once(self) -> str:
        return asyncio.run(self.run())

    def close(self) -> None:
        self.local.close()
