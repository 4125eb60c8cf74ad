"""Reads responses: bodies up to a limit, and unexpected statuses as failures with a cause."""

from __future__ import annotations

import json
import re
import zlib
from base64 import b64encode
from collections.abc import Callable
from datetime import UTC
from email.message import Message
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final, NoReturn

from stepless.limits import MAX_DURATION_MS, MAX_RESULT_BYTES, PREVIEW_CHARACTERS
from stepless.model.effects.exchange import HttpAnswer
from stepless.model.json import JSON
from stepless.model.work import NodeFailure
from stepless.nodes.json_value import NotJson, to_json

if TYPE_CHECKING:
    import httpx

_GZIP_OR_ZLIB: Final = 32 + zlib.MAX_WBITS


class TooLarge(Exception):
    """The body exceeds the limit."""


async def read_body(response: httpx.Response, most: int = MAX_RESULT_BYTES) -> bytes:
    """Returns the decompressed body. Raises `TooLarge` as soon as more than `most` bytes have arrived, compressed or
    decompressed: a decompression bomb cannot exhaust memory."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    unpack = None
    if encoding in ("gzip", "x-gzip", "deflate"):
        unpack = zlib.decompressobj(_GZIP_OR_ZLIB)
    elif encoding not in ("", "identity"):
        message = f"the body has the content encoding {encoding!r:.40}, which was not requested"
        raise NodeFailure("provider_error", "unknown_encoding", message)
    body, received = bytearray(), False
    async for part in response.aiter_raw():
        received = True
        try:
            body += part if unpack is None else unpack.decompress(part, most + 1 - len(body))
        except zlib.error as error:
            raise _cannot_decompress(str(error)) from error
        if len(body) > most:
            raise TooLarge
    if unpack is not None and received and (unpack.unused_data or not unpack.eof):
        raise _cannot_decompress("the compressed data is incomplete, or more data follows it")
    return bytes(body)


def _cannot_decompress(why: str) -> NodeFailure:
    return NodeFailure("provider_error", "invalid_encoding", f"the body cannot be decompressed: {why}")


def output_of(answer: HttpAnswer) -> dict[str, JSON]:
    """Returns {status, headers, body}. The body is JSON or text by its content type, otherwise text if it is UTF-8. Any other
    body is base64 text, marked by `encoding`. An empty body is null."""
    output: dict[str, JSON] = {"status": answer.status, "headers": dict(answer.headers), "body": None}
    body, content_type = answer.body, answer.headers.get("content-type", "")
    kind, _, _ = content_type.partition(";")
    kind = kind.strip().lower()
    if not body:
        return output
    if kind == "application/json" or kind.endswith("+json"):
        output["body"] = _parsed(body)
    elif kind.startswith("text/"):
        output["body"] = body.decode(_charset(content_type), errors="replace")
    else:
        try:
            output["body"] = body.decode()
        except UnicodeDecodeError:
            output.update(body=b64encode(body).decode(), encoding="base64")
    return output


def headers_of(response: httpx.Response) -> dict[str, str]:
    return {name: value.encode("utf-8", "replace").decode() for name, value in response.headers.items()}


def _charset(content_type: str) -> str:
    header = Message()
    header["content-type"] = content_type
    named = header.get_content_charset("utf-8")
    try:
        "".encode(named)
    except LookupError:
        return "utf-8"
    return named


def _parsed(body: bytes) -> JSON:
    try:
        return to_json(json.loads(body, parse_constant=_no_number))
    except (ValueError, RecursionError, NotJson) as error:
        message = f"the content type is JSON, but the body is not valid JSON: {error}"
        raise NodeFailure("provider_error", "invalid_json", message) from error


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not valid JSON")


def failure_of(
    response: httpx.Response, body: bytes, what: str, now_ms: int, retries: Callable[[int], bool] | None = None
) -> NodeFailure:
    """Returns an unexpected status as a failure. `what` names the request. With `retries`, the statuses for which it returns
    False are final, and the others have a cause that is retried by default."""
    status = response.status_code
    sent_ms = _date_ms(response.headers.get("date", "")) or now_ms  # the server computed Retry-After with its own clock
    retry_after_ms = parse_retry_after(response.headers.get("retry-after"), sent_ms)
    shown = " ".join(body.decode("utf-8", "replace").split())[:PREVIEW_CHARACTERS]
    message = f"{what} answered {status} {response.reason_phrase}".rstrip() + (f": {shown}" if shown else "")
    cause = cause_of(status, asks_to_wait=retry_after_ms is not None)
    retryable = retries is None or retries(status)
    if retries is not None and retryable and cause == "http_error":
        cause = "provider_error"
    return NodeFailure(cause, f"http_{status}", message, retry_after_ms=retry_after_ms, retryable=retryable)


_CAUSES: Final = {408: "timeout", 425: "rate_limit", 429: "rate_limit", 504: "timeout"}
_LIMITING: Final = frozenset({403, 503})  # with Retry-After, these say that there were too many requests


def cause_of(status: int, *, asks_to_wait: bool) -> str:
    """Returns the cause of the failure with this status (docs/write/reference.md#http). `asks_to_wait`: the answer has a
    `Retry-After`."""
    if asks_to_wait and status in _LIMITING:
        return "rate_limit"
    return _CAUSES.get(status, "provider_error" if status >= 500 else "http_error")


_SECONDS: Final = re.compile(r"([0-9]+)(?:\.([0-9]+))?")
_LONGEST_DIGITS: Final = 12  # no delay has more seconds


def parse_retry_after(text: str | None, now_ms: int) -> int | None:
    """Milliseconds to wait, from seconds (a fraction is rounded up) or an HTTP date; None for any other text. Never negative,
    never above MAX_DURATION_MS."""
    if text is None:
        return None
    text = text.strip()
    if seconds := _SECONDS.fullmatch(text):
        if len(seconds[1]) > _LONGEST_DIGITS:
            return MAX_DURATION_MS
        fraction = (seconds[2] or "")[:_LONGEST_DIGITS].ljust(3, "0")
        wait_ms = int(seconds[1]) * 1_000 + int(fraction[:3]) + (1 if fraction[3:].strip("0") else 0)
    elif (until_ms := _date_ms(text)) is not None:
        wait_ms = until_ms - now_ms
    else:
        return None
    return min(max(wait_ms, 0), MAX_DURATION_MS)


def _date_ms(text: str) -> int | None:
    try:
        date = parsedate_to_datetime(text)
        return int((date if date.tzinfo is not None else date.replace(tzinfo=UTC)).timestamp()) * 1_000
    except (ValueError, TypeError, OverflowError):
        return None
