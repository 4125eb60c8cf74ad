"""The HTTP client of a process: one per event loop, because connections belong to the loop that opened them."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from stepless.nodes.http.addresses import ALLOW_VARIABLE, Allowed

if TYPE_CHECKING:
    import httpx

_CLIENTS: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient]] = WeakKeyDictionary()


def client() -> httpx.AsyncClient:
    """The client of the running loop. STEPLESS_HTTP_ALLOW is read, and httpx imported, when it is made."""
    from stepless.nodes.http.transport import open_client

    loop = asyncio.get_running_loop()
    known = _CLIENTS.get(loop)
    if known is None:
        known = _CLIENTS[loop] = open_client(Allowed.parse(os.environ.get(ALLOW_VARIABLE, "")))
    return known


async def close() -> None:
    """Closes the connections of the running loop; the next request opens new ones."""
    known = _CLIENTS.pop(asyncio.get_running_loop(), None)
    if known is not None:
        await known.aclose()
