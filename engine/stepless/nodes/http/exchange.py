"""Performs one HTTP exchange with the guarded client: sends, follows redirects, reads the body, classifies failures."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from stepless.errors import ConfigError
from stepless.limits import HTTP_CONNECT_S, MAX_REDIRECTS, MAX_RESULT_BYTES, PREVIEW_CHARACTERS
from stepless.model.effects.exchange import HttpAnswer, HttpRequest
from stepless.model.work import NodeFailure, misconfigured
from stepless.nodes.http.addresses import AddressRefused, HostRefused
from stepless.nodes.http.client import client, silence
from stepless.nodes.http.response import TooLarge, failure_of, headers_of, read_body

if TYPE_CHECKING:
    import httpx

_ANYWHERE: Final = frozenset({"accept", "accept-language", "content-type", "user-agent", "idempotency-key"})


async def exchange(request: HttpRequest, now_ms: int) -> HttpAnswer:
    """See `Http.send`. `now_ms` is the start of a `Retry-After` when the answer has no date."""
    import httpcore
    import httpx

    what = f"{request.method} {_shown(request.url)}"
    remaining_s = max(request.timeout_ms, 0) / 1_000
    try:
        http = client()
        with silence():
            async with asyncio.timeout(remaining_s):
                return await _exchange(http, request, remaining_s, what, now_ms)
    except ConfigError as error:
        raise misconfigured(error) from error
    except (TimeoutError, httpcore.TimeoutException) as error:
        raise NodeFailure("timeout", "timeout", f"{what} was not answered in time") from error
    except AddressRefused as error:
        raise NodeFailure("config", "address_refused", f"{what}: {error}", retryable=False,
                          mend="if the request is intended, add the host or its network to STEPLESS_HTTP_ALLOW") from error
    except (
        HostRefused, httpx.InvalidURL, httpx.UnsupportedProtocol, httpcore.UnsupportedProtocol, httpcore.LocalProtocolError
    ) as error:  # fmt: skip
        raise NodeFailure("config", "invalid_config", f"{what}: {error}", retryable=False, mend="fix the request") from error
    except httpcore.NetworkError as error:
        raise NodeFailure("provider_error", "connection_failed", f"{what}: {str(error) or type(error).__name__}") from error
    except (httpcore.ProtocolError, httpx.RemoteProtocolError) as error:
        raise NodeFailure("provider_error", "protocol_error", f"{what}: {error}") from error


async def _exchange(http: httpx.AsyncClient, given: HttpRequest, remaining_s: float, what: str, now_ms: int) -> HttpAnswer:
    import httpx

    request: httpx.Request | None = http.build_request(
        given.method, httpx.URL(given.url).copy_merge_params(dict(given.query)),
        headers=[(name.lower().encode(), value.encode()) for name, value in given.headers.items()], content=given.content,
        timeout=httpx.Timeout(remaining_s, connect=min(remaining_s, HTTP_CONNECT_S)),
    )
    for _ in range(MAX_REDIRECTS + 1):
        assert request is not None
        response = await http.send(request, stream=True)
        async with aclosing(response):
            if given.expects(response.status_code):
                return HttpAnswer(response.status_code, headers_of(response), await _whole_body(response, what))
            if response.next_request is None:
                raise failure_of(response, await _beginning(response), what, now_ms, given.retries)
        request = _next_hop(request, response.next_request, given)
    raise NodeFailure("http_error", "too_many_redirects", f"{what} was redirected more than {MAX_REDIRECTS} times",
                      mend="use the URL that the redirects lead to")


def _next_hop(request: httpx.Request, following: httpx.Request, given: HttpRequest) -> httpx.Request:
    """The request that follows a redirect. To another origin it omits the author's headers: any of them may hold a key."""
    if _origin(request.url) != _origin(following.url):
        for name in {name.lower() for name in given.headers} - _ANYWHERE:
            following.headers.pop(name, None)
    return following


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


async def _whole_body(response: httpx.Response, what: str) -> bytes:
    try:
        return await read_body(response)
    except TooLarge:
        raise NodeFailure("execution", "response_too_large", f"{what} answered with more than {MAX_RESULT_BYTES} bytes",
                          retryable=False, mend="request less data, or fetch it in a function and store it elsewhere") from None


async def _beginning(response: httpx.Response) -> bytes:
    """The start of the body, for the message of a failure."""
    try:
        return await read_body(response, PREVIEW_CHARACTERS * 16)
    except TooLarge:
        return b""


def _shown(url: str) -> str:
    """The URL without credentials and query, which may be secret."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "an invalid URL"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
