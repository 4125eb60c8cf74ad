"""A name in `env` without a value: a warning before anything runs, and a failure of the node before anything is sent."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from stepless import function
from stepless.adapters.memory.secrets import MemorySecrets
from stepless.runtime.verbs.reads.inspecting import RunView
from stepless.runtime.wiring.local import Local, local
from stepless.runtime.wiring.single_run import follow, serving


@function("unset_env.say")
def says(text: str) -> str:
    return text


UNSET = {
    "a text": {"type": "transform", "with": {"value": "key=${NONE}"}},
    "a whole value": {"type": "transform", "with": {"value": {"key": "${NONE}"}}},
    "an expression": {"type": "transform", "with": {"value": "{{ ${NONE} }}"}},
    "a function": {"type": "function", "with": {"call": "unset_env.say", "args": {"text": "${NONE}"}}},
    "a question": {"type": "approval", "with": {"message": "Pay with ${NONE}?"}},
    "a case": {"type": "condition", "with": {"cases": {"x": "${NONE} == 'a'", "y": "else"}}},
    "a number of turns": {"type": "loop", "with": {"times": "${NONE}", "body": {"nodes": {"i": {"type": "join"}}}}},
    "a test between turns": {"type": "loop", "with": {"while": "${NONE} == 'a'", "body": {"nodes": {"i": {"type": "join"}}}}},
}


@pytest.mark.parametrize("values", [{}, {"NONE": ""}], ids=["unset", "empty"])
@pytest.mark.parametrize("node", UNSET.values(), ids=UNSET)
def test_a_name_without_a_value_fails_the_node_that_reads_it(node: dict[str, Any], values: dict[str, str]) -> None:
    nodes = {"start": {"type": "manual"}, "n": {"after": "start", **node}}
    with closing(local(None, secrets=MemorySecrets(values))) as engine:
        published = engine.service.publish({"id": "w", "env": ["NONE"], "nodes": nodes})
        (warning,) = (finding for finding in published.warnings if finding.code == "unset_env")
        assert (warning.path, warning.severity.value) == ("env.0", "warning")
        assert "`NONE`" in warning.message and "`NONE`" in warning.mend
        view = asyncio.run(ended(engine, engine.service.start("w", {}).run_id))
    assert view.status == "failed"
    error = view.nodes["n"].error
    assert error is not None
    assert (error["code"], error["class"]) == ("secret_missing", "processing")
    assert "NONE is not set" in error["message"] and "set NONE in the environment" in error["message"]


async def ended(engine: Local, run_id: str) -> RunView:
    async with serving(engine, run_id) as server:
        async for _ in follow(engine, run_id, server):
            pass
    return engine.service.run(run_id)


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, list[str]]]:
    """A server, and the paths that it was asked for."""
    heard: list[str] = []

    class Hears(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            heard.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Keeps quiet."""

    monkeypatch.setenv("STEPLESS_HTTP_ALLOW", "127.0.0.1")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hears)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", heard
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(("value", "code", "asked"), [("", "secret_missing", []), ("k", None, ["/pay"])])
def test_nothing_is_sent_with_an_empty_secret(value: str, code: str | None, asked: list[str], door: Any) -> None:
    url, heard = door
    node = {"type": "http", "with": {"method": "POST", "url": f"{url}/pay", "headers": {"Authorization": "key=${NONE}"}}}
    with closing(local(None, secrets=MemorySecrets({"NONE": value}))) as engine:
        engine.service.publish({"id": "w", "env": ["NONE"], "nodes": {"n": node}})
        view = asyncio.run(ended(engine, engine.service.start("w", {}).run_id))
    assert (view.nodes["n"].error or {"code": None})["code"] == code
    assert heard == asked


def test_an_entry_that_is_started_by_hand_needs_no_secret_of_its_door() -> None:
    node = {"type": "webhook", "with": {"path": "/in", "auth": {"hmac": "${NONE}"}}}
    with closing(local(None, secrets=MemorySecrets())) as engine:
        engine.service.publish({"id": "w", "env": ["NONE"], "nodes": {"n": node}})
        assert asyncio.run(ended(engine, engine.service.start("w", {}).run_id)).status == "completed"


def test_a_name_that_is_set_warns_of_nothing() -> None:
    with closing(local(None, secrets=MemorySecrets({"NONE": "x"}))) as engine:
        assert engine.service.publish({"id": "w", "env": ["NONE"], "nodes": {"n": {"type": "manual"}}}).warnings == ()
