"""Who is in which draft, in one process: passes committed items on, and wakes callers that wait for one.

Passing on is a hint. What is lost on the way, and what another process commits, a client finds when it reads the log.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from time import monotonic

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from stepless.errors import TransientError
from stepless.limits import CHECKPOINT_IDLE_MS, DRAFT_POLL_MS
from stepless.model.json import JSON
from stepless.ports import Draft
from stepless.runtime.drafts.items import Answer, Item
from stepless.runtime.verbs.drafts import DraftVerbs

Listener = Callable[[Draft, Item], None]


def person_of(request: Request) -> str:
    """The caller as the log of a draft names them."""
    caller: str = request.state.caller
    return caller


def item_out(item: Item) -> dict[str, JSON]:
    made: dict[str, JSON] = {
        "seq": item.seq, "client": item.client, "n": item.n, "tag": item.tag, "by": item.by, "at": item.at_ms,
        "effects": list(item.effects),
    }
    if item.outcomes:
        made["outcomes"] = list(item.outcomes)
    if item.closes is not None:
        made["closes"] = {"epoch": item.closes["epoch"]}
    return made


def answer_out(message: Mapping[str, JSON], answer: Answer) -> dict[str, JSON]:
    made: dict[str, JSON] = {"n": message.get("n"), "tag": message.get("tag"), "code": answer.code}
    if answer.retry_after_ms is not None:
        made["retry_after_ms"] = answer.retry_after_ms
    return made


class Rooms:
    """All in the event loop that serves the requests. `idle_checkpoints`: checks a draft some time after its last item, so that a
    later start reads less; a process that may be frozen between requests leaves that to the sweep."""

    def __init__(self, drafts: DraftVerbs, *, idle_checkpoints: bool) -> None:
        self.drafts = drafts
        self._idle_checkpoints = idle_checkpoints
        self._listeners: dict[str, list[Listener]] = {}
        self._idle: dict[str, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def submit(self, draft: Draft, message: JSON, by: str) -> Item | Answer:
        """Commits an intent and passes the item on; see `DraftVerbs.submit`."""
        made = await run_in_threadpool(partial(self.drafts.submit, draft, message, by))
        if isinstance(made, Item):
            self.pass_on(draft, made)
            self._later(self._upkeep(draft, made.seq))
        return made

    def pass_on(self, draft: Draft, item: Item) -> None:
        for listener in list(self._listeners.get(draft.workflow_id, ())):
            listener(draft, item)

    @contextmanager
    def listening(self, workflow_id: str, listener: Listener) -> Iterator[None]:
        """Calls the listener with each item that this process commits to the drafts of a workflow."""
        held = self._listeners.setdefault(workflow_id, [])
        held.append(listener)
        try:
            yield
        finally:
            held.remove(listener)
            if not held:
                self._listeners.pop(workflow_id, None)

    async def follow(self, draft: Draft, after: int, limit: int, seconds: float) -> tuple[Sequence[Item], int, bool]:
        """Items above `after`, the end of the log, and whether the epoch is the draft's; waits up to `seconds` for an item."""
        end = monotonic() + seconds
        news = asyncio.Event()
        with self.listening(draft.workflow_id, lambda _draft, _item: news.set()):
            while True:
                news.clear()
                items, head, current = await run_in_threadpool(partial(self._read, draft, after, limit))
                left = end - monotonic()
                if items or not current or left <= 0:
                    return items, head, current
                try:
                    await asyncio.wait_for(news.wait(), min(left, DRAFT_POLL_MS / 1000))
                except TimeoutError:
                    continue  # another process may have committed

    def _read(self, draft: Draft, after: int, limit: int) -> tuple[Sequence[Item], int, bool]:
        items, head = self.drafts.items(draft, after, limit)
        return items, head, self.drafts.is_current(draft)

    # -- upkeep -----------------------------------------------------------------------------------------------------

    async def _upkeep(self, draft: Draft, seq: int) -> None:
        await run_in_threadpool(partial(self.drafts.after, draft, seq))
        if not self._idle_checkpoints:
            return
        held = self._idle.pop(draft.workflow_id, None)
        if held is not None:
            held.cancel()
        loop = asyncio.get_running_loop()
        self._idle[draft.workflow_id] = loop.call_later(CHECKPOINT_IDLE_MS / 1000, self._check, draft.workflow_id)

    def _check(self, workflow_id: str) -> None:
        self._idle.pop(workflow_id, None)
        self._later(run_in_threadpool(partial(self.drafts.checkpoint, workflow_id)))

    def _later(self, work: object) -> None:
        async def done() -> None:
            try:
                await work  # type: ignore[misc]
            except TransientError:
                return  # the next item, or the sweep, does it
        task = asyncio.get_running_loop().create_task(done())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
