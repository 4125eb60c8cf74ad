"""Serves the API over a file, in this process, so that a verb works the same over a file and over the network."""

from __future__ import annotations

import asyncio
import os
from typing import Final

import httpx

from stepless.api.app import create_app
from stepless.errors import InvalidRequest
from stepless.runtime.wiring.local import Attached, attached
from stepless.runtime.wiring.stores import scheme_of

URL: Final = "http://file"  # the base of all paths; it is never resolved and nothing is sent to it


class FileTransport(httpx.BaseTransport):
    """Answers requests from a file, or the store of a URL. Raises `InvalidRequest` (no_runs_file) if there is no file, unless
    `create` is set."""

    def __init__(self, path: str, *, create: bool = False) -> None:
        if scheme_of(path) is None and not os.path.exists(path):
            if not create:
                mend = "start `stepless dev` or `stepless publish` to create it, or name another with --db (a server with --url)"
                raise InvalidRequest("the file of runs does not exist", code="no_runs_file", place=path, mend=mend)
            _make_folder(path)
        self.attached: Attached = attached(path)
        self._asgi = httpx.ASGITransport(create_app(self.attached.service, api_keys=None, docs=False, development=True))
        self._loop = asyncio.Runner()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._loop.run(self._answer(request))

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        answer = await self._asgi.handle_async_request(request)
        return httpx.Response(answer.status_code, headers=answer.headers, content=await answer.aread())

    def close(self) -> None:
        self._loop.close()
        self.attached.close()


def _make_folder(path: str) -> None:
    folder = os.path.dirname(path)
    try:
        os.makedirs(folder or ".", exist_ok=True)
    except OSError as error:
        raise InvalidRequest(str(error.strerror), code="folder_not_made", place=path, mend="give another --db") from error
