"""Writes the audit log: one entry for each request that may change something, before its route is called."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from stepless.api.calls import call
from stepless.errors import SteplessError
from stepless.model.json import JSON
from stepless.runtime.access.audit import Audited, AuditLog
from stepless.runtime.world import World

_READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
Recorder = Callable[[Request], AsyncIterator[None]]


def recorder(log: AuditLog, world: World) -> Recorder:
    """Returns a dependency of every guarded route, after the guard. It stores the entry, and adds the code of a refusal. If the
    entry cannot be stored, the request fails and the route is not called."""

    async def record(request: Request) -> AsyncIterator[None]:
        if request.method in _READING:
            yield
            return
        details: dict[str, JSON] = dict(request.query_params)
        verb = request.scope["route"].name
        begin = partial(log.begin, request.state.caller, verb, target_of(request), source_of(request), details or None)
        entry = await call(world, begin)
        request.state.audited = entry
        try:
            yield
        except Exception as error:
            code = error.code if isinstance(error, SteplessError) else "error"
            await call(world, partial(log.store, replace(request.state.audited, refused=code)))
            raise

    return record


def target_of(request: Request) -> str:
    """Returns the subject of a request, as its path names it."""
    return " ".join(str(value) for value in request.path_params.values())


def source_of(request: Request) -> str:
    """Returns the address of the caller, as the server sees it, and the program that it claims to be."""
    address = request.client.host if request.client is not None else "local"
    return f"{address} {request.headers.get('user-agent', '')[:200]}".strip()


async def note(log: AuditLog, request: Request, facts: Mapping[str, JSON]) -> None:
    """Adds facts of the body to the entry of a request, before the request is carried out."""
    entry: Audited = request.state.audited
    request.state.audited = replace(entry, details={**(entry.details or {}), **facts})
    await run_in_threadpool(log.store, request.state.audited)
