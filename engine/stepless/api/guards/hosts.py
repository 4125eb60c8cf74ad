"""Refuses requests that reach a local server under a foreign name, and those of pages of other sites.

A page on the internet can make its own name point to 127.0.0.1, and then counts to the browser as a page of this server (DNS
rebinding). Its requests still have that name as their `Host`. An IP address cannot be rebound, so it is always accepted.
"""

from __future__ import annotations

from collections.abc import Collection
from ipaddress import ip_address
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from stepless.api.problems import respond
from stepless.errors import Forbidden

_OPEN: Final = ("/hooks/", "/resume/", "/health")  # a tunnel to these brings its own name; each has its own protection
_SCHEMES: Final = ("http://", "https://")


class KnownHosts:
    """The outermost layer but CORS. `hosts` are the names in addition to `localhost`; pages of `origins` are accepted, too."""

    def __init__(self, app: ASGIApp, hosts: Collection[str], origins: Collection[str]) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket") and not scope["path"].startswith(_OPEN):
            refused = self._refusal(Headers(scope=scope))
            if refused is not None and scope["type"] == "websocket":
                await WebSocket(scope, receive, send).send_denial_response(respond(refused))
                return
            if refused is not None:
                await respond(refused)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _refusal(self, headers: Headers) -> Forbidden | None:
        host = headers.get("host", "")
        if not self._is_known(host):
            mend = "use the address that `stepless dev` prints, or start it with --allow-host NAME"
            return Forbidden(f"the server is not known as {host[:100]!r}", code="foreign_host", place="Host", mend=mend)
        origin = headers.get("origin")
        if origin is None or origin in self._origins or "*" in self._origins:
            return None
        if origin.startswith(_SCHEMES) and origin.partition("://")[2].lower() == host.lower():
            return None
        mend = "open the page of this server, or allow the origin with STEPLESS_CORS_ORIGINS"
        return Forbidden("a page of another site may not call this server", code="foreign_origin", place="Origin", mend=mend)

    def _is_known(self, host: str) -> bool:
        name = host.rpartition("]")[0].removeprefix("[") if host.startswith("[") else host.partition(":")[0]
        name = name.lower().removesuffix(".")
        if name in self._hosts or name == "localhost" or name.endswith(".localhost"):
            return True
        try:
            ip_address(name)
        except ValueError:
            return False
        return True
