"""Who may ask: bearer API keys, kept as SHA-256 and compared in constant time."""

from __future__ import annotations

import hmac
import re
from collections.abc import Awaitable, Callable, Collection
from hashlib import sha256
from typing import Final

from fastapi import Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from stepless.errors import ConfigError, Forbidden

_HASHED: Final = re.compile(r"sha256:[0-9a-f]{64}")
_SCHEME: Final = HTTPBearer(auto_error=False, description="An API key")
_READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})

Guard = Callable[..., Awaitable[None]]


def hashed(key: str) -> str:
    """An API key as it is kept at rest: `sha256:<hex>`."""
    return f"sha256:{sha256(key.encode()).hexdigest()}"


def guard(api_keys: Collection[str] | None) -> Guard:
    """A dependency that lets through who has one of the keys, each given as it is or `hashed`. No keys let nobody through;
    None lets everybody, but no page of another site in somebody's browser. Raises `ConfigError` for an empty key."""
    if api_keys is None:
        return _open
    if "" in (stripped := {key.strip() for key in api_keys}):
        raise ConfigError("an API key is empty", place="api_keys", mend="leave it out")
    kept = [key if _HASHED.fullmatch(key) else hashed(key) for key in sorted(stripped)]

    async def check(given: HTTPAuthorizationCredentials | None = Security(_SCHEME)) -> None:  # noqa: B008 - how FastAPI asks
        offered = hashed(given.credentials) if given is not None else ""
        matches = [hmac.compare_digest(offered, key) for key in kept]  # all of them, whichever fits
        if not any(matches):
            mend = "send Authorization: Bearer <API key>"
            raise Forbidden("this needs a valid API key", code="unauthorized", status=401, mend=mend)

    return check


async def _open(request: Request) -> None:
    if request.method not in _READING and request.headers.get("sec-fetch-site") == "cross-site":
        message = "a page of another site may not change anything here"
        raise Forbidden(message, code="cross_site", mend="use an API key, or ask from outside a browser")
