"""Starts a task that runs at once, up to the point where it first waits: one that never waits costs no turn of the event loop.

The work is always a task of its own, which `asyncio.current_task` returns in it: `asyncio.timeout` in the code of a node cancels
that task, never the runner. From Python 3.12 on asyncio does this itself (`eager_start`). In Python 3.11, whose event loop is
final, what the new task gives its loop to call soon is called at once. A loop or a task factory of another package gets an
ordinary task.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from typing import Any


def start_soon(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
    """Starts a task like `loop.create_task` without its detours, of which many tasks at once take a tenth of a node's time."""
    return asyncio.Task(work, loop=loop, name=name) if loop.get_task_factory() is None else loop.create_task(work, name=name)


if sys.version_info >= (3, 12):

    def start_now(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """A task that has already run until its end or its first wait. For the use in a task of this loop, while it runs."""
        if loop.get_task_factory() is not None:
            return loop.create_task(work, name=name)
        return asyncio.Task(work, loop=loop, name=name, eager_start=True)

else:
    _running: dict[asyncio.AbstractEventLoop, asyncio.Task[Any]] = vars(asyncio.tasks)["_current_tasks"]

    class _Steps(list[tuple[Any, tuple[Any, ...], Any]]):
        """What is scheduled while a task is made: its first step, and whatever the garbage collector finds to do meanwhile."""

        def __call__(self, callback: Any, *args: Any, context: Any = None) -> None:
            self.append((callback, args, context))

    def start_now(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """A task that has already run until its end or its first wait. For the use in a task of this loop, while it runs."""
        outer = _running.get(loop)
        if outer is None or loop.get_task_factory() is not None or not isinstance(loop, asyncio.BaseEventLoop):
            return loop.create_task(work, name=name)
        own = loop.__dict__
        if "call_soon" in own:  # replaced by another package
            return loop.create_task(work, name=name)
        own["call_soon"] = steps = _Steps()
        try:
            task: asyncio.Task[None] = asyncio.Task(work, loop=loop, name=name)
        finally:
            del own["call_soon"]
        first = None
        for step in steps:
            if first is None and getattr(step[0], "__self__", None) is task:
                first = step
            else:
                loop.call_soon(step[0], *step[1], context=step[2])
        if first is None:
            return task
        asyncio.tasks._leave_task(loop, outer)
        try:
            first[2].run(first[0])
        finally:
            asyncio.tasks._enter_task(loop, outer)
        return task
