"""Everything that a run leaves behind is searched for its secrets: the store's files, log lines, answers of the API, errors.

The runs try to leak them: they fail with them, echo them, stream them in pieces, cut them in half.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import httpx
import pytest

from stepless import FunctionCall, NodeFailure, function
from stepless.adapters.memory.secrets import MemorySecrets
from stepless.api.app import create_app
from stepless.limits import MAX_LOG_CHARACTERS
from stepless.runtime.triggers.signatures import sign
from stepless.runtime.triggers.webhooks import HookRequest
from stepless.runtime.wiring.local import Local, local
from stepless.runtime.wiring.single_run import serving

SECRET = 'zq7-"p@ss/w+rd& ü-9X4'  # differs in JSON, in URLs, in Python's quotes
PLAIN = "zq8-only-letters-digits-77"
SECRETS = MemorySecrets({"KEY": SECRET, "TOKEN": PLAIN, "HOOK": "zq9-shared-with-the-sender"})
SHOWN = [
    shape(text)
    for text in (SECRET, PLAIN, "zq9-shared-with-the-sender")
    for shape in (str, lambda t: json.dumps(t)[1:-1], lambda t: json.dumps(t, ensure_ascii=False)[1:-1], quote, quote_plus,
                  lambda t: quote(t, safe=""), lambda t: repr(t)[1:-1], lambda t: b64encode(t.encode()).decode().rstrip("=")[:-1],
                  lambda t: b64encode(b"user:" + t.encode()).decode().rstrip("=")[7:-1], lambda t: t[:12])
]  # fmt: skip


@function("secrets.raise")
def raises(text: str) -> None:
    raise ValueError(f"cannot use {text!r} of {json.dumps({'key': text})}")


@function("secrets.fail")
def fails(text: str) -> None:
    raise NodeFailure("provider_error", "refused", f"refused: {quote(text)}", mend=f"do not send {text}")


@function("secrets.long")
def fails_at_length(text: str) -> None:
    raise ValueError("x" * 1_985 + text)  # what is kept of it ends in the middle of the secret


@function("secrets.say")
def says(text: str, call: FunctionCall) -> dict[str, Any]:
    call.log(f"said {text}")
    call.log("x" * (MAX_LOG_CHARACTERS - 14) + text)
    return {"echo": text, text: [text.upper(), f"<{text}>"], "basic": b64encode(b"user:" + text.encode()).decode()}


@function("secrets.stream")
async def streams(text: str, call: FunctionCall) -> str:
    loop = asyncio.get_running_loop()
    for piece in ("the key is ", text[:7], text[7:15], text[15:], " and that is all"):
        call.delta(piece)
        passed = asyncio.Event()
        loop.call_later(0.06, passed.set)  # longer than pieces are gathered
        await passed.wait()
    return "done"


class Echo(BaseHTTPRequestHandler):
    """Answers with everything that it was sent, as its path says: /500, /200, /text."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        told = json.dumps({"path": self.path, "headers": dict(self.headers), "body": sent}).encode()
        self.send_response(500 if self.path.startswith("/500") else 200)
        self.send_header("content-type", "application/json")
        self.send_header("x-echo", quote(self.headers.get("x-key", "")))
        self.send_header("content-length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)

    def log_message(self, *_: Any) -> None:
        """Keeps quiet."""


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("STEPLESS_HTTP_ALLOW", "127.0.0.1")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def http(path: str, **more: Any) -> dict[str, Any]:
    return {"type": "http", "with": {"method": "POST", "url": "URL" + path, **more}, "retry": {"attempts": 2, "backoff_ms": 1}}


def calls(name: str, text: Any = "${KEY}") -> dict[str, Any]:
    return {"type": "function", "with": {"call": name, "args": {"text": text}}, "retry": {"attempts": 2, "backoff_ms": 1}}


RUNS: dict[str, dict[str, Any]] = {
    "a failing request with it in the query": http("/500", query={"key": "${KEY}"}, headers={"X-Key": "${TOKEN}"}),
    "a failing request with it in the path": http("/500/${TOKEN}/x?key=${TOKEN}"),
    "a failing request with it in the body": http("/500", body={"key": "${KEY}", "more": "${TOKEN}"}),
    "an answer that echoes it": http("/200?key=${TOKEN}", body={"key": "${KEY}"}, headers={"X-Key": "${TOKEN}"}),
    "credentials in the URL": {"type": "http", "with": {"method": "POST", "url": "http://user:${TOKEN}@HOST/200"}},
    "a host that is none": {"type": "http", "with": {"url": "http://${TOKEN}.invalid/${TOKEN}"}},
    "a URL that is none": {"type": "http", "with": {"url": "ftp://${TOKEN}"}},
    "a header that cannot be": {"type": "http", "with": {"url": "http://x.invalid", "headers": {"X-A": "${KEY}\n${TOKEN}"}}},
    "an exception": calls("secrets.raise"),
    "a failure": calls("secrets.fail"),
    "an exception that is cut": calls("secrets.long", "${TOKEN}"),
    "what a function says and answers": calls("secrets.say"),
    "a log line that is cut": calls("secrets.say", "${TOKEN}"),
    "text that is streamed in pieces": calls("secrets.stream"),
    "arguments that do not fit": calls("secrets.raise", ["${KEY}", {"${TOKEN}": 1}]),
    "an expression that raises": {"type": "transform", "with": {"value": "{{ int(${KEY}) }}"}},
    "an expression that echoes": {"type": "transform", "with": {"value": "{{ upper('') + ${KEY} }} ${TOKEN}"}},
    "a case that raises": {"type": "condition", "with": {"cases": {"a": "${KEY} < 3", "b": "else"}}},
    "variables": {"type": "set", "with": {"variables": {"x": ["${KEY}", "${TOKEN}"]}}},
    "a question": {"type": "approval", "with": {"message": "Use ${KEY}?", "approvers": "${TOKEN}"}},
    "a response": {"type": "respond", "with": {"body": "${KEY}", "headers": {"X-A": "${TOKEN}"}}},
    "turns": {"type": "loop", "with": {"times": 2, "body": {"nodes": {"x": calls("secrets.raise", ["<loop.index>", "${KEY}"])}}}},
    "a broken contract": {**calls("secrets.say"), "output_contract": {"properties": {"echo": {"enum": ["nothing"]}}}},
}


def searched(texts: dict[str, str]) -> list[str]:
    """Where a secret is, and as what."""
    return [f"{place}: {form}" for place, text in texts.items() for form in SHOWN if form in text]


def left_behind(folder: Path) -> dict[str, str]:
    return {file.name: file.read_bytes().decode("utf-8", "replace") for file in folder.iterdir()}


@pytest.mark.parametrize("name", RUNS)
def test_nothing_that_a_run_leaves_behind_shows_a_secret(
    name: str, tmp_path: Path, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    text = json.dumps(RUNS[name]).replace("URL", url).replace("HOST", url.removeprefix("http://"))
    document = {
        "id": "leaky", "env": ["KEY", "TOKEN"], "variables": {"x": 0},
        "nodes": {"n": json.loads(text), "after": {"type": "transform", "after": "n.error", "with": {"value": "<n.error>"}}},
    }  # fmt: skip
    with closing(local(tmp_path / "runs.db", secrets=SECRETS)) as engine:
        told = asyncio.run(_run_and_ask(engine, document))
        told |= left_behind(tmp_path) | {"log": caplog.text}
    assert "runs.db-wal" in told, "the write-ahead log was searched too"
    assert searched(told) == []
    assert "***" in told["events"] or "message" in told["events"], "there was something to hide"


async def _run_and_ask(engine: Local, document: dict[str, Any]) -> dict[str, str]:
    """A run to its end or its pause, and what the API answers about it."""
    engine.service.publish(document)
    run_id = engine.service.start(document["id"], {"n": 1}).run_id
    changed = asyncio.Event()
    engine.host.on_ending = lambda _: changed.set()
    async with serving(engine, run_id), asyncio.timeout(15):
        while engine.service.run(run_id).status not in ("completed", "failed", "paused"):
            await changed.wait()
            changed.clear()
    app = create_app(engine.service, api_keys=None)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://api") as ask:
        pages = {name: f"/runs/{run_id}{name}" for name in ("", "/nodes", "/events")}
        pages["workflow"] = f"/workflows/{document['id']}"
        answers = {name.strip("/") or "run": (await ask.get(page)).text for name, page in pages.items()}
        for pause in engine.service.run(run_id).pauses:
            answers["question"] = (await ask.get(f"/resume/{pause.token}", headers={"accept": "text/html"})).text
    return answers


def test_a_secret_is_no_input_of_a_child_run() -> None:
    engine = local(None, secrets=SECRETS)
    nodes = {"call": {"type": "workflow", "with": {"workflow": "child", "inputs": {"key": ["${KEY}"]}}}}
    with pytest.raises(Exception, match="secret_in_inputs"):
        engine.service.publish({"id": "parent", "env": ["KEY"], "nodes": nodes})


HOOK = "zq9-shared-with-the-sender"
BODY = json.dumps({"a": 1, "told": HOOK}).encode()


@pytest.mark.parametrize("auth", [{"hmac": "${HOOK}"}, {"bearer": "${HOOK}"}, {"scheme": "github", "secret": "${HOOK}"},
                                  {"bearer": "{{ ${HOOK} + 1 }}"}, {"scheme": "standard", "secret": "${HOOK}"}])  # fmt: skip
@pytest.mark.parametrize(
    "headers", [{}, {"authorization": f"Bearer {HOOK}"}, {"x-signature": HOOK, "x-token": HOOK}, {"x-signature": ""}]
)
def test_a_webhook_keeps_the_secret_of_its_door(auth: Any, headers: dict[str, str], tmp_path: Path, caplog: Any) -> None:
    caplog.set_level(logging.DEBUG)
    with closing(local(tmp_path / "runs.db", secrets=SECRETS)) as engine:
        told = _knocked(engine, auth, headers) | left_behind(tmp_path)
    assert searched(told | {"log": caplog.text}) == []


def _knocked(engine: Local, auth: Any, headers: dict[str, str]) -> dict[str, str]:
    """What one request to a webhook comes to: its run, or why there is none."""
    node = {"type": "webhook", "with": {"path": "/in", "auth": auth}}
    engine.service.publish({"id": "door", "env": ["HOOK"], "nodes": {"n": node}})
    if headers.get("x-signature") == "":
        headers = {"x-signature": sign(HOOK, BODY, engine.world.clock.now_ms()), "x-token": HOOK}
    told = {"answer": ""}
    try:
        told["run"] = repr(engine.service.run(engine.service.trigger(
            HookRequest("/in", "POST", {"content-type": "application/json", **headers}, {"q": HOOK}, BODY)
        ).started.run_id))  # fmt: skip
    except Exception as error:
        told["answer"] = f"{error!r} {error} {vars(error)}"
    return told
