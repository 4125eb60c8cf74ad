"""Calls the service from a request: in the event loop where the store is near and the request small, else in a thread.

A thread costs a request far more than the store's call: two switches between threads, and while the event loop computes, up to
five milliseconds until the thread may run. In the event loop, the writes of a request also share a transaction with the commits
of the runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from starlette.concurrency import run_in_threadpool

from stepless.errors import StoreUnavailable
from stepless.limits import NEAR_REQUEST_BYTES, REQUEST_TRIES
from stepless.runtime.commits import backoff_s, is_locked
from stepless.runtime.world import World

R = TypeVar("R")


async def call(world: World, function: Callable[[], R], *, size: int | None = 0) -> R:
    """Returns the result of `function`. `size` is that of the request's body in bytes, None if it is not known. `function` must
    make few and short calls of the store, and have the same effect if it is called again. While another process writes to the
    file, it is called again some seconds long; then the `StoreUnavailable` is raised."""
    if not world.near or size is None or size > NEAR_REQUEST_BYTES:
        return await run_in_threadpool(function)
    failed = 0
    while True:
        try:
            return await _near(world, function)
        except StoreUnavailable as error:
            failed += 1
            if not is_locked(error) or failed >= REQUEST_TRIES:
                raise
        await asyncio.sleep(backoff_s(failed))


async def _near(world: World, function: Callable[[], R]) -> R:
    """What `function` returns, in this thread."""
    if not world.commits.shared:
        return function()
    try:
        answer, error = await world.commits.make(partial(_kept, function))
    except StoreUnavailable:  # perhaps by the write of another
        return function()
    if error is not None:
        raise error
    return answer  # type: ignore[return-value]


def _kept(write: Callable[[], R]) -> tuple[R | None, StoreUnavailable | None]:
    """What `write` returns, or the error after which its changes are stored nevertheless. Other errors of an unavailable store
    undo the whole transaction."""
    try:
        return write(), None
    except StoreUnavailable as error:
        if error.code != "start_delayed":
            raise
        return None, error
