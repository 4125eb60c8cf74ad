"""Sends the notices of one session. A notice that fails does not affect its pause."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

from stepless.core.facts import Noticed
from stepless.core.state import Instance, State, Wait
from stepless.core.values.masking import Mask
from stepless.limits import MAX_LOG_CHARACTERS, NOTICE_TIMEOUT_MS
from stepless.model.work import NodeFailure
from stepless.runtime.world import World


class NoticeSender:
    """Sends notices concurrently with the session's work. `arrive` is called with the result of each. True while any is being
    sent."""

    def __init__(self, world: World, env: Mapping[str, str], mask: Mask, arrive: Callable[[Noticed], None]) -> None:
        self._world = world
        self._env = env
        self._mask = mask
        self._arrive = arrive
        self._tasks: set[asyncio.Task[None]] = set()

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def begin(self, state: State, pause: str) -> None:
        """Starts to send the notice of a pause, if the pause is still open."""
        instance = state.waiting.get(pause)
        if instance is not None and instance.wait is not None:
            task = asyncio.get_running_loop().create_task(self._send(state, instance, instance.wait))
            self._tasks.add(task)

    def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        self._tasks.clear()

    async def _send(self, state: State, instance: Instance, wait: Wait) -> None:
        fault = None
        try:
            if self._world.notify is None:
                raise NodeFailure("config", "notice_without_means", "this installation cannot send notices")
            async with asyncio.timeout(NOTICE_TIMEOUT_MS / 1000):
                await self._world.notify(state, instance, wait, self._env, self._world.clock.now_ms())
        except Exception as error:  # delivery may fail in any way: the failure is logged, and the notice is retried
            fault = self._mask.message(str(error) or type(error).__name__)[:MAX_LOG_CHARACTERS]
        task = asyncio.current_task()
        assert task is not None
        self._tasks.discard(task)
        self._arrive(Noticed(instance.id, wait.sent, fault))
