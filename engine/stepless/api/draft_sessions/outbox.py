"""Queues the messages that wait to be sent over one WebSocket. A client that reads too slowly has little memory here: presence is
dropped first, then the socket is given up."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from starlette.websockets import WebSocket, WebSocketDisconnect

from stepless.limits import MAX_PRESENCE_QUEUE, MAX_SOCKET_QUEUE, MAX_SOCKET_QUEUE_BYTES


class Outbox:
    """`on_stuck` is called when too much waits, or when nothing can be sent any more."""

    def __init__(self, socket: WebSocket, on_stuck: Callable[[], None]) -> None:
        self._socket = socket
        self._on_stuck = on_stuck
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._changed = asyncio.Event()
        self._empty = asyncio.Event()
        self._empty.set()
        self._sending = asyncio.create_task(self._send_all())

    def put(self, message: bytes, *, passing: bool = False) -> None:
        """Sends a message after those that wait. A `passing` one is dropped while others wait: newer ones follow."""
        if passing and len(self._waiting) >= MAX_PRESENCE_QUEUE:
            return
        if len(self._waiting) >= MAX_SOCKET_QUEUE or self._size + len(message) > MAX_SOCKET_QUEUE_BYTES:
            self._on_stuck()
            return
        self._waiting.append(message)
        self._size += len(message)
        self._empty.clear()
        self._changed.set()

    async def drained(self) -> None:
        """Returns when everything has been sent."""
        await self._empty.wait()

    async def close(self) -> None:
        """Discards the messages that wait."""
        self._sending.cancel()
        await asyncio.wait({self._sending})

    async def _send_all(self) -> None:
        try:
            while True:
                while self._waiting:
                    message = self._waiting.popleft()
                    await self._socket.send_text(message.decode())
                    self._size -= len(message)
                self._empty.set()
                self._changed.clear()
                await self._changed.wait()
        except (WebSocketDisconnect, RuntimeError, OSError):  # the other side is gone
            self._empty.set()
            self._on_stuck()
