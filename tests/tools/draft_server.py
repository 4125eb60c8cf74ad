"""A small server for tests of the console in a browser: drafts in memory, decided by the engine's own rules, on loopback.

It has the routes that the console asks, without keys and without sockets: the page goes on by long poll. `cut` stands for a
network that is gone.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from stepless.compile import check_document
from stepless.editing.document import from_document, to_document
from stepless.editing.fold import apply
from stepless.editing.gestures import Item
from stepless.editing.messages import item_written, read_intent
from stepless.editing.resolve import Change, resolve
from stepless.editing.state import Entities, snapshot
from stepless.nodes import KINDS

BUILT = Path(__file__).resolve().parents[2] / "engine/stepless/api/console"
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
POLL_S = 5.0


class Draft:
    """A log, its fold, and the last intent of each client."""

    def __init__(self, workflow: str, document: dict[str, Any]) -> None:
        self.workflow = workflow
        self.state = Entities(from_document(document, f"{workflow}.1", is_container))
        self.items: list[Item] = []
        self.last: dict[str, Item] = {}
        self.changed = asyncio.Event()

    def put(self, message: dict[str, Any]) -> dict[str, Any]:
        intent = read_intent({name: message[name] for name in ("client", "n", "tag", "base", "gestures")})
        last = self.last.get(intent.client)
        if last is not None and last.tag == intent.tag:
            return {"item": item_written(last)}
        if intent.n != (last.n if last is not None else 0) + 1:
            return {"answer": {"n": intent.n, "tag": intent.tag, "code": "forked"}}
        since = [Change(item.by, item.effects) for item in self.items[intent.base:] if item.client != intent.client]
        decided = resolve(self.state, intent.gestures, since)
        seq = len(self.items) + 1
        item = Item(seq, intent.client, intent.n, intent.tag, "ada", seq, decided.effects, decided.outcomes)
        apply(self.state, item.effects)
        self.items.append(item)
        self.last[intent.client] = item
        self.changed.set()
        self.changed = asyncio.Event()
        return {"item": item_written(item)}


def is_container(type_: str) -> bool | None:
    kind = KINDS.get(type_)
    return None if kind is None else kind.container is not None


class DraftSite:
    """The server, in a loop and a thread of its own. `drafts` may be looked at while it stands still."""

    def __init__(self, documents: dict[str, dict[str, Any]]) -> None:
        self.documents = documents
        self.drafts: dict[str, Draft] = {}
        self.requests: list[tuple[str, str]] = []
        self.is_cut = False
        self._listening = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._thread.start()
        assert self._listening.wait(30)

    async def _serve(self) -> None:
        for name, document in self.documents.items():
            self.drafts[name] = Draft(name, document)
        config = uvicorn.Config(self, log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self._app = Starlette(routes=self._routes())
        self._listening.set()
        await self._server.serve([listener])

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if self.is_cut and not scope["path"].startswith("/console"):
            await Response(status_code=502)(scope, receive, send)
            return
        self.requests.append((scope["method"], scope["path"]))
        await self._app(scope, receive, send)

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join(30)

    @contextmanager
    def cut(self) -> Iterator[None]:
        self.is_cut = True
        yield
        self.is_cut = False

    def document(self, name: str) -> dict[str, Any]:
        """The draft as a document, in what was committed so far."""
        return to_document(self.drafts[name].state)

    def _routes(self) -> list[Route | Mount]:
        return [
            Route("/drafts", self._list), Route("/workflows", self._workflows), Route("/kinds", self._kinds),
            Route("/drafts/{name}", self._get, methods=["GET"]), Route("/drafts/{name}", self._open, methods=["POST"]),
            Route("/drafts/{name}/ops", self._ops, methods=["GET"]), Route("/drafts/{name}/ops", self._put, methods=["PUT"]),
            Route("/drafts/{name}/findings", self._findings),
            Mount("/console/assets", StaticFiles(directory=BUILT / "assets")),
            Route("/console/{path:path}", self._page), Route("/console", self._page),
        ]

    async def _page(self, request: Request) -> Response:
        return FileResponse(BUILT / "index.html", headers={"content-security-policy": CSP, "cache-control": "no-cache"})

    async def _list(self, request: Request) -> Response:
        return answer({"drafts": [head(name) for name in self.drafts], "cursor": None})

    async def _workflows(self, request: Request) -> Response:
        return answer({"cursor": None, "workflows": [
            {"id": name, "name": document.get("name", name), "version": 1, "published_at": "2026-07-01T09:00:00Z"}
            for name, document in self.documents.items()
        ]})

    async def _kinds(self, request: Request) -> Response:
        named = {"approval": ["approved", "rejected", "timeout"], "condition": [], "router": [], "respond": [], "end": []}
        return answer({"kinds": [
            {"name": name, "summary": kind.summary, "exits": named.get(name, ["source"]), "container": kind.container is not None,
             "nature": kind.nature.value, "schema": kind.params.model_json_schema(by_alias=True)}
            for name, kind in KINDS.items()
        ]})

    async def _get(self, request: Request) -> Response:
        draft = self.drafts.get(request.path_params["name"])
        if draft is None:
            return answer({"code": "unknown_draft", "message": "There is no draft of this workflow.", "mend": "Open one."}, 404)
        return answer({**head(draft.workflow), "seq": len(draft.items), "origin": {}, "entities": snapshot(draft.state)})

    async def _open(self, request: Request) -> Response:
        name = request.path_params["name"]
        self.drafts[name] = Draft(name, self.documents.get(name, {"id": name, "nodes": {}}))
        return await self._get(request)

    async def _put(self, request: Request) -> Response:
        return answer(self.drafts[request.path_params["name"]].put(json.loads(await request.body())))

    async def _ops(self, request: Request) -> Response:
        draft = self.drafts[request.path_params["name"]]
        after, wait = int(request.query_params["after"]), float(request.query_params.get("wait", 0))
        if len(draft.items) <= after and wait > 0:
            try:
                await asyncio.wait_for(draft.changed.wait(), min(wait, POLL_S))
            except TimeoutError:
                return answer({"items": [], "head": len(draft.items)})
        return answer({"items": [item_written(item) for item in draft.items[after:]], "head": len(draft.items)})

    async def _findings(self, request: Request) -> Response:
        draft = self.drafts[request.path_params["name"]]
        keys = {str((draft.state.get(key) or {}).get("id")): key for key in draft.state if key.startswith("block/")}
        found = check_document(to_document(draft.state), KINDS)
        return answer({"seq": len(draft.items), "findings": [
            {"code": one.code, "message": one.message, "mend": one.mend, "severity": one.severity.value, "path": one.path,
             "key": keys.get(one.node or "")}
            for one in found
        ]})


def head(name: str) -> dict[str, Any]:
    return {"workflow": name, "epoch": 1, "base": 1, "created_at": "2026-07-01T10:00:00Z", "created_by": "ada"}


def answer(value: Any, status: int = 200) -> JSONResponse:
    return JSONResponse(value, status)
