"""Decides which pages of other origins may call the API from a browser (CORS)."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, Final

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from stepless.api.links import RUN_HEADER
from stepless.errors import ConfigError

_ORIGIN: Final = re.compile(r"\*|https?://[A-Za-z0-9.:\[\]-]+")
_PREFLIGHT_S: Final = 600  # how long a browser caches a preflight response
_HEADERS: Final = ("Authorization", "Content-Type", "Idempotency-Key", "Last-Event-ID", "Prefer")
_ANY: Final = ("*",)


def checked_origins(origins: Collection[str]) -> Collection[str]:
    """Returns the origins as they are. Raises `ConfigError` for one that is none."""
    for origin in origins:
        if not _ORIGIN.fullmatch(origin):
            mend = "write https://app.example.com, without a path"
            raise ConfigError(f"{origin!r} is not an origin", place="cors_origins", mend=mend)
    return origins


class AllowedOrigins:
    """Answers preflight requests of pages of these origins, and lets them read responses. Keys are sent in a header, never in
    cookies, so no credentials are allowed. A webhook chooses the headers that prove its sender, so its route accepts any."""

    def __init__(self, app: ASGIApp, origins: Collection[str]) -> None:
        options: dict[str, Any] = {
            "allow_origins": sorted(origins),
            "allow_methods": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
            "expose_headers": ["Location", "Preference-Applied", "Retry-After", RUN_HEADER],
            "max_age": _PREFLIGHT_S,
        }
        self._api = CORSMiddleware(app, allow_headers=_HEADERS, **options)
        self._hooks = CORSMiddleware(app, allow_headers=_ANY, **options)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        cors = self._hooks if str(scope.get("path", "")).startswith("/hooks/") else self._api
        await cors(scope, receive, send)
