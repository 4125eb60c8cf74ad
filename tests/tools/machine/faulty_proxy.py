"""Stands between a client and a server, and breaks what passes as it is told."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
from served_api import Looped


@dataclass
class Seen:
    """A request as the proxy received it."""

    method: str
    target: str
    headers: Mapping[str, str]
    at: float
    raw: bytes = field(repr=False)
    reader: asyncio.StreamReader = field(repr=False)


Fault = Callable[[Seen, asyncio.StreamWriter, "Proxy"], Awaitable[None]]


async def lose(seen: Seen, back: asyncio.StreamWriter, proxy: Proxy) -> None:
    """The server receives the request and answers; the caller gets nothing."""
    async for _ in proxy.answer(seen):
        continue


async def reset(seen: Seen, back: asyncio.StreamWriter, proxy: Proxy) -> None:
    """The connection breaks after the request was sent, and before the server has received it."""


async def hold(seen: Seen, back: asyncio.StreamWriter, proxy: Proxy) -> None:
    """Nobody answers, until the caller gives up."""
    await seen.reader.read()


def say(status: int, body: Mapping[str, Any] | None = None, *, content_type: str = "application/json", **headers: str) -> Fault:
    """Another than the server answers: with a problem document, or as a gateway does."""

    async def fault(seen: Seen, back: asyncio.StreamWriter, proxy: Proxy) -> None:
        kind = content_type if body is None else "application/problem+json"
        data = json.dumps({"message": "Service Unavailable"} if body is None else {**body, "status": status}).encode()
        lines = [f"HTTP/1.1 {status} No", f"content-type: {kind}", f"content-length: {len(data)}", "connection: close"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        back.write("\r\n".join([*lines, "", ""]).encode() + data)

    return fault


def cut_after(text: bytes) -> Fault:
    """The response breaks off in the middle, some bytes after this text."""

    async def fault(seen: Seen, back: asyncio.StreamWriter, proxy: Proxy) -> None:
        passed = b""
        async for chunk in proxy.answer(seen):
            passed += chunk
            if (found := passed.find(text)) >= 0:
                back.write(passed[len(passed) - len(chunk) : found + len(text) + 5])
                return
            back.write(chunk)

    return fault


class Proxy(Looped):
    """Passes each request on to the server, one per connection; the next ones with the `faults`, in this order."""

    def __init__(self, upstream: str, *faults: Fault) -> None:
        super().__init__()
        self._upstream = httpx.URL(upstream)
        self.faults = list(faults)
        self.seen: list[Seen] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    async def serve(self, ready: Callable[[], None], stop: asyncio.Event) -> None:
        server = await asyncio.start_server(self._handle, sock=self.listener)
        ready()
        await stop.wait()
        server.close()

    async def _handle(self, reader: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        try:
            seen = await self._read(reader)
            self.seen.append(seen)
            fault = self.faults.pop(0) if self.faults else _pass
            await fault(seen, back, self)
            await back.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            return  # the caller, or the server, has closed the connection
        finally:
            back.close()

    async def _read(self, reader: asyncio.StreamReader) -> Seen:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode().rstrip().split("\r\n")
        method, target, _ = first.split(" ")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        kept = [line for line in lines if not line.lower().startswith("connection:")]
        raw = "\r\n".join([first, *kept, "connection: close", "", ""]).encode() + body
        return Seen(method, target, headers, asyncio.get_running_loop().time(), raw, reader)

    async def answer(self, seen: Seen) -> AsyncIterator[bytes]:
        """The server's response to the request, by chunks."""
        reader, writer = await asyncio.open_connection(self._upstream.host, self._upstream.port)
        try:
            writer.write(seen.raw)
            while chunk := await reader.read(4096):
                yield chunk
        finally:
            writer.close()


async def _pass(seen: Seen, back: asyncio.StreamWriter, proxy: Proxy) -> None:
    async for chunk in proxy.answer(seen):
        back.write(chunk)
        await back.drain()
