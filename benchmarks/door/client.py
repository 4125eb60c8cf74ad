"""A small HTTP/1.1 client on asyncio streams, so that the client costs less than the servers that it measures."""

from __future__ import annotations

import asyncio
import time
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit


class Connection:
    """One kept connection. `post` sends a body and returns status and body; it raises if the server closes in between."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._host, self._port = parts.hostname or "", parts.port or 80

    async def __aenter__(self) -> Self:
        self._reader, self._writer = await asyncio.open_connection(self._host, self._port)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._writer.close()
        await self._writer.wait_closed()

    async def post(self, path: str, body: bytes) -> tuple[int, bytes]:
        head = f"POST {path} HTTP/1.1\r\nHost: {self._host}:{self._port}\r\nContent-Type: application/json\r\n"
        self._writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        lines = (await self._reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
        fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines[1:])}
        return int(lines[0].split()[1]), await self._reader.readexactly(int(fields[b"content-length"]))


async def one_after_the_other(url: str, path: str, body: bytes, expected: int, requests: int) -> list[float]:
    """Seconds of each request, all on one kept connection."""
    took = []
    async with Connection(url) as connection:
        for _ in range(requests):
            before = time.perf_counter()
            status, answer = await connection.post(path, body)
            took.append(time.perf_counter() - before)
            if status != expected:
                raise RuntimeError(f"{path} answered {status}: {answer[:200]!r}")
    return took


async def at_once(url: str, path: str, body: bytes, expected: int, requests: int, connections: int) -> float:
    """Seconds for all requests, sent on a number of kept connections."""
    left = iter(range(requests))

    async def one() -> None:
        async with Connection(url) as connection:
            for _ in left:
                status, answer = await connection.post(path, body)
                if status != expected:
                    raise RuntimeError(f"{path} answered {status}: {answer[:200]!r}")

    before = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(connections)))
    return time.perf_counter() - before
