"""Serves the messages of one invocation of the runner function. Code of attempts that does not return ends with the process
(docs/understand/decisions/0018-lingering-code.md)."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from stepless.runtime.billing import spending
from stepless.runtime.session.budget import Budget
from stepless.runtime.wiring.aws import Cloud, received
from stepless.thread_calls import CountedPool


class Serving:
    """The runner of an execution environment and its event loop."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._runner = cloud.runner
        self._loop = asyncio.Runner()
        self._threads = CountedPool()

    def serve(self, bodies: Sequence[str], remaining_ms: int) -> list[BaseException | None]:
        """Serves all messages concurrently, and waits for the code of attempts that have ended. Returns for each message the
        error that stopped its session, or None."""
        return self._loop.run(self._serve(bodies, remaining_ms))

    async def _serve(self, bodies: Sequence[str], remaining_ms: int) -> list[BaseException | None]:
        asyncio.get_running_loop().set_default_executor(self._threads)
        budget, lingering = Budget(remaining_ms, hard=True).start(), self._runner.lingering
        ends = await asyncio.gather(*(self._work(body, remaining_ms) for body in bodies), return_exceptions=True)
        if lingering and not any(ends):  # after an error, a lease may end soon
            await lingering.wait(min(budget.leaving_ms, lingering.left_ms))
        return ends

    async def _work(self, body: str, remaining_ms: int) -> None:
        message = received(body)
        with self._cloud.world.tallies.open(spending.begun(message)):
            await self._runner.run(message, Budget(remaining_ms, hard=True))

    def end_if_code_lingers(self, done: Sequence[str], log: Callable[..., Any]) -> None:
        """Ends the process if code has not returned: Lambda would freeze it, and it would go on in a later invocation. `done` are
        the receipt handles of the messages that SQS must not deliver again. `log` reports an error with details."""
        if self._runner.lingering:
            log("run.code_lingers", extra={"code": self._runner.lingering.names()})
            try:
                self._cloud.queue.delete(done)
            except Exception:  # they are delivered again, which costs time only
                log("messages that are done are delivered again", exc_info=True)
            _end_process()


def _end_process() -> NoReturn:
    """Lambda reports the invocation as failed (`Runtime.ExitError`), and starts another process for the next one."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1)
