"""Reads headers, and the caller's preferences in them: a media type in Accept (RFC 9110, 12.5.1), a wait in Prefer (RFC 7240)."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request

from stepless.limits import MAX_LONG_POLL_MS


def headers_of(request: Request) -> Mapping[str, str]:
    """Returns the headers, with names in lower case. Values of a repeated name are joined as in RFC 9110."""
    headers: dict[str, str] = {}
    for name, value in request.headers.items():
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def preferred(request: Request, *offered: str) -> str:
    """Returns the offered media type that the caller prefers; the first one among equals, and the first one if none is
    accepted."""
    accepted = _accepted(",".join(request.headers.getlist("accept")) or "*/*")
    return max(offered, key=lambda media_type: _quality(media_type, accepted))


def _accepted(header: str) -> dict[str, float]:
    accepted: dict[str, float] = {}
    for part in header.split(","):
        media_range, *params = (piece.strip().lower() for piece in part.split(";"))
        quality = next((param[2:].strip() for param in params if param.startswith("q=")), "1")
        try:
            accepted[media_range] = min(1.0, max(0.0, float(quality)))
        except ValueError:
            accepted[media_range] = 0.0
    return accepted


def _quality(media_type: str, accepted: dict[str, float]) -> float:
    """The quality of the most specific range that covers the media type."""
    ranges = (media_type, f"{media_type.partition('/')[0]}/*", "*/*")
    return next((accepted[media_range] for media_range in ranges if media_range in accepted), 0.0)


def requested_wait_s(request: Request) -> float | None:
    """Returns the seconds of `Prefer: wait=…`, at most MAX_LONG_POLL_MS; None if there is no valid one."""
    for part in ",".join(request.headers.getlist("prefer")).split(","):
        name, _, value = part.partition(";")[0].partition("=")
        seconds = value.strip().strip('"')
        if name.strip().lower() == "wait" and seconds.isascii() and seconds.isdecimal() and len(seconds) < 10:
            return min(float(seconds), MAX_LONG_POLL_MS / 1000)
    return None
