"""The API as callers use it: a real engine in memory, served in the test's own event loop, called over ASGI.

Every response is checked against /openapi.json, so that the API sends only what is documented.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import httpx
import jsonschema_rs
import pytest
from fastapi import FastAPI

from stepless.adapters.memory.secrets import MemorySecrets
from stepless.api.app import create_app
from stepless.ports import Drafts, Store
from stepless.runtime.service import Service
from stepless.runtime.wiring.local import Local, local
from stepless.runtime.wiring.stores import Kept

KEY = "the-key-of-the-tests"
HOOK_SECRET = "a-shared-secret"
SECRETS = MemorySecrets({"HOOK_SECRET": HOOK_SECRET, "STEPLESS_SIGNING_KEYS": "new:newest-secret,old:older-secret"})
PATIENCE_S = 15

ECHO = {
    "id": "echo",
    "nodes": {
        "begin": {"type": "manual"},
        "said": {"type": "transform", "after": "begin", "with": {"value": {"got": "<begin>"}}},
    },
}
ASK = {
    "id": "ask",
    "name": "Ask a human",
    "nodes": {
        "begin": {"type": "manual"},
        "question": {
            "type": "approval",
            "after": "begin",
            "with": {
                "message": "Pay <begin.text>?",
                "fields": {
                    "comment": {"type": "string", "maxLength": 20, "title": "Comment"},
                    "amount": {"type": "integer", "minimum": 1},
                },
            },
        },
        "pay": {"type": "transform", "after": "question.approved", "with": {"value": "<question>"}},
        "deny": {"type": "transform", "after": "question.rejected", "with": {"value": "<question>"}},
    },
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Troubled:
    """A store that raises a given error when a test asks for it, and counts the calls of each of its methods."""

    def __init__(self, store: Store | Drafts) -> None:
        self._store = store
        self.trouble: Exception | None = None
        self.asked: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        self.asked[name] += 1
        if self.trouble is not None:
            raise self.trouble
        return getattr(self._store, name)


class Keeper:
    """Checks responses against the documentation."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._components = document["components"]
        for schema in self._components["schemas"].values():
            if "properties" in schema:
                schema["additionalProperties"] = False
        self._paths = [(_pattern(path), operations) for path, operations in document["paths"].items()]
        self._validators: dict[str, Any] = {}

    async def check(self, response: httpx.Response) -> None:
        kind = response.headers.get("content-type", "").partition(";")[0]
        await response.aread()
        if response.request.method == "HEAD":
            assert response.content == b""
        elif kind == "application/problem+json":
            problem = response.json()
            self._validate({"$ref": "#/components/schemas/Problem"}, problem)
            assert problem["status"] == response.status_code
        elif response.status_code == 206:
            assert "content-range" in response.headers  # a part of a document, not valid by itself
        elif kind == "application/json" and response.request.url.path != "/openapi.json":
            self._validate(self._schema(response), response.json())

    def _schema(self, response: httpx.Response) -> Mapping[str, Any]:
        path, method = response.request.url.path, response.request.method.lower()
        operation = next(operations[method] for pattern, operations in self._paths if pattern.fullmatch(path))
        documented = operation["responses"].get(str(response.status_code), {})
        assert documented or path.startswith("/hooks/"), "a response that is not documented"
        schema: Mapping[str, Any] = documented.get("content", {}).get("application/json", {}).get("schema", {})
        return schema

    def _validate(self, schema: Mapping[str, Any], value: Any) -> None:
        known = json.dumps(schema, sort_keys=True)
        if known not in self._validators:
            self._validators[known] = jsonschema_rs.validator_for({**schema, "components": self._components})
        self._validators[known].validate(value)


_keepers: dict[str, Keeper] = {}


def keeper(app: FastAPI, options: Mapping[str, Any]) -> Keeper:
    """One for all apps with the same options: reading their document takes longer than most tests."""
    key = repr(sorted(options.items()))
    if key not in _keepers:
        _keepers[key] = Keeper(app.openapi())
    return _keepers[key]


# -- streams ----------------------------------------------------------------------------------------------------------


def frames(text: str) -> list[dict[str, str]]:
    """Parses server-sent events into their fields."""
    blocks = [block for block in text.split("\n\n") if block]
    return [dict(line.split(": ", 1) for line in block.split("\n")) for block in blocks]


class Stream:
    """A client that reads an open stream frame by frame, and may disconnect in the middle."""

    def __init__(self, app: FastAPI, path: str, **headers: str) -> None:
        self._app = app
        self._path, _, self._query = path.partition("?")
        named = {"accept": "text/event-stream", "authorization": f"Bearer {KEY}", **headers}
        self._headers = [(name.replace("_", "-").encode(), value.encode()) for name, value in named.items()]
        self._sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._hung_up = asyncio.Event()
        self._rest = ""
        self.status = 0
        self.headers: dict[str, str] = {}

    async def __aenter__(self) -> Stream:
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": self._path,
            "raw_path": self._path.encode(),
            "query_string": self._query.encode(),
            "root_path": "",
            "headers": self._headers,
            "client": ("test", 1),
            "server": ("test", 80),
        }
        self._task = asyncio.create_task(self._app(scope, self._receive, self._send))
        start = await asyncio.wait_for(self._sent.get(), PATIENCE_S)
        self.status = start["status"]
        self.headers = {name.decode(): value.decode() for name, value in start["headers"]}
        return self

    async def __aexit__(self, *error: object) -> None:
        self._hung_up.set()
        await asyncio.wait_for(self._task, PATIENCE_S)

    async def _receive(self) -> dict[str, Any]:
        await self._hung_up.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        await self._sent.put(message)

    async def frame(self) -> dict[str, str] | None:
        """The next frame; None when the stream has ended."""
        while "\n\n" not in self._rest:
            message = await asyncio.wait_for(self._sent.get(), PATIENCE_S)
            self._rest += message.get("body", b"").decode()
            if not message.get("more_body", False):
                break
        block, ended, self._rest = self._rest.partition("\n\n")
        return frames(block)[0] if ended else None

    async def event(self) -> dict[str, Any] | None:
        """The next event of the log, as its envelope; None when the stream has ended."""
        while (frame := await self.frame()) is not None:
            if "id" in frame:
                envelope: dict[str, Any] = json.loads(frame["data"])
                assert (frame["id"], frame["event"]) == (str(envelope["eventId"]), envelope["type"])
                return envelope
        return None


# -- the door ---------------------------------------------------------------------------------------------------------


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\{\w+\}", "[^/]+", path.replace("{path}", ".+").replace("keys/{key}", "keys/.+")))


@dataclass
class Door:
    """An engine and its API. `ask` is a client with a key, `stranger` one without."""

    local: Local
    store: Troubled
    drafts: Troubled
    app: FastAPI
    ask: httpx.AsyncClient
    stranger: httpx.AsyncClient
    ECHO: ClassVar[Mapping[str, Any]] = ECHO
    ASK: ClassVar[Mapping[str, Any]] = ASK
    KEY: ClassVar[str] = KEY
    HOOK_SECRET: ClassVar[str] = HOOK_SECRET

    def stream(self, path: str, **headers: str) -> Stream:
        return Stream(self.app, path, **headers)

    async def publish(self, document: Mapping[str, Any]) -> dict[str, Any]:
        answer = await self.ask.put(f"/workflows/{document['id']}", json=document)
        assert answer.status_code in (200, 201), answer.text
        return dict(answer.json())

    async def start(self, document: Mapping[str, Any], inputs: Any = None) -> str:
        await self.publish(document)
        answer = await self.ask.post(f"/workflows/{document['id']}/runs", json={"inputs": inputs if inputs is not None else {}})
        assert answer.status_code == 202, answer.text
        return str(answer.json()["run_id"])

    async def finish(self, document: Mapping[str, Any], inputs: Any = None) -> dict[str, Any]:
        """The answer to a start that waited for its outcome."""
        await self.publish(document)
        body = {"inputs": inputs if inputs is not None else {}}
        answer = await self.ask.post(f"/workflows/{document['id']}/runs", json=body, headers={"prefer": "wait=20"})
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    async def run(self, run_id: str) -> dict[str, Any]:
        return dict((await self.ask.get(f"/runs/{run_id}")).json())

    async def until(self, run_id: str, fits: Callable[[Mapping[str, Any]], bool]) -> list[dict[str, Any]]:
        """The run's events up to the first that fits, by waiting for pages."""
        seen: list[dict[str, Any]] = []
        async with asyncio.timeout(PATIENCE_S):
            while True:
                page = (await self.ask.get(f"/runs/{run_id}/events?afterEventId={len(seen)}")).json()
                seen += page["events"]
                if any(map(fits, page["events"])):
                    return seen
                assert not page["ended"], "the run ended without it"

    async def paused(self, run_id: str) -> dict[str, Any]:
        """Returns the run once it waits."""
        await self.until(run_id, lambda event: event["payload"].get("status") == "paused")
        return await self.run(run_id)

    async def question(self, text: str = "the bill", document: Mapping[str, Any] = ASK) -> tuple[str, str]:
        """A run that waits for an answer, and the link to its question."""
        run_id = await self.start(document, {"text": text})
        return run_id, str((await self.paused(run_id))["pauses"][0]["resume"])

    async def end(self, run_id: str) -> dict[str, Any]:
        """Returns the run once it has ended."""
        await self.until(run_id, lambda event: event["type"].startswith("run.") and event["payload"].get("status") in ENDED)
        return await self.run(run_id)


ENDED = ("completed", "failed", "cancelled", "timed_out")
MakeDoor = Callable[..., Awaitable[Door]]


@asynccontextmanager
async def opened(kept: Kept = None, **options: Any) -> AsyncIterator[Door]:
    engine = local(kept, secrets=SECRETS)
    serving = asyncio.create_task(engine.host.serve())
    store = Troubled(engine.world.store)
    assert engine.world.drafts is not None
    drafts = Troubled(engine.world.drafts)
    world = replace(engine.world, store=store, drafts=drafts)  # type: ignore[arg-type]
    service = Service(world, engine.service.signer)
    app = create_app(service, **{"api_keys": [KEY], **options})
    transport, hooks = httpx.ASGITransport(app), {"response": [keeper(app, options).check]}
    base = {"transport": transport, "base_url": "http://test", "event_hooks": hooks, "timeout": PATIENCE_S}
    async with (
        httpx.AsyncClient(**base, headers={"authorization": f"Bearer {KEY}"}) as ask,
        httpx.AsyncClient(**base) as stranger,
    ):
        yield Door(engine, store, drafts, app, ask, stranger)
    await engine.host.stop()
    await serving
    engine.close()


@pytest.fixture
async def make_door(anyio_backend: str) -> AsyncIterator[MakeDoor]:
    async with AsyncExitStack() as stack:

        async def make(**options: Any) -> Door:
            return await stack.enter_async_context(opened(**options))

        yield make


@pytest.fixture(params=["memory", "sqlite"])
async def kept_door(make_door: MakeDoor, request: pytest.FixtureRequest, tmp_path: Path) -> Door:
    """A door over each kind of local store."""
    return await make_door(kept=None if request.param == "memory" else tmp_path / "runs.db")


@pytest.fixture
async def door(make_door: MakeDoor) -> Door:
    return await make_door()
