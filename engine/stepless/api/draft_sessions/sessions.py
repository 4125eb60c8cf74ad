"""Passes committed log entries on within one process, and wakes callers that wait for one.

Passing on is a hint. What is lost on the way, and what another process commits, a client finds when it reads the log.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from time import monotonic
from typing import Any

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from stepless.drafts.log.entries import Answer, LogEntry
from stepless.drafts.operations.verbs import DraftVerbs
from stepless.drafts.sessions.admission import Intake
from stepless.drafts.sessions.bounds import Bounds
from stepless.drafts.sessions.upkeep import attempted
from stepless.limits import DRAFT_POLL_MS, DRAFTS_SWEPT_MS
from stepless.model.json import JSON
from stepless.ports import Draft
from stepless.runtime.draft_runs import StartedRun

Listener = Callable[[Draft, LogEntry | StartedRun | None], None]
"""Receives each entry that this process commits to a draft, each test run that it starts, and None when the epoch of the draft
has ended."""


def person_of(request: Request) -> str:
    """Returns the caller as the log of a draft names them."""
    caller: str = request.state.caller
    return caller


class DraftSessions:
    """For use in the event loop that serves the requests. `lasting`: the process keeps running after a response. Then upkeep
    happens after the response, and a draft is also checked some time after its last entry, so that a later start reads less. A
    process that may be frozen between requests does what is due before it responds, and leaves the rest to the sweep. `beyond` is
    called in a thread, like a listener, for the people whose sockets are not in this process."""

    def __init__(self, drafts: DraftVerbs, bounds: Bounds, *, lasting: bool, beyond: Listener | None = None) -> None:
        self.drafts = drafts
        self._beyond = beyond
        self.bounds = bounds
        self._lasting = lasting
        self._listeners: dict[str, list[Listener]] = {}
        self._idle: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._intake = Intake(bounds)
        self.rebased: Callable[[str], None] = lambda workflow_id: None
        """Called in the event loop when the base of a draft, or a conflict with it, may be another one. Set by the seats."""

    async def submit(self, draft: Draft, message: Mapping[str, JSON], by: str) -> LogEntry | Answer:
        """Commits an intent and passes the entry on; see `DraftVerbs.submit`. `rate`: the client, or everyone in the draft, has
        sent too much."""
        if (refused := self._intake.too_soon(draft, by, message)) is not None:
            return refused
        made = await run_in_threadpool(partial(self.drafts.submit, draft, message, by))
        if isinstance(made, LogEntry):
            await self.announce(draft, made)
            if self._lasting:
                self._later(self._upkeep(draft, made.seq))
            else:
                await self._upkeep(draft, made.seq)
        elif made.code == "replaced":
            await self.announce(draft, None)
        return made

    async def announce(self, draft: Draft, entry: LogEntry | StartedRun | None) -> None:
        """Passes an entry, or a test run, on to everyone, `beyond` this process too. None: the epoch of the draft has ended."""
        self.pass_on(draft, entry)
        if self._beyond is not None:
            await run_in_threadpool(self._beyond, draft, entry)

    def pass_on(self, draft: Draft, entry: LogEntry | StartedRun | None) -> None:
        """Calls the listeners in this process."""
        for listener in list(self._listeners.get(draft.workflow_id, ())):
            listener(draft, entry)

    @contextmanager
    def listening(self, workflow_id: str, listener: Listener) -> Iterator[None]:
        """Calls the listener for the drafts of a workflow."""
        held = self._listeners.setdefault(workflow_id, [])
        held.append(listener)
        try:
            yield
        finally:
            held.remove(listener)
            if not held:
                self._listeners.pop(workflow_id, None)

    async def follow(self, draft: Draft, after: int, limit: int, seconds: float) -> tuple[Sequence[LogEntry], int, bool]:
        """Entries above `after`, the end of the log, and whether the epoch is the draft's; waits up to `seconds` for an entry.
        Raises `NotFound` (unknown_draft)."""
        end = monotonic() + seconds
        news = asyncio.Event()
        with self.listening(draft.workflow_id, lambda _draft, _entry: news.set()):
            while True:
                news.clear()
                entries, head, current = await run_in_threadpool(partial(self.drafts.entries, draft, after, limit))
                left = end - monotonic()
                if entries or not current or left <= 0:
                    return entries, head, current
                try:
                    await asyncio.wait_for(news.wait(), min(left, DRAFT_POLL_MS / 1000))
                except TimeoutError:
                    continue  # another process may have committed

    # -- upkeep -----------------------------------------------------------------------------------------------------

    def left(self, workflow_id: str) -> None:
        """Checks what is not checked yet: the last person has left the draft."""
        held = self._idle.get(workflow_id)
        if held is not None:
            held.cancel()
            self._check(workflow_id)

    async def sweep(self) -> None:
        """Checks what an earlier process left unchecked, and completes what it left half done: now, and every
        DRAFTS_SWEPT_MS, until it is cancelled."""
        while True:
            await self._attempted("each workflow", partial(self.drafts.sweep, round(self.bounds.idle_ms)))
            await asyncio.sleep(DRAFTS_SWEPT_MS / 1000)

    async def close(self) -> None:
        """Checks what is not checked, and waits for it."""
        for workflow_id in list(self._idle):
            self.left(workflow_id)
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _upkeep(self, draft: Draft, seq: int) -> None:
        await self._attempted(draft.workflow_id, partial(self.drafts.after, draft, seq))
        if self._lasting:
            held = self._idle.pop(draft.workflow_id, None)
            if held is not None:
                held.cancel()
            loop = asyncio.get_running_loop()
            self._idle[draft.workflow_id] = loop.call_later(self.bounds.idle_ms / 1000, self._check, draft.workflow_id)

    def _check(self, workflow_id: str) -> None:
        self._idle.pop(workflow_id, None)
        self._later(self._attempted(workflow_id, partial(self.drafts.checkpoint, workflow_id)))

    async def _attempted(self, workflow_id: str, upkeep: Callable[[], None]) -> None:
        await run_in_threadpool(partial(attempted, workflow_id, upkeep))

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
