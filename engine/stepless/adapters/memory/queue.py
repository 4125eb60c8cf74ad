"""Queues hints in memory."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from threading import Lock

from stepless.errors import StoreUnavailable
from stepless.limits import MAX_QUEUED_HINTS
from stepless.ports import Clock, Message


class MemoryQueue:
    """Orders messages by the instant at which they become visible, then by the order of sending.

    `clock` gives the instant from which a delay counts. `receive` removes a message: for redelivery, send it again, or rely on
    the sweep.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._on_send: Callable[[], None] | None = None
        self._lock = Lock()
        self._heap: list[tuple[int, int, Message]] = []
        self._sent = 0

    def listen(self, on_send: Callable[[], None]) -> None:
        """See `Inbound.listen`: a loop that waits for work wakes up by it."""
        self._on_send = on_send

    def send(self, message: Message, delay_ms: int = 0) -> None:
        visible_ms = self._clock.now_ms() + max(0, delay_ms)
        with self._lock:
            if len(self._heap) >= MAX_QUEUED_HINTS:
                raise StoreUnavailable(f"{MAX_QUEUED_HINTS:,} messages wait already", place="queue", mend="send again later")
            self._sent += 1
            heapq.heappush(self._heap, (visible_ms, self._sent, message))
        if self._on_send:
            self._on_send()

    def send_all(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self.send(message)

    def receive(self, now_ms: int) -> Message | None:
        """Removes and returns the next message that is visible at `now_ms`; None if there is none."""
        with self._lock:
            if not self._heap or self._heap[0][0] > now_ms:
                return None
            return heapq.heappop(self._heap)[2]

    def next_ms(self) -> int | None:
        """Returns the instant at which the next message becomes visible, which may be past; None if the queue is empty."""
        with self._lock:
            return self._heap[0][0] if self._heap else None

    def __len__(self) -> int:
        return len(self._heap)
