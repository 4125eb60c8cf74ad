"""Ways to a server that can be cut: each is a port on loopback that passes bytes on, for one person of a test."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE_S = 30
CHUNK_BYTES = 65_536


class Cables:
    """An event loop in a thread of its own, which passes on what goes over its cables."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._cables: list[Cable] = []

    def add(self, port: int) -> Cable:
        """A cable to a port on loopback."""
        made = Cable(self, port)
        self._cables.append(made)
        return made

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE_S)

    def close(self) -> None:
        for cable in self._cables:
            self.run(cable.end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE_S)
        self._loop.close()


class Cable:
    """`url` is where a person reaches the server. `port` may be another one after the server has moved."""

    def __init__(self, cables: Cables, port: int) -> None:
        self.port = port
        self._cables = cables
        self._is_cut = False
        self._is_deaf = False
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._cables.run(self._listen())

    @contextmanager
    def cut(self) -> Iterator[None]:
        """What is open breaks off, what is new is refused, until the end of the block."""
        self._cables.run(self._set(is_cut=True))
        try:
            yield
        finally:
            self._cables.run(self._set())

    @contextmanager
    def deaf(self) -> Iterator[None]:
        """Connections stay open, and nothing arrives at the other end any more; they break off at the end of the block."""
        self._cables.run(self._set(is_deaf=True))
        try:
            yield
        finally:
            self._cables.run(self._set())

    async def _set(self, *, is_cut: bool = False, is_deaf: bool = False) -> None:
        if is_cut or self._is_deaf:
            self._break()
        self._is_cut, self._is_deaf = is_cut, is_deaf

    def _break(self) -> None:
        for writer in self._open:
            writer.transport.abort()

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._accept, sock=self._listener)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_cut:
            writer.transport.abort()
            return
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:  # the server is gone
            writer.transport.abort()
            return
        self._open |= {writer, far_writer}
        ways = {asyncio.create_task(self._pass(reader, far_writer)), asyncio.create_task(self._pass(far_reader, writer))}
        self._tasks |= ways
        await asyncio.wait(ways)
        self._tasks -= ways
        self._open -= {writer, far_writer}

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (data := await reader.read(CHUNK_BYTES)) != b"":
                if not self._is_deaf:
                    writer.write(data)
                    await writer.drain()
        except OSError:
            writer.transport.abort()
            return
        writer.close()

    async def end(self) -> None:
        self._server.close()
        self._break()
        if self._tasks:
            await asyncio.wait(set(self._tasks))
