"""Transports the requests of the HTTP client: keeps connections alive, and connects only to checked addresses.

It ignores cookies, proxies and netrc files, so that data of one run never appears in the requests of another. It does not follow
redirects: the node checks every hop.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpcore
import httpx

from stepless.limits import HTTP_IDLE_CONNECTIONS, HTTP_KEEP_ALIVE_S, MAX_ADDRESSES_TRIED, MAX_IN_FLIGHT
from stepless.nodes.http.addresses import Allowed, LookUp, checked_addresses, look_up


def tls() -> ssl.SSLContext:
    """Returns the trusted certificates. Reading them is slow, so they are read once per value of SSL_CERT_FILE and
    SSL_CERT_DIR."""
    return _tls(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@cache
def _tls(file: str | None, folder: str | None) -> ssl.SSLContext:
    return httpx.create_ssl_context()  # httpx reads the two variables itself


def open_client(allowed: Allowed, look_up: LookUp = look_up) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=Transport(allowed, look_up), cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        trust_env=False, follow_redirects=False, headers={"User-Agent": "stepless", "Accept-Encoding": "gzip"},
    )


class Network(httpcore.AsyncNetworkBackend):
    """Opens connections to the checked addresses. TLS still verifies the certificate against the host name."""

    def __init__(self, allowed: Allowed, look_up: LookUp) -> None:
        self._allowed = allowed
        self._look_up = look_up
        self._sockets = httpcore.AnyIOBackend()

    async def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, local_address: str | None = None,  # noqa: ASYNC109  # httpcore's
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Tries the first MAX_ADDRESSES_TRIED addresses, in order, each for an equal share of `timeout` (seconds)."""
        try:
            addresses = await checked_addresses(host, port, self._allowed, self._look_up)
        except OSError as error:
            raise httpcore.ConnectError(f"the host has no address: {error}") from error
        failed: Exception = httpcore.ConnectError("the host has no address")
        tried = addresses[:MAX_ADDRESSES_TRIED]
        for address in tried:
            try:
                return await self._sockets.connect_tcp(
                    address, port, timeout=timeout and timeout / len(tried),
                    local_address=local_address, socket_options=socket_options,
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failed = error
        raise failed

    async def sleep(self, seconds: float) -> None:
        await self._sockets.sleep(seconds)


class Transport(httpx.AsyncBaseTransport):
    """An httpx transport over a connection pool that uses `Network`. Raises the errors of httpcore unchanged."""

    def __init__(self, allowed: Allowed, look_up: LookUp) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=tls(), max_connections=MAX_IN_FLIGHT,
            max_keepalive_connections=HTTP_IDLE_CONNECTIONS, keepalive_expiry=HTTP_KEEP_ALIVE_S,
            network_backend=Network(allowed, look_up),
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = httpcore.URL(
            scheme=request.url.raw_scheme, host=request.url.raw_host, port=request.url.port, target=request.url.raw_path,
        )
        response = await self._pool.handle_async_request(httpcore.Request(
            request.method, url, headers=request.headers.raw, content=request.stream, extensions=request.extensions,
        ))
        return httpx.Response(
            response.status, headers=response.headers, stream=Stream(response), extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._pool.aclose()


class Stream(httpx.AsyncByteStream):
    """Streams the body of a response."""

    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        assert isinstance(self._response.stream, AsyncIterable)
        async for part in self._response.stream:
            yield part

    async def aclose(self) -> None:
        await self._response.aclose()
