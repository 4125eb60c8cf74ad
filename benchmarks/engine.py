"""The engine as a user runs it: publish, start, run to the end; on the memory store or on SQLite."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Literal

from benchmarks.workloads import Document
from stepless.adapters.sqlite.run_database import SqliteRunDatabase
from stepless.ports import Message
from stepless.runtime.session.budget import Budget
from stepless.runtime.session.runner import InvocationEnd
from stepless.runtime.wiring.local import Local, local

Synchronous = Literal["NORMAL", "FULL"]
BUDGET_MS = 600_000


async def timed(work: Awaitable[object], during: AbstractContextManager[object] | None = None) -> float:
    """Seconds, without the start and the end of the event loop. `during` is entered around the work."""
    with during or nullcontext():
        before = time.perf_counter()
        await work
        return time.perf_counter() - before


class Engine:
    """One store, with one workflow published unless it is there already."""

    def __init__(
        self, document: Document | None = None, path: Path | None = None, synchronous: Synchronous = "NORMAL"
    ) -> None:
        self.during: Callable[[], AbstractContextManager[object]] = nullcontext  # entered around what is timed
        self.local: Local = local(None if path is None else SqliteRunDatabase(path, synchronous=synchronous))
        if document is not None:
            self.local.service.publish(document)

    async def run(self, until: str = "completed") -> str:
        """One run from its start to its end; returns its id. Raises if it did not end as expected."""
        run_id = (await self.local.service.start_shared("benchmark", {})).run_id
        await self.drive(Message(run_id, "start"), until)
        return run_id

    async def drive(self, message: Message, until: str = "completed") -> None:
        """As many invocations as the run needs."""
        while await self.local.runner.run(message, Budget(BUDGET_MS)) is InvocationEnd.CONTINUED:
            message = Message(message.run_id, "continue")
        head = self.local.world.store.get_run(message.run_id)
        if head is None or head.status != until:
            raise RuntimeError(f"{message.run_id} is {head.status if head else 'gone'}, not {until}")

    def run_once(self) -> float:
        """Seconds of one run from its start to its end."""
        return asyncio.run(timed(self.run(), self.during()))

    def run_many(self, runs: int, at_once: int) -> float:
        """Seconds for `runs` runs, a number of them at once."""

        async def all_runs() -> None:
            gate = asyncio.Semaphore(at_once)

            async def one() -> None:
                async with gate:
                    await self.run()

            await asyncio.gather(*(one() for _ in range(runs)))

        return asyncio.run(timed(all_runs(), self.during()))

    def resume_once(self) -> float:
        """Seconds from the decision of a pause to the end of its run; the time before the pause is not included."""

        async def resumed() -> float:
            run_id = await self.run("paused")
            return await timed(self.decide(run_id, "ask"))

        return asyncio.run(resumed())

    async def decide(self, run_id: str, pause: str, until: str = "completed") -> None:
        self.local.service.answer_pause(run_id, pause, "approved", {}, "benchmark")
        await self.drive(Message(run_id, "signal"), until)

    def close(self) -> None:
        self.local.close()
