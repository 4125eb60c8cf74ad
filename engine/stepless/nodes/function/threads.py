"""Threads for sync functions: kept for reuse, and never waited for.

The executor of the standard library has a fixed number of workers and joins them all when the process ends. A function that
never returns would take one of them for good, and hold up the end of the process. Here a call that was given up on keeps its
thread to itself; other calls get new ones up to a bound, and all of them are daemons.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, TypeAlias

from stepless.limits import IDLE_THREAD_S, MAX_FUNCTION_THREADS
from stepless.model.work import NodeFailure

ThreadOutcome: TypeAlias = tuple[Any, BaseException | None]
Job: TypeAlias = tuple[Callable[[], Any], "asyncio.Future[ThreadOutcome]", asyncio.AbstractEventLoop]


class Threads:
    """At most `most` threads; a call that finds all of them busy fails with `too_many_threads` and may be tried again."""

    def __init__(self, most: int = MAX_FUNCTION_THREADS, idle_s: float = IDLE_THREAD_S) -> None:
        self._most = most
        self._idle_s = idle_s
        self._idle: list[SimpleQueue[Job]] = []
        self._count = 0
        self._lock = threading.Lock()

    async def run(self, work: Callable[[], Any]) -> ThreadOutcome:
        """What `work` returned and None, or None and what it raised, whatever that is. It sees the caller's context
        variables. When the caller is cancelled the work goes on and its ending is dropped."""
        loop = asyncio.get_running_loop()
        ending: asyncio.Future[ThreadOutcome] = loop.create_future()
        context = contextvars.copy_context()
        self._hand_out((lambda: context.run(work), ending, loop))
        return await ending

    def _hand_out(self, job: Job) -> None:
        with self._lock:
            if self._idle:
                self._idle.pop().put(job)
                return
            if self._count >= self._most:
                raise NodeFailure(
                    "rate_limit", "too_many_threads", f"all {self._most} threads for functions are busy",
                    mend="make the functions async, or let them give up in time",
                )
            self._count += 1
        jobs: SimpleQueue[Job] = SimpleQueue()
        jobs.put(job)
        threading.Thread(target=self._serve, args=(jobs,), name="stepless-function", daemon=True).start()

    def _serve(self, jobs: SimpleQueue[Job]) -> None:
        while True:
            try:
                work, ending, loop = jobs.get(timeout=self._idle_s)
            except Empty:
                if self._retire(jobs):
                    return
                continue
            outcome = _attempt(work)
            with self._lock:
                self._idle.append(jobs)
            _tell(loop, ending, outcome)
            del work, ending, loop, outcome  # an idle thread keeps nothing alive

    def _retire(self, jobs: SimpleQueue[Job]) -> bool:
        """False when a job was handed out in the same instant."""
        with self._lock:
            if jobs not in self._idle:
                return False
            self._idle.remove(jobs)
            self._count -= 1
            return True


def _attempt(work: Callable[[], Any]) -> ThreadOutcome:
    try:
        return work(), None
    except BaseException as error:  # also SystemExit: user code ends its attempt, never the thread
        return None, error


def _tell(loop: asyncio.AbstractEventLoop, ending: asyncio.Future[ThreadOutcome], outcome: ThreadOutcome) -> None:
    def settle() -> None:
        if not ending.done():
            ending.set_result(outcome)

    if not loop.is_closed():
        try:
            loop.call_soon_threadsafe(settle)
        except RuntimeError:
            return  # closed since: nobody waits for it any more
