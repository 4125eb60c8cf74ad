"""`stepless dev --events-url`: the events of runs arrive at a server on this machine, signed."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any
from urllib.request import Request, urlopen

import pytest
from processes import HELLO, PATIENCE_S, Child

from stepless.adapters.system import SystemClock
from stepless.nodes.entries.webhook import Signed
from stepless.runtime.triggers.signatures import verify

pytestmark = [pytest.mark.check, pytest.mark.long]


class Receiver:
    """A server that keeps what it receives."""

    def __init__(self) -> None:
        self.got: Queue[tuple[dict[str, str], bytes]] = Queue()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                self.send_response(204)
                self.end_headers()
                receiver.got.put(({name.lower(): value for name, value in self.headers.items()}, body))

            def log_message(self, *given: Any) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/events"
        Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Any]:
    (tmp_path / "hello.yaml").write_text(HELLO)
    children = []

    def made(*arguments: str, **environment: str) -> tuple[Child, str]:
        settings = {"STEPLESS_API_KEY": "k", "STEPLESS_EVENTS_SECRET": "shared", **environment}
        child = Child("dev", ".", "--port", "0", "--port-file", "url", *arguments, folder=tmp_path, environment=settings)
        children.append(child)
        child.until("http://")
        return child, (tmp_path / "url").read_text()

    yield made
    for child in children:
        child.close()


def start(url: str) -> str:
    headers = {"authorization": "Bearer k", "content-type": "application/json"}
    request = Request(f"{url}/workflows/hello/runs", b'{"inputs": {"name": "Ada"}}', headers, method="POST")
    with urlopen(request, timeout=PATIENCE_S) as answer:
        return str(json.load(answer)["run_id"])


def test_events_of_a_run_arrive_signed(serve: Any, receiver: Receiver) -> None:
    child, url = serve("--events-url", receiver.url, STEPLESS_HTTP_ALLOW="127.0.0.1")
    first = start(url)
    second = start(url)
    got: list[tuple[dict[str, str], Any]] = []
    while [body["detail-type"] for _, body in got].count("run.completed") < 2:
        headers, body = receiver.got.get(timeout=PATIENCE_S)
        assert verify(Signed(scheme="hmac", secret="shared"), headers, body, SystemClock().now_ms()).headers == {"x-signature"}
        got.append((headers, json.loads(body)))
    ids = [body["id"] for _, body in got]
    assert len(ids) == len(set(ids))
    assert {name.split(":")[0] for name in ids} == {first, second}
    assert got[0][1]["detail"]["view"] == f"{url}/runs/{got[0][1]['detail']['run']}/view"
    child.signal(signal.SIGINT)
    assert child.ended() == 0


def test_a_url_without_a_secret_is_refused(tmp_path: Path) -> None:
    child = Child("dev", ".", "--port", "0", "--events-url", "http://127.0.0.1:9/x", folder=tmp_path, environment={})
    try:
        assert child.ended() == 2
        assert "STEPLESS_EVENTS_SECRET" in "".join(child.said)
    finally:
        child.close()


def test_a_private_address_must_be_allowed(serve: Any, receiver: Receiver) -> None:
    child, url = serve("--events-url", receiver.url)
    start(url)
    assert "STEPLESS_HTTP_ALLOW" in child.until("could not export")
    assert receiver.got.empty()
