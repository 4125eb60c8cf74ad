"""A client of drafts in tests: over HTTP, and over a WebSocket that is driven as ASGI messages or over a real connection."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

PATIENCE_S = 15


def op(epoch: int, n: int, *operations: Any, client: str = "c", base: int = 0, tag: str = "") -> dict[str, Any]:
    """A request; each operation is a list of writes."""
    return {
        "epoch": epoch, "client": client, "n": n, "tag": tag or f"{client}-{n}", "base": base,
        "gestures": [{"writes": list(writes)} for writes in operations],
    }  # fmt: skip


def renames(name: str) -> list[Any]:
    """An operation that names the workflow."""
    return [["set", "doc", ["name"], name]]


async def until(holds: Callable[[], object]) -> None:
    """Lets the event loop go on until something holds."""
    async with asyncio.timeout(PATIENCE_S):
        while not holds():  # noqa: ASYNC110 - the code under test has no event for it
            await asyncio.sleep(0)


class Socket:
    """A WebSocket to an ASGI app, without a network."""

    def __init__(self, app: Any, address: str, **headers: str) -> None:
        parts = urlsplit(address)
        self._app = app
        self._to_app: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._from_app: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._reading = asyncio.Event()
        self._reading.set()
        self._scope = {
            "type": "websocket", "asgi": {"version": "3.0", "spec_version": "2.4"}, "http_version": "1.1", "scheme": "ws",
            "path": parts.path, "raw_path": parts.path.encode(), "query_string": parts.query.encode(), "root_path": "",
            "headers": [(name.encode(), value.encode()) for name, value in {"host": "localhost:8400", **headers}.items()],
            "subprotocols": [], "client": ("test", 1), "server": ("localhost", 8400), "state": {},
            "extensions": {"websocket.http.response": {}},
        }  # fmt: skip
        self.status = 101
        self.problem: dict[str, Any] = {}

    async def __aenter__(self) -> Socket:
        self._to_app.put_nowait({"type": "websocket.connect"})
        self._task = asyncio.create_task(self._app(self._scope, self._to_app.get, self._send))
        first = await self._next()
        if first["type"] == "websocket.http.response.start":
            self.status = first["status"]
            self.problem = json.loads((await self._next())["body"])
        return self

    async def __aexit__(self, *error: object) -> None:
        self._reading.set()
        self._to_app.put_nowait({"type": "websocket.disconnect", "code": 1001})
        await asyncio.wait_for(self._task, PATIENCE_S)

    async def _send(self, message: dict[str, Any]) -> None:
        await self._reading.wait()
        self._from_app.put_nowait(message)

    async def _next(self) -> dict[str, Any]:
        return await asyncio.wait_for(self._from_app.get(), PATIENCE_S)

    def lose(self) -> None:
        """What was said and the app has not read is lost."""
        while not self._to_app.empty():
            self._to_app.get_nowait()

    def read_nothing(self) -> None:
        """From now on nothing that the app sends leaves its buffer."""
        self._reading.clear()

    def say(self, type_: str, **message: Any) -> None:
        self.say_text(json.dumps({"v": 1, "t": type_, **message}))

    def say_text(self, text: str) -> None:
        self._to_app.put_nowait({"type": "websocket.receive", "text": text})

    def say_bytes(self, data: bytes) -> None:
        self._to_app.put_nowait({"type": "websocket.receive", "bytes": data})

    async def hear(self, type_: str, fits: Callable[[Any], bool] = lambda message: True) -> dict[str, Any]:
        """The next message of a type; those before it are skipped."""
        while True:
            message = await self.message()
            if message["t"] == type_ and fits(message):
                return message

    async def message(self) -> dict[str, Any]:
        event = await self._next()
        assert event["type"] == "websocket.send", event
        message: dict[str, Any] = json.loads(event["text"])
        assert message["v"] == 1 and len(event["text"].encode()) <= 30_000
        return message

    async def ended(self) -> None:
        """Returns when the app is done with the socket."""
        await asyncio.wait_for(asyncio.shield(self._task), PATIENCE_S)

    async def closed(self) -> tuple[int, str]:
        """The code with which the app closes the socket, and what its message said."""
        why = ""
        while True:
            event = await self._next()
            if event["type"] == "websocket.close":
                return event["code"], why
            message = json.loads(event["text"])
            if message["t"] == "closing":
                why = message["why"]
                code = message["code"]
                assert isinstance(code, int)

    async def enter(self, client: str = "c", after: int = 0, epoch: int = 1) -> dict[str, Any]:
        self.say("hello", client=client, tab="t", after=after, epoch=epoch)
        return await self.hear("welcome")
