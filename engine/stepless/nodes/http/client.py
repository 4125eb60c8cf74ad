"""The HTTP client of a process: one per event loop, because connections belong to the loop that opened them.

The libraries below log every URL and header, and a secret may stand in any of them: while a node uses the client, they are
silenced, whatever level their loggers have.
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
    """Within it, nothing that httpx does here is logged."""
    before = _SILENT.set(True)
    try:
        yield
    finally:
        _SILENT.reset(before)


def _may_log(record: logging.LogRecord) -> bool:
    return not _SILENT.get()


def client() -> httpx.AsyncClient:
    """The client of the running loop. STEPLESS_HTTP_ALLOW is read, and httpx imported, when it is made."""
    from stepless.nodes.http.transport import open_client

    loop = asyncio.get_running_loop()
    known = _CLIENTS.get(loop)
    if known is None:
        for name in _LOGGERS:
            logging.getLogger(name).addFilter(_may_log)  # the same one again changes nothing
        known = _CLIENTS[loop] = open_client(Allowed.parse(os.environ.get(ALLOW_VARIABLE, "")))
    return known


async def close() -> None:
    """Closes the connections of the running loop; the next request opens new ones."""
    known = _CLIENTS.pop(asyncio.get_running_loop(), None)
    if known is not None:
        await known.aclose()
