"""The connections of `stepless dev`: the limits of each, and that none blocks the others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from stepless.cli.dev.http import Bounds, Connection, Server
from stepless.cli.dev.server import listen

pytestmark = pytest.mark.anyio

PATIENCE_S = 20
SOON = Bounds(header_ms=50, body_ms=50, send_ms=50, connections=8)
GET = b"GET / HTTP/1.1\r\nhost: here\r\n\r\n"
HALF_HEADER = b"GET / HTTP/1.1\r\nhost: he"
HALF_BODY = b"POST / HTTP/1.1\r\nhost: here\r\ncontent-length: 100\r\n\r\nhalf"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def reads(scope: Any, receive: Any, send: Any) -> None:
    """Answers once the body is whole."""
    while (await receive()).get("more_body", False):
        pass
    await answer(send)


async def answers_first(scope: Any, receive: Any, send: Any) -> None:
    """Answers, whatever the body."""
    await answer(send)


async def floods(scope: Any, receive: Any, send: Any) -> None:
    """Sends more than any buffer holds."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(1_000):
        await send({"type": "http.response.body", "body": bytes(100_000), "more_body": True})


async def holds(scope: Any, receive: Any, send: Any) -> None:
    """Begins to answer, and never ends, for as long as the client stays."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    while (await receive())["type"] != "http.disconnect":
        pass


async def answer(send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


Dial = Callable[[bytes], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


@asynccontextmanager
async def serving(
    app: Any, given: Bounds = SOON, connection: type[Connection] = Connection
) -> AsyncIterator[tuple[Server, Dial]]:
    class Bounded(connection):  # type: ignore[valid-type, misc]
        bounds = given

    ready, writers = asyncio.Event(), list[asyncio.StreamWriter]()
    server, listener = Server(app, ready.set, Bounded), listen("127.0.0.1", 0)
    task = asyncio.create_task(server.serve([listener]))

    async def dial(sent: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        writers.append(writer)
        writer.write(sent)
        return reader, writer

    try:
        async with asyncio.timeout(PATIENCE_S):
            await ready.wait()
            yield server, dial
    finally:
        for writer in writers:
            writer.transport.abort()
        server.leave()
        await task


async def said(reader: asyncio.StreamReader) -> str:
    """All that comes until the connection ends, which it must."""
    try:
        return (await reader.read()).decode()
    except ConnectionError:
        return ""


@pytest.mark.parametrize(("half", "what"), [(HALF_HEADER, "header"), (HALF_BODY, "body"), (GET[:1], "header")])
async def test_a_request_that_does_not_come_in_time_is_told_so_and_its_connection_closed(half: bytes, what: str) -> None:
    async with serving(reads) as (_, dial):
        reader, _ = await dial(half)
        told = await said(reader)
    assert told.startswith("HTTP/1.1 408 ") and '"code":"request_timeout"' in told and f"the {what} of the request" in told
    assert "application/problem+json" in told


class Counted:
    """A transport that keeps what is written, and writes it."""

    def __init__(self, transport: asyncio.Transport, written: list[bytes]) -> None:
        self._transport, self._written = transport, written

    def write(self, data: bytes) -> None:
        self._written.append(data)
        self._transport.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


async def test_a_response_is_written_at_once_and_its_header_waits_for_no_body() -> None:
    written: list[bytes] = []

    class Watched(Connection):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(Counted(transport, written))  # type: ignore[arg-type]

    async with serving(answers_first, connection=Watched) as (_, dial):
        reader, _ = await dial(GET)
        await reader.readuntil(b"ok")
        assert [data[:15] for data in written if data] == [b"HTTP/1.1 200 OK"] and written[0].endswith(b"\r\n\r\nok")
    written.clear()
    async with serving(holds, connection=Watched) as (_, dial):
        reader, _ = await dial(GET)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 OK")


async def test_bytes_that_trickle_in_put_nothing_off() -> None:
    async with serving(reads) as (_, dial):
        reader, writer = await dial(HALF_HEADER)
        ended = asyncio.create_task(said(reader))
        while not ended.done():
            writer.write(b"x")
            await asyncio.wait({ended}, timeout=0.01)
        assert "200" not in await ended  # what is still on its way resets the connection, perhaps before the 408 is read


async def test_a_connection_that_asks_nothing_is_closed_without_a_word() -> None:
    async with serving(reads) as (_, dial):
        reader, _ = await dial(b"")
        assert await said(reader) == ""


async def test_a_body_that_nobody_waits_for_any_more_has_a_bound_too() -> None:
    async with serving(answers_first) as (_, dial):
        reader, _ = await dial(HALF_BODY)
        assert (await said(reader)).startswith("HTTP/1.1 200 ")


async def test_the_second_request_of_a_connection_is_bound_as_the_first() -> None:
    async with serving(reads) as (_, dial):
        reader, writer = await dial(GET)
        assert b"200" in await reader.readuntil(b"ok")
        writer.write(HALF_HEADER)
        assert (await said(reader)).startswith("HTTP/1.1 408 ")


async def test_a_client_that_takes_nothing_of_its_answer_is_let_go() -> None:
    async with serving(floods) as (server, dial):
        reader, _ = await dial(GET)
        await reader.read(1)
        reader._transport.pause_reading()  # type: ignore[attr-defined]  # the kernel's buffers fill up then
        while server.server_state.connections:
            await asyncio.wait(server.server_state.tasks, timeout=0.01)


async def test_half_requests_do_not_keep_whole_ones_out() -> None:
    """Of more connections than there may be, the one that has kept the server waiting longest goes."""
    slow = Bounds(header_ms=60_000, body_ms=60_000, send_ms=60_000, connections=8)
    async with serving(reads, slow) as (server, dial):
        halves = [(await dial((HALF_HEADER, HALF_BODY)[number % 2]))[0] for number in range(40)]
        whole, _ = await dial(GET)
        assert b"200" in await whole.readuntil(b"ok")
        assert len(server.server_state.connections) <= slow.connections
        assert await said(halves[0]) == ""


async def test_while_all_connections_are_served_another_is_told_to_come_later() -> None:
    async with serving(holds) as (_, dial):
        for _ in range(SOON.connections):
            served, _ = await dial(GET)
            await served.readuntil(b"200")
        reader, _ = await dial(GET)
        told = await said(reader)
    assert told.startswith("HTTP/1.1 503 ") and '"code":"too_many_connections"' in told and "retry-after: 1" in told


async def test_what_is_not_http_is_a_problem_like_any_other() -> None:
    async with serving(reads) as (_, dial):
        reader, _ = await dial(b"\x16\x03\x01 what?\r\n\r\n")
        told = await said(reader)
    assert told.startswith("HTTP/1.1 400 ") and '"code":"invalid_request"' in told


async def test_answers_are_dated() -> None:
    async with serving(reads) as (_, dial):
        reader, _ = await dial(GET)
        assert b"\r\ndate: " in await reader.readuntil(b"ok")


async def test_a_server_that_shall_leave_ends_what_is_open(anyio_backend: str) -> None:
    async with serving(reads) as (server, dial):
        reader, _ = await dial(GET)
        assert b"200" in await reader.readuntil(b"ok")
        server.leave()
        assert await said(reader) == ""


UPGRADE = (
    b"GET / HTTP/1.1\r\nhost: here\r\nconnection: Upgrade\r\nupgrade: websocket\r\n"
    b"sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
MASKED_HI = b"\x81\x82\x00\x00\x00\x00hi"  # a text frame of a client, with a mask of zeros


async def echoes(scope: Any, receive: Any, send: Any) -> None:
    """Says over a WebSocket what it hears."""
    if scope["type"] != "websocket":
        await answer(send)
        return
    await receive()
    await send({"type": "websocket.accept"})
    while (event := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": event["text"]})


async def test_a_socket_outlives_the_bounds_of_a_request() -> None:
    """It is idle until connections that are as old, and sent half of a request, have been ended by the same bounds."""
    async with serving(echoes) as (_, dial):
        reader, writer = await dial(UPGRADE)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101 ")
        for half in (HALF_BODY, HALF_HEADER, HALF_HEADER):
            late, _ = await dial(half)
            await said(late)
        writer.write(MASKED_HI)
        assert await reader.readexactly(4) == b"\x81\x02hi"
