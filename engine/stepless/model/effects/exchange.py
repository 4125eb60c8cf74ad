"""Defines the port `Http`, with the requests and answers that kinds exchange through it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from stepless.model.work import NodeFailure


def successful(status: int) -> bool:
    return 200 <= status < 300


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """`query` is added to the URL; a list repeats its parameter. `timeout_ms` covers the whole exchange, redirects included.
    `expects` returns whether a status is a success: by default 2xx. `retries` returns whether an unexpected status may be
    retried; None if its cause alone decides."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    content: bytes | None = None
    timeout_ms: int = 30_000
    expects: Callable[[int], bool] = successful
    retries: Callable[[int], bool] | None = None


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """`headers` have lower-case names; `body` is decompressed."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Http(Protocol):
    async def send(self, request: HttpRequest) -> HttpAnswer:
        """Sends a request to a public address, or one that STEPLESS_HTTP_ALLOW names. Follows redirects, checking each address
        again; to another origin it omits headers that may hold keys. Never retries: the node does.

        Raises `NodeFailure`: timeout; rate_limit for 425 and 429, and for 403 and 503 with Retry-After; provider_error for other
        5xx, failed connections and malformed answers; http_error for other unexpected statuses and for too many redirects;
        execution for a body above MAX_RESULT_BYTES; config for addresses that are not allowed and requests that cannot be sent.
        """
        ...


class NoHttp:
    """The port of a `Call` that was constructed without one. Every request fails."""

    async def send(self, request: HttpRequest) -> HttpAnswer:
        message = "this call has no HTTP client"
        raise NodeFailure("config", "address_refused", message, retryable=False, mend="construct the `Call` with http=…")
