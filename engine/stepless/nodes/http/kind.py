"""The kind `http`: its run."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from stepless.errors import ConfigError
from stepless.limits import HTTP_CONNECT_S, MAX_REDIRECTS, MAX_RESULT_BYTES, PREVIEW_CHARACTERS
from stepless.model.kind import Kind, Nature
from stepless.model.work import NodeFailure, Result
from stepless.nodes.http.addresses import AddressRefused, HostRefused
from stepless.nodes.http.client import client, silence
from stepless.nodes.http.request import HttpParams, Prepared, prepare
from stepless.nodes.http.response import TooLarge, failure_of, output_of, read_body
from stepless.nodes.params import rendered
from stepless.ports import Call

if TYPE_CHECKING:
    import httpx

KIND = Kind("http", Nature.EFFECT, HttpParams, "sends an HTTP request; puts out status, headers and body", is_tool=True)
_ANYWHERE: Final = frozenset({"accept", "accept-language", "content-type", "user-agent", "idempotency-key"})


async def run(call: Call) -> Result:
    """Sends the request and puts out {status, headers, body}.

    Raises `NodeFailure`: timeout at `call.deadline_ms`; rate_limit for 429, and 503 with Retry-After; provider_error for
    other 5xx and for connections that fail; http_error for every other status that is not expected; config for parameters
    that do not fit and for addresses that are not public.
    """
    import httpcore
    import httpx

    try:
        params = rendered(HttpParams, call.params, call.literals)
        http, prepared = client(), prepare(params, call.token)
    except ConfigError as error:
        told = f"{error.place}: {error.message}"
        raise NodeFailure("config", error.code, told, retryable=False, mend=error.mend) from error
    remaining_s = max(call.deadline_ms - call.started_ms, 0) / 1_000
    what = f"{params.method} {_shown(params.url)}"
    try:
        with silence():
            async with asyncio.timeout(remaining_s):
                return await _exchange(http, params, prepared, remaining_s, what, call.started_ms)
    except (TimeoutError, httpcore.TimeoutException) as error:
        raise NodeFailure("timeout", "timeout", f"{what} was not answered in time") from error
    except AddressRefused as error:
        raise NodeFailure("config", "address_refused", f"{what}: {error}", retryable=False,
                          mend="if it is meant, add the host or its network to STEPLESS_HTTP_ALLOW") from error
    except (
        HostRefused, httpx.InvalidURL, httpx.UnsupportedProtocol, httpcore.UnsupportedProtocol, httpcore.LocalProtocolError
    ) as error:  # fmt: skip
        raise NodeFailure("config", "invalid_config", f"{what}: {error}", retryable=False, mend="mend the request") from error
    except httpcore.NetworkError as error:
        raise NodeFailure("provider_error", "connection_failed", f"{what}: {str(error) or type(error).__name__}") from error
    except (httpcore.ProtocolError, httpx.RemoteProtocolError) as error:
        raise NodeFailure("provider_error", "protocol_error", f"{what}: {error}") from error


async def _exchange(
    http: httpx.AsyncClient, params: HttpParams, prepared: Prepared, remaining_s: float, what: str, now_ms: int,
) -> Result:
    import httpx

    request: httpx.Request | None = http.build_request(
        params.method, httpx.URL(params.url).copy_merge_params(prepared.query),
        headers=prepared.headers, content=prepared.content,
        timeout=httpx.Timeout(remaining_s, connect=min(remaining_s, HTTP_CONNECT_S)),
    )
    for _ in range(MAX_REDIRECTS + 1):
        assert request is not None
        response = await http.send(request, stream=True)
        async with aclosing(response):
            if params.expects(response.status_code):
                return Result(output_of(response, await _whole_body(response, what)))
            if response.next_request is None:
                raise failure_of(response, await _beginning(response), what, now_ms)
        request = _next_hop(request, response.next_request, prepared)
    raise NodeFailure("http_error", "too_many_redirects", f"{what} was redirected more than {MAX_REDIRECTS} times",
                      retryable=False, mend="use the URL that it leads to")


def _next_hop(request: httpx.Request, following: httpx.Request, prepared: Prepared) -> httpx.Request:
    """The request that a redirect asks for. To another origin it goes without the headers that the author wrote, since any
    of them may be a key."""
    if _origin(request.url) != _origin(following.url):
        for name in prepared.own - _ANYWHERE:
            following.headers.pop(name, None)
    return following


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


async def _whole_body(response: httpx.Response, what: str) -> bytes:
    try:
        return await read_body(response)
    except TooLarge:
        raise NodeFailure("execution", "response_too_large", f"{what} answered with more than {MAX_RESULT_BYTES} bytes",
                          retryable=False, mend="ask for less, or fetch it in a function and keep it elsewhere") from None


async def _beginning(response: httpx.Response) -> bytes:
    """What a failure shows of the body."""
    try:
        return await read_body(response, PREVIEW_CHARACTERS * 16)
    except TooLarge:
        return b""


def _shown(url: str) -> str:
    """The URL without what may be secret in it: credentials and query."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
