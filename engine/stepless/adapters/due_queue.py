"""Passes hints between processes: one that does not serve the runs marks a run as due in the store, where the server finds it."""

from __future__ import annotations

from collections.abc import Sequence

from stepless.ports import Clock, Message, Store


class DueQueue:
    """A queue without messages: a hint makes its run due, so the next sweep of the process that serves the store finds it."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def send(self, message: Message, delay_ms: int = 0) -> None:
        self._store.touch_run(message.run_id, self._clock.now_ms() + max(0, delay_ms))

    def send_all(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self.send(message)
