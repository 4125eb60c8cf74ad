"""Lists the addresses under which a request may have been called. Some senders of webhooks sign the address that they call."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from starlette.requests import Request


def called_urls(request: Request, base: str) -> Sequence[str]:
    """Returns the addresses with the query, as they were sent. With `base`, the public address of the deployment, it is this one.
    Otherwise the host of the request: a signature over it proves that its sender has called this name, by http or https."""
    raw: bytes | None = request.scope.get("raw_path")
    path = raw.decode("latin-1") if raw is not None else quote(request.scope["path"])
    query = request.scope["query_string"].decode("latin-1")
    rest = f"{path}?{query}" if query else path
    if base:
        return (f"{base}{rest}",)
    host = request.headers.get("host", "")
    return (f"https://{host}{rest}", f"http://{host}{rest}") if host else ()
