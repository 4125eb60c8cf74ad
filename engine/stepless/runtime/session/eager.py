"""Starts a task that runs at once, up to the point where it first waits: one that never waits costs no turn of the event loop.

The work is always a task of its own, which `asyncio.current_task` returns in it: `asyncio.timeout` in the code of a node cancels
that task, never the runner. From Python 3.12 on asyncio does this itself (`eager_start`). In Python 3.11, whose event loop is
final, the first step of the new task is taken from the loop's queue and made at once. A loop or a task factory of another
package gets an ordinary task.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from typing import Any


def start_soon(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
    """`loop.create_task` without its detours, of which many tasks at once take a tenth of a node's time."""
    return asyncio.Task(work, loop=loop, name=name) if loop.get_task_factory() is None else loop.create_task(work, name=name)


if sys.version_info >= (3, 12):

    def start_now(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """A task that has already run until its end or its first wait. For the use in a task of this loop, while it runs."""
        if loop.get_task_factory() is not None:
            return loop.create_task(work, name=name)
        return asyncio.Task(work, loop=loop, name=name, eager_start=True)

else:

    def start_now(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """A task that has already run until its end or its first wait. For the use in a task of this loop, while it runs."""
        if loop.get_task_factory() is not None:
            return loop.create_task(work, name=name)
        outer = asyncio.current_task(loop)
        task: asyncio.Task[None] = asyncio.Task(work, loop=loop, name=name)
        queue: Any = getattr(loop, "_ready", None)
        step: Any = queue[-1] if queue else None
        is_next: bool = getattr(getattr(step, "_callback", None), "__self__", None) == task
        if outer is None or not is_next:
            return task
        queue.pop()
        asyncio.tasks._leave_task(loop, outer)
        try:
            step._run()
        finally:
            asyncio.tasks._enter_task(loop, outer)
        return task
