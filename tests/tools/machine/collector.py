"""A collector for tests: an OTLP receiver on loopback, which decodes the real protobuf messages."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span


class Request(NamedTuple):
    path: str
    headers: dict[str, str]
    body: bytes


class Reply(NamedTuple):
    status: int = 200
    headers: dict[str, str] = {}  # noqa: RUF012
    body: bytes = b""


def pairs(attributes: Any) -> dict[str, Any]:
    """OTLP's attributes as a dictionary."""
    return {one.key: _value(one) for one in attributes}


def _value(one: KeyValue) -> Any:
    return getattr(one.value, one.value.WhichOneof("value"))


class Collector:
    """What was received. `reply` decides on each request; only the content of accepted ones counts as delivered."""

    def __init__(self, url: str = "") -> None:
        self.url = url
        self.requests: list[Request] = []
        self.delivered: list[Request] = []
        self.reply: Callable[[Request], Reply] = lambda request: Reply()

    def receive(self, request: Request) -> Reply:
        self.requests.append(request)
        reply = self.reply(request)
        if reply.status == 200:
            self.delivered.append(request)
        return reply

    @property
    def spans(self) -> list[Span]:
        """Every delivered span, in order, repeated ones included."""
        messages = (ExportTraceServiceRequest.FromString(one.body) for one in self.delivered if one.path.endswith("/v1/traces"))
        scopes = [scoped for message in messages for ours in message.resource_spans for scoped in ours.scope_spans]
        return [span for scoped in scopes for span in scoped.spans]

    @property
    def resources(self) -> list[dict[str, Any]]:
        messages = (ExportTraceServiceRequest.FromString(one.body) for one in self.delivered if one.path.endswith("/v1/traces"))
        return [pairs(ours.resource.attributes) for message in messages for ours in message.resource_spans]

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """The metrics of each delivered request, by name."""
        bodies = [one.body for one in self.delivered if one.path.endswith("/v1/metrics")]
        scopes = [ExportMetricsServiceRequest.FromString(body).resource_metrics[0].scope_metrics[0] for body in bodies]
        return [{metric.name: metric for metric in scoped.metrics} for scoped in scopes]


@contextmanager
def collector() -> Iterator[Collector]:
    """A collector that listens on loopback."""
    ours = Collector()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            reply = ours.receive(Request(self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(reply.status)
            for name, value in {"content-length": str(len(reply.body)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, format: str, *args: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    ours.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield ours
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
