"""`stepless dev` as a process over a folder and a SQLite file, with people who reach it over cables of their own."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from cables import Cable, Cables
from processes import ROOT, Child

KEY = "the-key-of-the-tests"
LIFE_S = 500  # of a server, whatever its tests do
Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Person:
    """A holder of a key, and their way to the server. `name` is how a log names them, `shown` how the console does."""

    name: str
    shown: str
    key_id: str
    token: str
    cable: Cable

    def page(self, workflow: str = "", query: str = "") -> str:
        return f"{self.cable.url}/console/{f'drafts/{workflow}' if workflow else ''}{query}"

    def workflows(self) -> str:
        return f"{self.cable.url}/console/drafts"


class DraftSite:
    """A server that can be killed and started again over the same file, at the same port."""

    def __init__(self, folder: Path, *flags: str, life_s: float = LIFE_S) -> None:
        self.folder = folder
        self._flags = flags
        self._life_s = life_s
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.client = httpx.Client(base_url=self.url, headers={"authorization": f"Bearer {KEY}"}, timeout=30, trust_env=False)
        self._cables = Cables()
        self.start()

    def start(self) -> None:
        path = os.pathsep.join([str(ROOT / "engine"), os.environ.get("PYTHONPATH", "")])
        self.child = Child(
            "dev", ".", "--db", "dev.db", "--port", str(self.port), *self._flags, folder=self.folder,
            environment={"PYTHONPATH": path, "STEPLESS_API_KEY": KEY}, life_s=self._life_s,
        )  # fmt: skip
        self.address = next(word for word in self.child.until("/console/#code=").split() if "/console/#code=" in word)
        self.child.until("Ctrl-C stops.")
        self._reader = threading.Thread(target=self._read, args=(self.child,), daemon=True)
        self._reader.start()

    def _read(self, child: Child) -> None:
        assert child.process.stdout is not None
        child.said += child.process.stdout  # a pipe that fills up would hold the server

    def kill(self) -> None:
        self.child.process.kill()
        self._stop()

    def _stop(self) -> None:
        self.child.process.wait(self._life_s)
        self._reader.join(self._life_s)
        self.child.close()

    def close(self) -> None:
        self._cables.close()
        self.client.close()
        self.kill()

    def person(self, name: str, *roles: str) -> Person:
        """A person with a new key, with the role `edit` if none is given."""
        made = self._ok(self.client.post("/keys", json={"name": name, "roles": list(roles or ("read", "edit"))}))
        return Person(f"key {made['id']} {name}", name, made["id"], made["secret"], self._cables.add(self.port))

    def administrator(self) -> Person:
        return Person("configured key", "configured key", "", KEY, self._cables.add(self.port))

    # -- drafts --------------------------------------------------------------------------------------------------------

    def open(self, workflow: str, document: Document | None = None) -> None:
        """Opens a draft of a document, or an empty one."""
        body = {"from": "empty"} if document is None else {"from": "document", "document": document}
        self._ok(self.client.post(f"/drafts/{workflow}", json=body))

    def draft(self, workflow: str) -> dict[str, Any]:
        return self._ok(self.client.get(f"/drafts/{workflow}"))

    def document(self, workflow: str) -> Document:
        """The draft as a document, in what was committed so far."""
        made: Document = self._ok(self.client.get(f"/drafts/{workflow}/document"))["document"]
        return made

    def items(self, workflow: str) -> list[dict[str, Any]]:
        """The whole log of the draft, up to a thousand items."""
        epoch = self.draft(workflow)["epoch"]
        return list(self._ok(self.client.get(f"/drafts/{workflow}/ops?epoch={epoch}&limit=1000"))["items"])

    def key_of(self, workflow: str, name: str) -> str:
        """The key of a block's entity by the block's name."""
        entities = self.draft(workflow)["entities"]
        found = [key for key, entity in entities.items() if key.startswith("block/") and entity["id"] == name]
        assert len(found) == 1, found
        return found[0]

    def rows(self, workflow: str) -> dict[str, int]:
        """What checkpoints have written of the draft: the sequence of each entity by its key."""
        with closing(sqlite3.connect(f"file:{self.folder / 'dev.db'}?mode=ro", uri=True)) as file:
            return dict(file.execute("SELECT key, seq FROM entity WHERE room LIKE ?", (f"{workflow}%",)))

    def rows_after(self, workflow: str, fits: Callable[[dict[str, int]], bool]) -> dict[str, int]:
        """The rows as soon as they fit. Between looks it waits for an item at the server, which does not come."""
        for _ in range(100):
            rows = self.rows(workflow)
            if fits(rows):
                return rows
            head = self.draft(workflow)
            self.client.get(f"/drafts/{workflow}/ops?epoch={head['epoch']}&after={head['seq']}&wait=0.2")
        raise AssertionError(f"the rows never fitted: {rows}")

    def _ok(self, answer: httpx.Response) -> dict[str, Any]:
        assert answer.status_code == 200 or answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made


# -- frames ------------------------------------------------------------------------------------------------------------


class Frames:
    """What goes over the WebSockets of a page, in both directions, and how many sockets it opened."""

    def __init__(self, page: Any) -> None:
        self.sockets: list[str] = []
        self.sent: list[dict[str, Any]] = []
        self.received: list[dict[str, Any]] = []
        page.on("websocket", self._opened)

    def _opened(self, socket: Any) -> None:
        self.sockets.append(socket.url)
        socket.on("framesent", lambda data: self.sent.append(json.loads(data)))
        socket.on("framereceived", lambda data: self.received.append(json.loads(data)))

    def ops(self, fits: Callable[[str], bool] = lambda text: True) -> list[dict[str, Any]]:
        """The requests that were sent, of those whose text fits."""
        return [frame for frame in self.sent if frame["t"] == "op" and fits(json.dumps(frame))]

    def of(self, type_: str) -> list[dict[str, Any]]:
        return [frame for frame in self.received if frame["t"] == type_]
