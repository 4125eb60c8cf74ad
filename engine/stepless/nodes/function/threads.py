"""Runs sync functions in threads, which are reused and never joined.

The standard library's executor has a fixed number of workers and joins all of them when the process ends. A function that never
returns would occupy one of them for good, and delay the end of the process. Here, an abandoned call keeps its thread; other calls
get new threads up to a limit, and all threads are daemons.
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
from stepless.thread_calls import ThreadCalls, noted_call

ThreadOutcome: TypeAlias = tuple[Any, BaseException | None]
Answer: TypeAlias = tuple["asyncio.Future[ThreadOutcome]", asyncio.AbstractEventLoop, ThreadCalls | None]
Job: TypeAlias = tuple[Callable[[], Any], Answer]


class Threads:
    """Runs at most `most` threads. A call that finds all of them busy fails with `too_many_threads`, and may be retried."""

    def __init__(self, most: int = MAX_FUNCTION_THREADS, idle_s: float = IDLE_THREAD_S) -> None:
        self._most = most
        self._idle_s = idle_s
        self._idle: list[SimpleQueue[Job]] = []
        self._count = 0
        self._lock = threading.Lock()

    async def run(self, work: Callable[[], Any]) -> ThreadOutcome:
        """Returns what `work` returned and None, or None and the exception that it raised. `work` runs with the caller's context
        variables. If the caller is cancelled, the work continues and its outcome is discarded; it counts as a call of the attempt
        until it returns."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[ThreadOutcome] = loop.create_future()
        context = contextvars.copy_context()
        calls = noted_call()
        try:
            self._dispatch((lambda: context.run(work), (future, loop, calls)))
        except BaseException:
            if calls is not None:
                calls.ended()
            raise
        return await future

    def _dispatch(self, job: Job) -> None:
        with self._lock:
            if self._idle:
                self._idle.pop().put(job)
                return
            if self._count >= self._most:
                raise NodeFailure(
                    "rate_limit", "too_many_threads", f"all {self._most} threads for functions are busy",
                    mend="make the functions async, or give their work a timeout",
                )
            self._count += 1
        jobs: SimpleQueue[Job] = SimpleQueue()
        jobs.put(job)
        threading.Thread(target=self._serve, args=(jobs,), name="stepless-function", daemon=True).start()

    def _serve(self, jobs: SimpleQueue[Job]) -> None:
        while True:
            try:
                work, answer = jobs.get(timeout=self._idle_s)
            except Empty:
                if self._retire(jobs):
                    return
                continue
            outcome = _attempt(work)
            with self._lock:
                self._idle.append(jobs)
            _report(answer, outcome)
            del work, answer, outcome  # an idle thread keeps no objects alive

    def _retire(self, jobs: SimpleQueue[Job]) -> bool:
        """Removes an idle thread; returns False if it was given a job at the same moment."""
        with self._lock:
            if jobs not in self._idle:
                return False
            self._idle.remove(jobs)
            self._count -= 1
            return True


def _attempt(work: Callable[[], Any]) -> ThreadOutcome:
    try:
        return work(), None
    except BaseException as error:  # includes SystemExit: author code ends its attempt, never the thread
        return None, error


def _report(answer: Answer, outcome: ThreadOutcome) -> None:
    future, loop, calls = answer

    def settle() -> None:
        if calls is not None:
            calls.ended()
        if not future.done():
            future.set_result(outcome)

    try:
        loop.call_soon_threadsafe(settle)
    except RuntimeError:  # the loop is closed, so no caller waits for the outcome
        if calls is not None:
            calls.ended()
