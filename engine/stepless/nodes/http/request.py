"""Defines the parameters of `http`, and builds the request from them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from stepless.limits import MAX_HEADERS, MAX_URL_CHARACTERS
from stepless.model.json import JSON
from stepless.nodes.http.addresses import check_host
from stepless.nodes.params import Params, Scalar

UNSAFE: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_OWN_HEADERS: Final = frozenset({"content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer"})
_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def _fit_for_a_header(value: Scalar) -> Scalar:
    if isinstance(value, str) and _CONTROL.search(value):
        raise ValueError("a header cannot contain line breaks or control characters")
    return value


def _not_our_own(name: str) -> str:
    if name.lower() in _OWN_HEADERS:
        raise ValueError(f"`{name}` is set from the request itself; leave it out")
    return name


def _web_address(url: str) -> str:
    parts = urlsplit(url)  # raises ValueError for a malformed host
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
        raise ValueError("a URL must start with https:// or http:// and a host")
    check_host(parts.hostname)
    if _CONTROL.search(url) or " " in url:
        raise ValueError("a URL cannot contain spaces, line breaks or control characters")
    return url


Status = Annotated[int, Field(ge=100, le=599)] | Annotated[str, StringConstraints(pattern="^[1-5]xx$")]
HeaderName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$"), AfterValidator(_not_our_own)]
HeaderValue = Annotated[Scalar, AfterValidator(_fit_for_a_header)]


class HttpParams(Params):
    """The request, and the statuses that are not failures."""

    method: Annotated[
        Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
        BeforeValidator(lambda name: name.upper() if isinstance(name, str) else name),
    ] = "GET"
    """The HTTP method."""
    url: Annotated[str, AfterValidator(_web_address)] = Field(max_length=MAX_URL_CHARACTERS)
    """The URL. Its host must have a public address, or be allowed by `STEPLESS_HTTP_ALLOW`."""
    headers: dict[HeaderName, HeaderValue] = Field(default_factory=dict, max_length=MAX_HEADERS)
    """Header fields. `POST`, `PUT`, `PATCH` and `DELETE` are sent with an `Idempotency-Key` unless it is given here."""
    query: dict[str, Scalar | list[Scalar] | None] = Field(default_factory=dict, max_length=MAX_HEADERS)
    """Query parameters. A list repeats a parameter; null omits it."""
    body: JSON = None
    """Text is sent as it is, any other value as JSON."""
    expect_status: Status | Annotated[list[Status], Field(min_length=1, max_length=50)] = "2xx"
    """Statuses that are not failures: numbers, or classes such as `2xx`."""
    retry_statuses: Status | Annotated[list[Status], Field(max_length=50)] | None = None
    """Statuses that are retried, in place of those in the table below: numbers, or classes such as `5xx`. They are failures even
    if `expect_status` lists them. Other failures by their status are final."""

    def expects(self, status: int) -> bool:
        return _is_one_of(status, self.expect_status) and not self.retries(status)

    def retries(self, status: int) -> bool:
        """Returns whether `retry_statuses` lists a status."""
        return self.retry_statuses is not None and _is_one_of(status, self.retry_statuses)


def _is_one_of(status: int, listed: Status | list[Status]) -> bool:
    return any(status == one or f"{status // 100}xx" == one for one in (listed if isinstance(listed, list) else [listed]))


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request that is ready to be sent. Header names are in lower case."""

    headers: dict[str, str]
    query: dict[str, str | list[str]]
    content: bytes | None


def prepare(params: HttpParams, token: str) -> Prepared:
    """Adds what the author omitted: the content type, and the idempotency key for the methods in `UNSAFE`."""
    headers = {name.lower(): _as_text(value) for name, value in params.headers.items()}
    content = None
    if isinstance(params.body, str):
        content = params.body.encode()
        headers.setdefault("content-type", "text/plain; charset=utf-8")
    elif params.body is not None:
        content = json.dumps(params.body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        headers.setdefault("content-type", "application/json")
    if params.method in UNSAFE:
        headers.setdefault("idempotency-key", token)
    query: dict[str, str | list[str]] = {
        name: [_as_text(item) for item in value] if isinstance(value, list) else _as_text(value)
        for name, value in params.query.items() if value is not None
    }
    return Prepared(headers, query, content)


def _as_text(value: Scalar) -> str:
    return value if isinstance(value, str) else json.dumps(value)
