"""The console: a page and its files, the same for everyone. Its script asks the API with the viewer's token."""

from __future__ import annotations

import gzip
import hmac
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import PurePosixPath
from secrets import token_urlsafe
from typing import Final

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import RedirectResponse, Response
from typing_extensions import TypedDict

from stepless.api.bodies import documented_body, read_model
from stepless.api.problems import documented
from stepless.api.replies import reply
from stepless.api.requests import Body
from stepless.errors import Forbidden, NotFound
from stepless.limits import CONSOLE_CODE_LIFE_MS, MAX_TOKEN_CHARACTERS
from stepless.ports import Clock

_TYPES: Final = {
    ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml", ".json": "application/json",
}
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; worker-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "content-security-policy": _POLICY, "referrer-policy": "no-referrer", "x-frame-options": "DENY",
    "x-content-type-options": "nosniff", "x-robots-tag": "noindex, nofollow", "vary": "Accept-Encoding",
}
_FOREVER: Final = "public, max-age=31536000, immutable"  # the name of such a file has the hash of its content


class Codes:
    """One code, good once, which `stepless dev` prints in the address of the console; it is exchanged for `token`."""

    def __init__(self, token: str, clock: Clock) -> None:
        self._token = token
        self._clock = clock
        self._code = ""
        self._until_ms = 0

    def issue(self) -> str:
        self._code = token_urlsafe(16)
        self._until_ms = self._clock.now_ms() + CONSOLE_CODE_LIFE_MS
        return self._code

    def exchange(self, code: str) -> str:
        """Raises `Forbidden` (invalid_code)."""
        fits = bool(self._code) and hmac.compare_digest(self._code.encode(), code.encode())
        if not fits or self._clock.now_ms() >= self._until_ms:
            mend = "open the address that `stepless dev` printed last, or enter an API key"
            raise Forbidden("the code is not valid any more", code="invalid_code", status=401, place="code", mend=mend)
        self._code = ""
        return self._token


class SessionBody(Body):
    code: str = Field(min_length=1, max_length=MAX_TOKEN_CHARACTERS)


class SessionOut(TypedDict):
    token: str


def add_routes(router: APIRouter, codes: Codes | None, given: Mapping[str, bytes] | None = None) -> None:
    """`given` are files by path, instead of those of this release."""
    packed: dict[str, bytes] = {}

    @router.get("/console", include_in_schema=False)
    def redirect_to_console() -> Response:
        return RedirectResponse("/console/", 308)

    @router.get("/console/{path:path}", include_in_schema=False)
    def read_console(path: str, request: Request) -> Response:
        """A file of the console; the page itself for every address inside it."""
        known = _names() if given is None else given
        name = path if path in known or PurePosixPath(path).suffix else "index.html"
        content = known.get(name)
        if content is None:
            raise NotFound("there is no such file", code="not_found", mend="open /console/")
        headers = {**_HEADERS, "cache-control": _FOREVER if name.startswith("assets/") else "no-cache"}
        if "gzip" in request.headers.get("accept-encoding", ""):
            if name not in packed:
                packed[name] = gzip.compress(content, 9, mtime=0)
            content, headers["content-encoding"] = packed[name], "gzip"
        return Response(content, 200, headers, _TYPES.get(PurePosixPath(name).suffix, "application/octet-stream"))

    if codes is not None:
        @router.post(
            "/console/session", summary="Open the console", response_model=SessionOut, openapi_extra=documented_body(SessionBody),
            responses=documented(400, 401, 413, 415, 422), tags=["console"],
        )
        async def open_console(request: Request) -> Response:
            """Exchanges the code in the address that `stepless dev` prints for a bearer token. A code is good once, for ten
            minutes."""
            body = await read_model(request, SessionBody)
            return reply({"token": codes.exchange(body.code)})


def is_built() -> bool:
    """Whether this installation has the console."""
    return "index.html" in _names()


@lru_cache(1)
def _names() -> dict[str, bytes]:
    """All files of the console, by their path: what a request asks for is looked up here, never on the disk."""
    root = files("stepless.api") / "console"
    if not root.is_dir():
        return {}
    found: dict[str, bytes] = {}
    waiting = [("", root)]
    while waiting:
        prefix, folder = waiting.pop()
        for entry in folder.iterdir():
            if entry.is_dir():
                waiting.append((f"{prefix}{entry.name}/", entry))
            else:
                found[prefix + entry.name] = entry.read_bytes()
    return found
