"""Drafts in `stepless dev`: real sockets over a real connection, a server that is killed, and two terminals."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest
from draft_client import op, renames
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

pytestmark = pytest.mark.check

PATIENCE_S = 20
EACH = 40  # edits of each of two people


class Editor:
    """A client that edits one draft over a WebSocket, and sends again what was not acknowledged."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.n = 1
        self.seq = 0
        self.acknowledged: list[str] = []
        self.opened = ExitStack()
        self.socket: ClientConnection

    def enter(self, client: httpx.Client) -> None:
        ticket = client.post("/drafts/w/ticket").json()["ticket"]
        address = str(client.base_url).replace("http://", "ws://").rstrip("/")
        connection = connect(f"{address}/drafts/w/room?ticket={ticket}", open_timeout=PATIENCE_S, proxy=None)
        self.socket = self.opened.enter_context(connection)
        self.say("hello", client=self.name, tab="t", after=self.seq, epoch=1)
        self.until("items")

    def say(self, type_: str, **message: Any) -> None:
        self.socket.send(json.dumps({"v": 1, "t": type_, **message}))

    def until(self, type_: str, fits: Callable[[Any], bool] = lambda message: True) -> Any:
        while True:
            message = json.loads(self.socket.recv(PATIENCE_S))
            for item in message.get("items", []) + ([message["item"]] if message["t"] == "item" else []):
                self._take(item)
            assert message["t"] not in ("closing", "answer"), message
            if message["t"] == type_ and fits(message):
                return message

    def _take(self, item: Any) -> None:
        self.seq = max(self.seq, item["seq"])
        if (item["client"], item["n"]) == (self.name, self.n):
            self.acknowledged.append(item["tag"])
            self.n += 1

    def ask(self) -> None:
        """Asks for a variable whose name nothing else uses."""
        variable = [["set", "doc", ["variables", f"{self.name}-{self.n}"], self.n]]
        asked = op(1, self.n, variable, base=self.seq, client=self.name)
        self.say("op", **{field: asked[field] for field in ("n", "tag", "base", "gestures")})

    def edit(self) -> None:
        n = self.n
        self.ask()
        while self.n == n:
            self.until("item")


@pytest.fixture
def editors() -> Iterator[list[Editor]]:
    made = [Editor("ada"), Editor("bo")]
    yield made
    for editor in made:
        editor.opened.close()


def test_two_sockets_edit_one_draft_and_the_server_stops_with_them_open(serve: Any, editors: list[Editor]) -> None:
    dev = serve()
    dev.client.post("/drafts/w", json={"from": "empty"})
    ada, bo = editors
    for editor in editors:
        editor.enter(dev.client)
    for _ in range(5):
        ada.edit()
        bo.edit()
    ada.until("item", lambda message: message["item"]["seq"] == 10)
    dev.child.signal(signal.SIGTERM)
    with pytest.raises(ConnectionClosed) as closed:
        ada.until("never")
    assert closed.value.rcvd is not None and closed.value.rcvd.code == 1012
    assert dev.child.ended() == 0 and "Traceback" not in "".join(dev.child.said)
    again = serve()
    head = again.client.get("/drafts/w").json()
    assert head["seq"] == 10 and len(head["entities"]["doc"]["variables"]) == 10


def test_nothing_that_was_acknowledged_is_lost_or_doubled_when_the_server_is_killed(serve: Any, editors: list[Editor]) -> None:
    dev = serve()
    dev.client.post("/drafts/w", json={"from": "empty"})
    for editor in editors:
        editor.enter(dev.client)
    for round_ in range(EACH):
        if round_ in (10, 25):
            for editor in editors:  # what is under way when the server dies: committed or not, its client cannot know
                editor.ask()
            dev.child.process.kill()
            dev.child.process.wait(PATIENCE_S)
            dev = serve()
            for editor in editors:
                with pytest.raises(ConnectionClosed):
                    editor.until("never")
                editor.enter(dev.client)
        for editor in editors:
            if editor.n <= round_ + 1:
                editor.edit()
    items = dev.client.get("/drafts/w/ops?epoch=1&limit=1000").json()["items"]
    tags = [item["tag"] for item in items]
    assert len(tags) == len(set(tags)) == 2 * EACH
    for editor in editors:
        assert [tag for tag in tags if tag.startswith(editor.name)] == [f"{editor.name}-{n}" for n in range(1, EACH + 1)]
        assert set(editor.acknowledged) <= set(tags)
    assert len(dev.client.get("/drafts/w").json()["entities"]["doc"]["variables"]) == 2 * EACH


def test_two_terminals_edit_by_put_and_follow_each_other(serve: Any) -> None:
    dev = serve()
    dev.client.post("/drafts/w", json={"from": "empty"})
    base = 0
    for n in range(1, 6):
        for terminal in ("one", "two"):
            made = dev.client.put("/drafts/w/ops", json=op(1, n, renames(f"{terminal} {n}"), client=terminal, base=base)).json()
            base = made["item"]["seq"]
    items = dev.client.get("/drafts/w/ops?epoch=1&after=0").json()["items"]
    assert [(item["client"], item["n"]) for item in items] == [(who, n) for n in range(1, 6) for who in ("one", "two")]


def test_a_message_above_the_limit_of_the_connection_ends_it_and_no_other(serve: Any, editors: list[Editor]) -> None:
    dev = serve()
    dev.client.post("/drafts/w", json={"from": "empty"})
    ada, bo = editors
    for editor in editors:
        editor.enter(dev.client)
    ada.socket.send("x" * 1_000_000)
    with pytest.raises(ConnectionClosed) as closed:
        ada.until("never")
    assert closed.value.rcvd is not None and closed.value.rcvd.code == 1009
    bo.edit()


def test_a_foreign_host_is_refused_unless_it_is_allowed(spawn: Any, serve: Any) -> None:
    dev = serve()
    answer = dev.client.get("/drafts", headers={"host": "laptop.lan"})
    assert (answer.status_code, answer.json()["code"]) == (403, "foreign_host")
    child = spawn("dev", ".", "--db", "other.db", "--port", "0", "--allow-host", "laptop.lan", STEPLESS_API_KEY="k")
    url = child.until("Stepless listens on").rpartition(" ")[2].strip()
    with httpx.Client(base_url=url, headers={"authorization": "Bearer k"}, trust_env=False) as client:
        assert client.get("/drafts", headers={"host": "laptop.lan"}).status_code == 200
