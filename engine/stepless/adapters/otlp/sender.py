"""Sends OTLP requests over HTTP, in a thread, over connections that stay open between requests.

Uses `http.client`, which boto3 has imported already: an HTTP client with a connection pool would more than double the import
time of the export. The endpoint comes from the operator, so it may be a private address, unlike those of the kind `http`.
"""

from __future__ import annotations

import asyncio
import gzip
import logging
import re
import ssl
import time
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Final
from urllib.parse import urlsplit
from weakref import finalize

from stepless.adapters.otlp.settings import Setting, Signal, pairs_of
from stepless.errors import CollectorUnavailable
from stepless.limits import (
    MAX_TELEMETRY_CONNECTIONS,
    MAX_TELEMETRY_RESPONSE_BYTES,
    MAX_TELEMETRY_WAIT_S,
    TELEMETRY_HEADERS_FRESH_S,
)

_log = logging.getLogger(__name__)
_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_RETRYABLE: Final = frozenset({429, 502, 503, 504})


class Refused(Exception):
    """The collector will never accept this request."""


class Sender:
    """Sends the requests of one signal. `secret` reads the settings with its headers, which may hold a key: from the environment
    or from where the secrets of workflows are."""

    def __init__(self, signal: Signal, secret: Setting) -> None:
        self._signal = signal
        self._secret = secret
        self._parts = urlsplit(signal.url)
        self._idle: list[HTTPConnection] = []
        finalize(self, _close, self._idle)
        self._headers: dict[str, str] = {}
        self._headers_until = 0.0
        self._not_before = 0.0  # the collector asked for a pause until then

    async def send(self, body: bytes) -> bytes:
        """Returns the body of the response. Raises `Refused`, and `CollectorUnavailable` if the same request may succeed
        later."""
        return await asyncio.to_thread(self._send, body)

    def close(self) -> None:
        _close(self._idle)

    def _send(self, body: bytes) -> bytes:
        if time.monotonic() < self._not_before:
            raise CollectorUnavailable("the collector asked for a pause", place=self._shown)
        headers = {"content-type": "application/x-protobuf", "user-agent": "stepless", **self._own_headers()}
        if self._signal.gzip:
            body = gzip.compress(body, 1)
            headers["content-encoding"] = "gzip"
        try:
            connection, response, answer = self._exchange(body, headers)
        except (OSError, HTTPException) as error:
            raise CollectorUnavailable(f"the collector cannot be reached: {type(error).__name__}", place=self._shown) from error
        if response.will_close or len(self._idle) >= MAX_TELEMETRY_CONNECTIONS:
            connection.close()
        else:
            self._idle.append(connection)
        if 200 <= response.status < 300:
            return answer
        if response.status in _RETRYABLE:
            self._not_before = time.monotonic() + _pause_s(response)
            raise CollectorUnavailable(f"the collector answered {response.status}", place=self._shown)
        raise Refused(f"{self._shown} answered {response.status}")

    def _exchange(self, body: bytes, headers: dict[str, str]) -> tuple[HTTPConnection, HTTPResponse, bytes]:
        """One exchange. The collector may have closed an idle connection, so a failure on one is tried again on a new one."""
        while True:
            try:
                connection, idle = self._idle.pop(), True
            except IndexError:
                connection, idle = self._opened(), False
            try:
                target = self._parts.path or "/"
                connection.request("POST", f"{target}?{self._parts.query}" if self._parts.query else target, body, headers)
                response = connection.getresponse()
                answer = response.read(MAX_TELEMETRY_RESPONSE_BYTES)
                if not response.isclosed():
                    connection.close()  # more than anyone should say: the rest is not read
                    response.will_close = True
                return connection, response, answer
            except (OSError, HTTPException):
                connection.close()
                if not idle:
                    raise
            except BaseException:
                connection.close()
                raise

    def _opened(self) -> HTTPConnection:
        timeout_s, host = self._signal.timeout_ms / 1000, self._parts.hostname or ""
        if self._parts.scheme == "http":
            return HTTPConnection(host, self._parts.port, timeout=timeout_s)
        return HTTPSConnection(host, self._parts.port, timeout=timeout_s, context=ssl.create_default_context())

    def _own_headers(self) -> dict[str, str]:
        """The configured headers, read again from time to time: a key may be rotated."""
        now = time.monotonic()
        if now >= self._headers_until:
            texts = (self._secret(name) for name in self._signal.header_names)
            pairs = pairs_of(next((text for text in texts if text), ""))
            usable = {name.lower(): value for name, value in (pairs or {}).items() if _is_header(name, value)}
            if pairs is None or len(usable) < len(pairs):
                name = self._signal.header_names[-1]
                _log.warning("%s is not a list of key=value for headers: what cannot be sent is ignored", name)
            self._headers, self._headers_until = usable, now + TELEMETRY_HEADERS_FRESH_S
        return self._headers

    @property
    def _shown(self) -> str:
        """The endpoint without its query, which may hold a key."""
        return f"{self._parts.scheme}://{self._parts.netloc}{self._parts.path}"


def _close(connections: list[HTTPConnection]) -> None:
    while connections:
        connections.pop().close()


def _is_header(name: str, value: str) -> bool:
    return bool(_NAME.fullmatch(name)) and value.isascii() and value.isprintable()


def _pause_s(response: HTTPResponse) -> float:
    """How long the collector asks to be left alone, from `Retry-After` in seconds."""
    text = response.getheader("retry-after", "")
    return min(int(text), MAX_TELEMETRY_WAIT_S) if text.isascii() and text.isdigit() and len(text) < 9 else 0
