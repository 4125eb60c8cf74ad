"""What a caller asks for in headers: a media type in Accept (RFC 9110, 12.5.1), a wait in Prefer (RFC 7240)."""

from __future__ import annotations

from starlette.requests import Request

from stepless.limits import MAX_LONG_POLL_MS


def preferred(request: Request, *offered: str) -> str:
    """The media type that the caller likes best among those offered, the first of equals; the first when none is liked."""
    wishes = _wishes(",".join(request.headers.getlist("accept")) or "*/*")
    return max(offered, key=lambda media_type: _quality(media_type, wishes))


def _wishes(header: str) -> dict[str, float]:
    wishes: dict[str, float] = {}
    for part in header.split(","):
        media_range, *params = (piece.strip().lower() for piece in part.split(";"))
        quality = next((param[2:].strip() for param in params if param.startswith("q=")), "1")
        try:
            wishes[media_range] = min(1.0, max(0.0, float(quality)))
        except ValueError:
            wishes[media_range] = 0.0
    return wishes


def _quality(media_type: str, wishes: dict[str, float]) -> float:
    """By the most specific range that covers the media type."""
    ranges = (media_type, f"{media_type.partition('/')[0]}/*", "*/*")
    return next((wishes[media_range] for media_range in ranges if media_range in wishes), 0.0)


def wished_wait_s(request: Request) -> float | None:
    """The seconds of `Prefer: wait=…`, at most MAX_LONG_POLL_MS; None when there is none that can be read."""
    for part in ",".join(request.headers.getlist("prefer")).split(","):
        name, _, value = part.partition(";")[0].partition("=")
        seconds = value.strip().strip('"')
        if name.strip().lower() == "wait" and seconds.isascii() and seconds.isdecimal() and len(seconds) < 10:
            return min(float(seconds), MAX_LONG_POLL_MS / 1000)
    return None
