"""Attacks on the drafts of a real `stepless dev`, over real connections. The server lives on, and others edit as before."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from random import Random
from typing import Any

import pytest
from draft_client import op, renames
from odd_edits import Odd
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

pytestmark = pytest.mark.check

PATIENCE_S = 30


@pytest.fixture
def dev(serve: Any) -> Any:
    made = serve()
    assert made.client.post("/drafts/w", json={"from": "empty"}).status_code == 200
    return made


@pytest.fixture
def sockets() -> Iterator[ExitStack]:
    with ExitStack() as opened:
        yield opened


def ticket(dev: Any, draft: str = "w") -> str:
    return str(dev.client.post(f"/drafts/{draft}/ticket").json()["ticket"])


def entered(dev: Any, sockets: ExitStack, spent: str, draft: str = "w", **headers: str) -> ClientConnection:
    address = str(dev.client.base_url).replace("http://", "ws://").rstrip("/")
    room = f"{address}/drafts/{draft}/room?ticket={spent}"
    return sockets.enter_context(connect(room, open_timeout=PATIENCE_S, proxy=None, additional_headers=headers))


def said(type_: str, **message: Any) -> str:
    return json.dumps({"v": 1, "t": type_, **message})


def joined(dev: Any, sockets: ExitStack, client: str) -> ClientConnection:
    made = entered(dev, sockets, ticket(dev))
    made.send(said("hello", client=client, tab="t", after=0, epoch=1))
    heard(made, "items")
    return made


def heard(one: ClientConnection, type_: str) -> Any:
    while True:
        message = json.loads(one.recv(PATIENCE_S))
        if message["t"] == type_:
            return message


def code_of(one: ClientConnection) -> int:
    """The code with which the server closes a socket, which it has said before."""
    told = None
    with pytest.raises(ConnectionClosed) as closed:
        while True:
            message = json.loads(one.recv(PATIENCE_S))
            told = message["code"] if message["t"] == "closing" else told
    assert closed.value.rcvd is not None and closed.value.rcvd.code == told
    return closed.value.rcvd.code


def status_of(dev: Any, sockets: ExitStack, spent: str, draft: str = "w", **headers: str) -> int:
    with pytest.raises(InvalidStatus) as refused:
        entered(dev, sockets, spent, draft, **headers)
    return refused.value.response.status_code


def edits(dev: Any, client: str) -> None:
    """Another person edits as if nothing were."""
    head = dev.client.get("/drafts/w").json()
    made = dev.client.put("/drafts/w/ops", json=op(1, 1, renames(client), client=client, base=head["seq"]))
    assert made.status_code == 200 and "item" in made.json(), made.text


def test_a_socket_needs_a_ticket_of_its_own_draft_and_origin(dev: Any, sockets: ExitStack) -> None:
    assert dev.client.post("/drafts/v", json={"from": "empty"}).status_code == 200
    assert status_of(dev, sockets, "") == 401 == status_of(dev, sockets, "a.b.c")
    assert status_of(dev, sockets, ticket(dev, "v")) == 401
    spent = ticket(dev)
    assert status_of(dev, sockets, spent, Origin="http://evil.example") == 403
    assert status_of(dev, sockets, spent, Origin="null") == 403
    entered(dev, sockets, spent)  # a foreign page has not spent it
    assert status_of(dev, sockets, spent) == 401
    changed = ticket(dev)
    assert status_of(dev, sockets, f"{changed[:-2]}{'A' if changed[-2] != 'A' else 'B'}{changed[-1]}") == 401
    for header, value in (("host", "evil.example"), ("origin", "http://evil.example"), ("origin", "null")):
        for method, path in (("GET", "/drafts"), ("PUT", "/drafts/w/ops"), ("POST", "/drafts/w/ticket"), ("GET", "/console/")):
            assert dev.client.request(method, path, headers={header: value}).status_code == 403, (header, method, path)
    edits(dev, "bo")


def test_what_a_socket_says_wrongly_closes_it_alone(dev: Any, sockets: ExitStack) -> None:
    bo = joined(dev, sockets, "bo")
    hello = said("hello", client="x", tab="t", after=0, epoch=1)
    for place, (text, code) in enumerate((
        (said("op", n=1, tag="t", base=0, gestures=[]), 4400), ("[1", 4400), ("null", 4400), ('{"v":2}', 4400),
        ('{"v":1}', 4400), ("[" * 20_000, 4400), (said("hello", client="", after=0, epoch=1), 4400),
        (said("hello", client="c", after=-1, epoch=1), 4400),
        (said("hello", client="c" * 65, after=0, epoch=1), 4400), (said("hello", client={}, after=0, epoch=1), 4400),
        ('{"v":1,"t":"hello","client":"\\ud800","after":0,"epoch":1}', 4400),
        (said("hello", client="c\u00e9\n", after=0, epoch=1), 4400), (said("hello", client="c", after=0, epoch=7), 4409),
        ("x" * 31_000, 4413), (hello + " " * 31_000, 4413),
    )):  # fmt: skip
        one = entered(dev, sockets, ticket(dev))
        one.send(text)
        assert code_of(one) == code, (place, text[:60])
    for place, (text, code) in enumerate((
        (said("op", n=1, tag="t", base=0, gestures="x"), 4400), (said("op", n=True, tag="t", base=0, operations=[]), 4400),
        (said("op", n=1, tag="t", base=0, gestures=[{"writes": [["set", "doc", ["q"], "\ud800"]]}]), 4400),
        (said("explode"), 4400), (hello, 4400), ("x" * 31_000, 4413),
    )):  # fmt: skip
        one = joined(dev, sockets, f"eve-{place}")
        one.send(text)
        assert code_of(one) == code, text[:60]
    big = joined(dev, sockets, "big")
    big.send("x" * 1_000_000)
    with pytest.raises(ConnectionClosed) as closed:
        while True:
            big.recv(PATIENCE_S)
    assert closed.value.rcvd is not None and closed.value.rcvd.code == 1009
    bo.send(said("op", n=1, tag="bo-1", base=0, gestures=[{"writes": renames("bo")}]))
    assert heard(bo, "item")["item"]["client"] == "bo"


def test_odd_requests_over_a_socket_are_answered_or_close_it_and_the_server_lives_on(
    dev: Any, sockets: ExitStack,
) -> None:
    odd, n, base, closed = Odd(1), 1, 0, 0
    one = joined(dev, sockets, "c")
    for _ in range(60):
        keys = list(dev.client.get("/drafts/w").json()["entities"])
        asked = odd.request(1, n, base, keys)
        fields = {name: asked[name] for name in ("n", "tag", "base", "gestures") if name in asked}
        one.send(json.dumps({"v": 1, "t": "op", **fields}))
        try:
            while (message := json.loads(one.recv(PATIENCE_S)))["t"] not in ("item", "answer", "pull"):
                pass
        except ConnectionClosed as error:
            assert error.rcvd is not None and error.rcvd.code == 4400, error.rcvd
            one, closed = joined(dev, sockets, "c"), closed + 1
            continue
        if message["t"] != "answer":
            head = dev.client.get("/drafts/w").json()["seq"]
            n, base = n + (head > base), head
    assert closed and n > 10
    for path in ("", "/document", "/findings", "/yaml", "/diff", "/history"):
        assert dev.client.get(f"/drafts/w{path}").status_code == 200
    edits(dev, "bo")


def test_bytes_that_are_no_request_end_their_connection_alone(dev: Any) -> None:
    url, key = dev.client.base_url, dev.client.headers["authorization"]
    named = f"Host: {url.host}:{url.port}\r\nAuthorization: {key}\r\nContent-Type: application/json\r\n"
    head = f"PUT /drafts/w/ops HTTP/1.1\r\n{named}"
    dice = Random(7)
    for request in (
        dice.randbytes(4_000), b"\0" * 4_000, b"GET / HTTP/9.9\r\n\r\n", head.encode() + b"Content-Length: -1\r\n\r\n",
        head.encode() + b"Content-Length: 99999999999\r\n\r\n{}", head.encode() + b"X: " + b"x" * 200_000 + b"\r\n\r\n",
        head.encode() + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n", head.encode() + b"Content-Length: 3\r\n\r\n\xff\xfe\xfd",
    ):  # fmt: skip
        with socket.create_connection((url.host, url.port), timeout=PATIENCE_S) as one:
            answer = b""
            with suppress(ConnectionResetError, BrokenPipeError):  # it may be closed before all of it is read
                one.sendall(request)
                one.shutdown(socket.SHUT_WR)
                while data := one.recv(65_536):
                    answer += data
        assert answer == b"" or int(answer.split(b" ")[1]) in range(400, 500), (request[:80], answer[:200])
    edits(dev, "bo")


def test_the_client_id_of_another_person_and_a_request_of_before_a_restart(serve: Any, dev: Any) -> None:
    made = dev.client.post("/keys", json={"name": "eve", "roles": ["edit"]}).json()
    eve = {"authorization": f"Bearer {made['secret']}"}
    first = op(1, 1, renames("bo"), client="bo")
    item = dev.client.put("/drafts/w/ops", json=first).json()
    stolen = dev.client.put("/drafts/w/ops", json=op(1, 2, renames("eve"), client="bo", base=1), headers=eve)
    assert stolen.json()["answer"]["code"] == "forked"
    assert dev.client.put("/drafts/w/ops", json=first, headers=eve).json()["answer"]["code"] == "forked"
    dev.child.process.kill()
    dev.child.process.wait(PATIENCE_S)
    again = serve()
    assert again.client.put("/drafts/w/ops", json=first).json() == item, "a repeat is answered by its item"
    assert again.client.put("/drafts/w/ops", json=first, headers=eve).json()["answer"]["code"] == "forked"
    for changed, code in (
        ({"tag": "other"}, "forked"), ({"n": 9}, "stale"), ({"n": 2, "base": 99}, "stale"), ({"epoch": 9}, "replaced"),
    ):  # fmt: skip
        assert again.client.put("/drafts/w/ops", json={**first, **changed}).json()["answer"]["code"] == code
    assert again.client.get("/drafts/w").json()["seq"] == 1
    saved = again.client.post("/drafts/w/save", json={"seq": 1}, headers=eve)
    assert (saved.status_code, saved.json()["code"]) == (403, "role_missing")
    again.client.delete(f"/keys/{made['id']}").raise_for_status()
    assert again.client.put("/drafts/w/ops", json=op(1, 1, renames("x"), client="e"), headers=eve).status_code == 401


def test_the_audit_log_has_the_address_of_the_connection_whatever_a_header_says(dev: Any) -> None:
    forged = {"x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "https", "forwarded": "for=203.0.113.9"}
    dev.client.post("/keys", json={"name": "bo", "roles": ["read"]}, headers=forged).raise_for_status()
    (entry,) = dev.client.get("/audit?verb=make_key").json()["entries"]
    assert entry["source"].startswith("127.0.0.1 ")
