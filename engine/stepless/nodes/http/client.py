"""Provides the HTTP client of a process: one per event loop, because a connection belongs to the loop that opened it.

The HTTP libraries log every URL and header, and any of them may contain a secret. While a node uses the client, their loggers are
silenced at every level.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from stepless.nodes.http.addresses import ALLOW_VARIABLE, Allowed

if TYPE_CHECKING:
    import httpx

_CLIENTS: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient]] = WeakKeyDictionary()
_SILENT: Final[ContextVar[bool]] = ContextVar("stepless_http_silent", default=False)
_LOGGERS: Final = ("httpx", "httpcore.connection", "httpcore.http11", "httpcore.http2", "httpcore.proxy", "httpcore.socks")


@contextmanager
def silence() -> Iterator[None]:
    """Suppresses the logs of httpx and httpcore inside the block."""
    before = _SILENT.set(True)
    try:
        yield
    finally:
        _SILENT.reset(before)


def _may_log(record: logging.LogRecord) -> bool:
    return not _SILENT.get()


def client() -> httpx.AsyncClient:
    """Returns the client of the running loop. The first call reads STEPLESS_HTTP_ALLOW and imports httpx."""
    from stepless.nodes.http.transport import open_client

    loop = asyncio.get_running_loop()
    known = _CLIENTS.get(loop)
    if known is None:
        for name in _LOGGERS:
            logging.getLogger(name).addFilter(_may_log)  # adding it again has no effect
        known = _CLIENTS[loop] = open_client(Allowed.parse(os.environ.get(ALLOW_VARIABLE, "")))
    return known


async def close() -> None:
    """Closes the connections of the running loop; the next request opens new ones."""
    known = _CLIENTS.pop(asyncio.get_running_loop(), None)
    if known is not None:
        await known.aclose()
