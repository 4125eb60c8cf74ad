import asyncio
import gzip
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpcore
import pytest
from pydantic import ValidationError

from stepless.limits import MAX_DOCUMENT_DEPTH, MAX_RESULT_BYTES
from stepless.model.work import NodeFailure
from stepless.nodes.http import KIND, close, run
from stepless.nodes.http.addresses import Allowed
from stepless.nodes.http.response import parse_retry_after
from stepless.nodes.http.transport import open_client

Answer = tuple[int, dict[str, str], bytes]


@dataclass
class Server:
    """A real server on the loopback address. `answers` maps paths to what they answer, None to silence."""

    url: str = ""
    answers: dict[str, Answer | None] = field(default_factory=dict)
    seen: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)

    def handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                server.seen.append((self.command, self.path, {name.lower(): value for name, value in self.headers.items()}, body))
                answer = server.answers[self.path.partition("?")[0]]
                if answer is None:
                    server.closing.wait(30)
                    self.close_connection = True
                    return
                status, headers, payload = answer
                self.send_response(status)
                for name, value in {"content-length": str(len(payload)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(payload)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = answer  # noqa: N815

            def log_message(self, *_: Any) -> None:
                """Keeps quiet."""

        return Handler


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("STEPLESS_HTTP_ALLOW", "127.0.0.1")
    server = Server()
    listener = ThreadingHTTPServer(("127.0.0.1", 0), server.handler())
    listener.daemon_threads = True
    thread = threading.Thread(target=listener.serve_forever, args=(0.01,))
    thread.start()
    server.url = f"http://127.0.0.1:{listener.server_port}"
    yield server
    server.closing.set()
    listener.shutdown()
    thread.join()
    listener.server_close()


@pytest.fixture
def send(call: Any) -> Callable[..., Any]:
    """Runs nodes one after the other in one event loop; the output, or the list of them."""
    def do(*several: dict[str, Any], **more: Any) -> Any:
        async def one_after_the_other() -> list[Any]:
            try:
                return [(await run(call("http", params, **more))).value for params in several]
            finally:
                await close()

        outputs = asyncio.run(one_after_the_other())
        return outputs[0] if len(outputs) == 1 else outputs

    return do


@pytest.fixture
def failing(send: Any) -> Callable[..., NodeFailure]:
    def do(params: dict[str, Any], **more: Any) -> NodeFailure:
        with pytest.raises(NodeFailure) as raised:
            send(params, **more)
        return raised.value

    return do


JSON_TYPE = {"content-type": "application/json; charset=utf-8"}


@pytest.mark.parametrize(("headers", "payload", "body"), [
    (JSON_TYPE, b'{"risk": 0.1, "who": "\xc3\xa4"}', {"risk": 0.1, "who": "ä"}),
    ({"content-type": "application/problem+json"}, b"[1]", [1]),
    (JSON_TYPE, b"", None),
    ({"content-type": "text/plain; charset=latin-1"}, b"\xe4", "ä"),
    ({"content-type": "text/plain; charset=no-such"}, b"a", "a"),
    ({"content-type": "application/xml"}, b"<a/>", "<a/>"),
    ({}, b"plain", "plain"),
    ({**JSON_TYPE, "content-encoding": "gzip"}, gzip.compress(b'{"a": 1}', mtime=0), {"a": 1}),
])
def test_a_body_is_read_by_its_content_type(
    headers: dict[str, str], payload: bytes, body: Any, server: Server, send: Any,
) -> None:
    server.answers["/x"] = 200, {**headers, "X-Own": "1"}, payload
    output = send({"url": f"{server.url}/x"})
    assert (output["status"], output["body"], output["headers"]["x-own"]) == (200, body, "1")


def test_a_body_that_is_no_text_comes_as_base64(server: Server, send: Any) -> None:
    server.answers["/x"] = 200, {"content-type": "image/png"}, b"\x89PNG\xff"
    output = send({"url": f"{server.url}/x"})
    assert (output["body"], output["encoding"]) == ("iVBOR/8=", "base64")


TOO_DEEP = MAX_DOCUMENT_DEPTH + 1


@pytest.mark.parametrize("payload", [
    b"{", b"NaN", b"\xff", b'"\\ud800"', b"[" * 100_000, b"[" * TOO_DEEP + b"]" * TOO_DEEP,
], ids=range(6))
def test_a_body_that_is_called_json_and_is_not_fails(payload: bytes, server: Server, failing: Any) -> None:
    server.answers["/x"] = 200, JSON_TYPE, payload
    failed = failing({"url": f"{server.url}/x"})
    assert (failed.cause, failed.code) == ("provider_error", "invalid_json")


def test_method_headers_query_and_body_are_sent_as_written(server: Server, send: Any) -> None:
    server.answers["/score"] = 201, {}, b""
    send({
        "method": "post", "url": f"{server.url}/score?k=0", "headers": {"Authorization": "Bearer t", "X-N": 3},
        "query": {"q": "a b&c", "many": [1, True], "none": None}, "body": {"order": "ä", "n": None},
    })
    [(method, path, headers, body)] = server.seen
    assert (method, path) == ("POST", "/score?k=0&q=a+b%26c&many=1&many=true")
    assert (headers["authorization"], headers["x-n"], headers["content-type"]) == ("Bearer t", "3", "application/json")
    assert json.loads(body) == {"order": "ä", "n": None}


@pytest.mark.parametrize(("body", "headers", "sent", "kind"), [
    ("text ä", {}, "text ä".encode(), "text/plain; charset=utf-8"), ("<a/>", {"Content-Type": "text/xml"}, b"<a/>", "text/xml"),
    ([1], {"content-type": "application/x+json"}, b"[1]", "application/x+json"), (False, {}, b"false", "application/json"),
    (None, {}, b"", None),
])
def test_text_is_sent_as_it_is_and_anything_else_as_json(
    body: Any, headers: Any, sent: bytes, kind: str | None, server: Server, send: Any,
) -> None:
    server.answers["/x"] = 200, {}, b""
    send({"method": "PUT", "url": f"{server.url}/x", "headers": headers, "body": body})
    assert (server.seen[0][3], server.seen[0][2].get("content-type")) == (sent, kind)


@pytest.mark.parametrize(("method", "own", "key"), [
    ("POST", {}, "r1:n@l[2]"), ("DELETE", {}, "r1:n@l[2]"), ("PATCH", {"idempotency-KEY": "mine"}, "mine"), ("GET", {}, None),
])
def test_a_request_that_changes_something_carries_the_token(
    method: str, own: Any, key: str | None, server: Server, send: Any,
) -> None:
    server.answers["/x"] = 200, {}, b""
    send({"method": method, "url": f"{server.url}/x", "headers": own})
    assert server.seen[0][2].get("idempotency-key") == key


@pytest.mark.parametrize(("status", "headers", "cause", "code", "retryable", "retry_after_ms"), [
    (429, {"Retry-After": "7"}, "rate_limit", "http_429", True, 7_000),
    (429, {}, "rate_limit", "http_429", True, None),
    (503, {"Retry-After": "Thu, 01 Jan 1970 00:01:10 GMT"}, "rate_limit", "http_503", True, 0),
    (503, {}, "provider_error", "http_503", True, None),
    (500, {}, "provider_error", "http_500", True, None),
    (408, {}, "timeout", "http_408", True, None),
    (504, {}, "timeout", "http_504", True, None),
    (425, {}, "rate_limit", "http_425", True, None),
    (403, {"Retry-After": "2"}, "rate_limit", "http_403", True, 2_000),
    (403, {}, "http_error", "http_403", True, None),
    (409, {"Retry-After": "2"}, "http_error", "http_409", True, 2_000),
    (404, {}, "http_error", "http_404", True, None),
    (304, {}, "http_error", "http_304", True, None),
])
def test_an_unexpected_status_fails_with_its_cause(
    status: int, headers: Any, cause: str, code: str, retryable: bool, retry_after_ms: int | None, server: Server, failing: Any,
) -> None:
    server.answers["/x"] = status, headers, b"" if status == 304 else b"out of \n order"
    failed = failing({"url": f"{server.url}/x?key=secret"})
    assert (failed.cause, failed.code, failed.retryable, failed.retry_after_ms) == (cause, code, retryable, retry_after_ms)
    assert f"GET {server.url}/x answered {status}" in failed.message
    assert "secret" not in failed.message
    assert status == 304 or failed.message.endswith(": out of order")


@pytest.mark.parametrize(("text", "wait_ms"), [
    ("0", 0), (" 12 ", 12_000), ("9" * 40, 366 * 86_400_000), ("Thu, 01 Jan 1970 00:01:10 GMT", 60_000),
    ("Thu, 01 Jan 1970 00:00:01 GMT", 0),
    ("1.5", 1_500), ("0.0001", 1), ("2.", None), ("1e3", None), ("Thu, 01 Jan 1970 00:01:10 -0000", 60_000), ("١", None),
    ("soon", None), ("-5", None), ("", None), (None, None), ("Thu, 99 Jan 1970 00:00:00 GMT", None),
])
def test_retry_after_is_seconds_or_a_date(text: str | None, wait_ms: int | None) -> None:
    assert parse_retry_after(text, now_ms=10_000) == wait_ms


@pytest.mark.parametrize(("listed", "status", "cause", "retryable"), [
    ([409, 423], 409, "provider_error", True),
    ([409, 423], 503, "provider_error", False),
    ([409, 423], 429, "rate_limit", False),
    ("5xx", 502, "provider_error", True),
    ("5xx", 504, "timeout", True),
    (202, 202, "provider_error", True),
    ([], 500, "provider_error", False),
])
def test_the_statuses_that_are_retried_may_be_listed(
    listed: Any, status: int, cause: str, retryable: bool, server: Server, failing: Any
) -> None:
    server.answers["/x"] = status, {}, b""
    failed = failing({"url": f"{server.url}/x", "retry_statuses": listed})
    assert (failed.cause, failed.retryable, failed.code) == (cause, retryable, f"http_{status}")


@pytest.mark.parametrize(("expected", "status", "accepted"), [
    (404, 404, True), ([200, "4xx"], 418, True), ("3xx", 302, True), (201, 200, False), ([200, "4xx"], 500, False),
])
def test_the_author_says_which_statuses_are_no_failure(
    expected: Any, status: int, accepted: bool, server: Server, send: Any, failing: Any,
) -> None:
    server.answers["/x"] = status, {"location": "/elsewhere"} if status == 302 else {}, b""
    params = {"url": f"{server.url}/x", "expect_status": expected}
    assert send(params)["status"] == status if accepted else failing(params).code == f"http_{status}"


@pytest.mark.parametrize("packed", [False, True])
def test_a_body_above_the_bound_is_not_read_to_its_end(packed: bool, server: Server, failing: Any) -> None:
    payload = b"a" * (MAX_RESULT_BYTES + 1)
    server.answers["/x"] = (200, {"content-encoding": "gzip"}, gzip.compress(payload, mtime=0)) if packed else (200, {}, payload)
    failed = failing({"url": f"{server.url}/x"})
    assert (failed.cause, failed.code, failed.retryable) == ("execution", "response_too_large", False)


def test_a_body_packed_in_a_way_that_was_not_asked_for_fails(server: Server, failing: Any) -> None:
    server.answers["/x"] = 200, {"content-encoding": "br"}, b"?"
    assert failing({"url": f"{server.url}/x"}).code == "unknown_encoding"


@pytest.mark.parametrize("payload", [
    b"no gzip at all", gzip.compress(b"text", mtime=0)[:-9], gzip.compress(b"text", mtime=0) * 2,
])
def test_a_broken_packed_body_fails_rather_than_losing_data(payload: bytes, server: Server, failing: Any) -> None:
    server.answers["/x"] = 200, {"content-encoding": "gzip"}, payload
    failed = failing({"url": f"{server.url}/x"})
    assert (failed.cause, failed.code) == ("provider_error", "invalid_encoding")


def test_a_server_that_never_answers_times_out_at_the_deadline(server: Server, failing: Any) -> None:
    server.answers["/x"] = None
    failed = failing({"url": f"{server.url}/x"}, started_ms=5_000, deadline_ms=5_100)
    assert (failed.cause, failed.code) == ("timeout", "timeout")


def test_a_server_that_is_not_there_is_a_failure_of_the_provider(server: Server, failing: Any) -> None:
    listener = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    listener.server_close()
    failed = failing({"url": f"http://127.0.0.1:{listener.server_port}/"})
    assert (failed.cause, failed.code) == ("provider_error", "connection_failed")


def test_a_connection_that_breaks_off_is_a_failure_of_the_provider(server: Server, failing: Any) -> None:
    server.answers["/x"] = None
    server.closing.set()
    failed = failing({"url": f"{server.url}/x"})
    assert (failed.cause, failed.code) == ("provider_error", "protocol_error")


def test_a_redirect_is_followed_and_keeps_headers_and_token_on_the_same_origin(server: Server, send: Any) -> None:
    server.answers.update({"/a": (307, {"location": "/b"}, b"gone"), "/b": (200, {}, b"here")})
    assert send({"method": "POST", "url": f"{server.url}/a", "headers": {"X-Key": "k"}, "body": "text"})["body"] == "here"
    (_, _, first, _), (method, path, second, body) = server.seen
    assert (method, path, body) == ("POST", "/b", b"text")
    assert (second["x-key"], second["idempotency-key"]) == ("k", first["idempotency-key"])


def test_a_redirect_to_another_origin_goes_without_the_authors_headers(
    server: Server, send: Any, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("STEPLESS_HTTP_ALLOW", "127.0.0.1, localhost")
    elsewhere = server.url.replace("127.0.0.1", "localhost") + "/b"
    server.answers.update({"/a": (302, {"location": elsewhere}, b""), "/b": (200, {}, b"")})
    send({"url": f"{server.url}/a", "headers": {"X-Key": "k", "Authorization": "t", "Cookie": "c", "Accept": "text/plain"}})
    headers = server.seen[1][2]
    assert not {"x-key", "authorization", "cookie"} & headers.keys()
    assert headers["accept"] == "text/plain"


def test_a_redirect_to_a_private_address_is_refused(server: Server, failing: Any) -> None:
    server.answers["/a"] = 302, {"location": server.url.replace("127.0.0.1", "127.0.0.2") + "/b"}, b""
    failed = failing({"url": f"{server.url}/a"})
    assert (failed.cause, failed.code, failed.retryable) == ("config", "address_refused", False)
    assert "127.0.0.2" in failed.message
    assert [path for _, path, _, _ in server.seen] == ["/a"]


@pytest.mark.parametrize(("location", "cause", "code"), [
    ("/a", "http_error", "too_many_redirects"), ("ftp://a.example/", "config", "invalid_config"),
    ("http://a:b/", "provider_error", "protocol_error"),
])
def test_a_redirect_that_leads_nowhere_fails(location: str, cause: str, code: str, server: Server, failing: Any) -> None:
    server.answers["/a"] = 302, {"location": location}, b""
    failed = failing({"url": f"{server.url}/a"})
    assert (failed.cause, failed.code) == (cause, code)
    assert len(server.seen) <= 6


def test_a_private_address_is_refused_without_a_connection(server: Server, failing: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STEPLESS_HTTP_ALLOW")
    failed = failing({"url": f"{server.url}/x"})
    assert (failed.cause, failed.code) == ("config", "address_refused")
    assert "STEPLESS_HTTP_ALLOW" in failed.mend
    assert server.seen == []


def test_the_connection_goes_to_the_address_that_was_judged() -> None:
    """A name that answers with a public address first and with a private one later gets one look-up, and that is used."""
    asked: list[str] = []

    async def look_up(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.9"] if len(asked) == 1 else ["127.0.0.1"]

    async def story() -> None:
        client = open_client(Allowed.parse("127.0.0.9"), look_up)
        with pytest.raises(httpcore.ConnectError):  # nobody listens at the address of the first answer
            await client.get(f"http://rebinding.example:{port}/")
        await client.aclose()

    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as listener:
        port = listener.server_port
        asyncio.run(story())
    assert asked == ["rebinding.example"]


def test_connections_are_kept_and_cookies_are_not(server: Server, send: Any) -> None:
    server.answers["/x"] = 200, {"Set-Cookie": "session=of-another-run; Path=/"}, b""
    first, second = send({"url": f"{server.url}/x"}, {"url": f"{server.url}/x"})
    assert first["status"] == second["status"] == 200
    assert "cookie" not in server.seen[1][2]


@pytest.mark.parametrize(("params", "told"), [
    ({"url": "ftp://a.example"}, "https://"), ({"url": "//a.example"}, "https://"), ({"url": "http://"}, "https://"),
    ({"url": "http://a b/"}, "spaces"), ({"url": "http://a\r\nX: 1"}, "https?://|line breaks"), ({"url": None}, "url"),
    ({"url": "http://" + "a" * 8_000}, "8000"),
    ({"method": "TRACE"}, "method"), ({"headers": {"a b": "c"}}, "headers"), ({"headers": {"a": "b\r\nc: d"}}, "line breaks"),
    ({"headers": {"Content-Length": "5"}}, "Content-Length"), ({"headers": {"a": ["b"]}}, "headers"), ({"query": "a=b"}, "query"),
    ({"expect_status": "2x"}, "expect_status"), ({"expect_status": 99}, "expect_status"),
    ({"expect_status": []}, "expect_status"),
])
def test_parameters_rendered_to_rubbish_are_refused_before_anything_is_sent(params: Any, told: str, failing: Any) -> None:
    params = {"url": "http://a.example/", **params}
    with pytest.raises(ValidationError):
        KIND.params.model_validate(params)
    failed = failing(params)
    assert (failed.cause, failed.code, failed.retryable) == ("config", "invalid_config", False)
    with pytest.raises(NodeFailure, match=told):
        raise failed


def test_a_malformed_allow_list_is_the_fault_of_the_configuration(failing: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPLESS_HTTP_ALLOW", "10.0.0.1/8")
    assert "STEPLESS_HTTP_ALLOW" in failing({"url": "https://a.example/"}).message


@pytest.mark.parametrize("host", ["a" * 64, f"{'a' * 64}.example", "a..example", "ä" * 64])
def test_a_host_that_cannot_be_is_a_fault_of_the_request_and_not_retried(failing: Any, host: str) -> None:
    failure = failing({"url": f"http://{host}/"})
    assert (failure.cause, failure.retryable) == ("config", False)


def test_a_redirect_to_a_host_that_cannot_be_is_not_retried_either(server: Server, failing: Any) -> None:
    server.answers["/"] = (302, {"location": f"http://{'a' * 64}/"}, b"")
    failure = failing({"url": f"{server.url}/"})
    assert (failure.cause, failure.retryable) == ("config", False)
    assert "64 characters" in str(failure)
