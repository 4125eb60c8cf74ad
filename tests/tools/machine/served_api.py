"""Serves the API over a real engine by uvicorn on a port of this machine, in a thread of its own."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Mapping
from typing import Any, Self

import httpx

from stepless.adapters.memory.secrets import MemorySecrets
from stepless.api.app import create_app
from stepless.cli.dev.http import Server
from stepless.runtime.wiring.local import local
from stepless.runtime.wiring.stores import Kept

KEY = "the-key-of-the-tests"
SECRETS = MemorySecrets({"STEPLESS_SIGNING_KEYS": "new:newest-secret"})
PATIENCE_S = 20

ECHO = {
    "id": "echo",
    "nodes": {
        "begin": {"type": "manual"},
        "said": {"type": "transform", "after": "begin", "with": {"value": {"got": "<begin>"}}},
    },
}
ASK = {
    "id": "ask",
    "nodes": {
        "begin": {"type": "manual"},
        "boss": {
            "type": "approval", "after": "begin",
            "with": {"message": "Pay <begin.amount>?", "fields": {"limit": {"type": "integer"}}},
        },
        "pay": {"type": "transform", "after": "boss.approved", "with": {"value": {"paid": "<begin.amount>"}}},
        "deny": {"type": "transform", "after": "boss.rejected", "with": {"value": "denied"}},
    },
}  # fmt: skip
STRICT = {
    "id": "strict",
    "nodes": {"begin": {"type": "manual", "inputs": {"type": "object", "required": ["amount"]}}},
}
NAP = {
    "id": "nap",
    "nodes": {
        "begin": {"type": "manual"},
        "nap": {"type": "wait", "after": "begin", "with": {"for": "300ms"}},
        "end": {"type": "transform", "after": "nap", "with": {"value": "rested"}},
    },
}
LATE = {
    "id": "late",
    "nodes": {
        "begin": {"type": "manual"},
        "nap": {"type": "wait", "after": "begin", "with": {"for": "300ms"}},
        "boss": {"type": "approval", "after": "nap", "with": {"message": "Pay?"}},
        "pay": {"type": "transform", "after": "boss.approved", "with": {"value": 1}},
        "deny": {"type": "transform", "after": "boss.rejected", "with": {"value": 0}},
    },
}
ORDER = {
    "id": "order",
    "key": "<input.id>",
    "messages": {"payment": {}},
    "nodes": {
        "begin": {"type": "manual"},
        "paid": {"type": "receive", "after": "begin", "with": {"message": "payment"}},
        "out": {"type": "transform", "after": "paid", "with": {"value": "<paid.amount>"}},
    },
}
DOCUMENTS = (ECHO, ASK, STRICT, NAP, LATE, ORDER)


class Looped:
    """An event loop in a thread, which runs `serve` until it is closed."""

    def __init__(self) -> None:
        self._ready, self._stop, self._failed = threading.Event(), asyncio.Event(), list[BaseException]()
        self._thread = threading.Thread(target=self._run, daemon=True)

    async def serve(self, ready: Callable[[], None], stop: asyncio.Event) -> None:
        raise NotImplementedError

    def _run(self) -> None:
        async def main() -> None:
            self._loop = asyncio.get_running_loop()
            await self.serve(self._ready.set, self._stop)

        try:
            asyncio.run(main())
        except BaseException as error:
            self._failed.append(error)
            raise
        finally:
            self._ready.set()

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(PATIENCE_S) and not self._failed, self._failed
        return self

    def __exit__(self, *raised: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive() and not self._failed, self._failed


class Served(Looped):
    """A server with the workflows of DOCUMENTS."""

    def __init__(self, kept: Kept = None, **options: Any) -> None:
        super().__init__()
        self._kept, self._options = kept, options
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    async def serve(self, ready: Callable[[], None], stop: asyncio.Event) -> None:
        engine = local(self._kept, secrets=SECRETS)
        serving = asyncio.create_task(engine.host.serve())
        server = Server(create_app(engine.service, api_keys=[KEY], **self._options), ready)
        web = asyncio.create_task(server.serve([self.listener]))
        await stop.wait()
        server.leave()
        await engine.host.stop()
        await asyncio.gather(serving, web)
        engine.close()

    def __enter__(self) -> Self:
        super().__enter__()
        for document in DOCUMENTS:
            self.publish(document)
        return self

    def publish(self, document: Mapping[str, Any]) -> None:
        with httpx.Client(base_url=self.url, headers={"authorization": f"Bearer {KEY}"}, trust_env=False) as http:
            http.put(f"/workflows/{document['id']}", json=document).raise_for_status()
