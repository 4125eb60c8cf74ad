"""Performs the calls of `calls` over httpx: `Client` in the caller's thread, `AsyncClient` on its event loop.

A method of a client is made from the generator of the same name in `Calls`, with its signature and its docstring.
"""

from __future__ import annotations

import random
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, Self, TypeAlias, TypeVar

import httpx

from stepless.client.calls import Calls
from stepless.client.exchange import Emit, Items, Lost, Open, Opened, Pause, Progress, Read, Reply, Send, Step, Steps
from stepless.client.retrying import Terms
from stepless.client.settings import DEFAULT_RETRY_FOR_S, DEFAULT_TIMEOUT_S, connection, retry_time
from stepless.client.streaming import MEDIA_TYPE
from stepless.limits import HEARTBEAT_MS

P = ParamSpec("P")
T = TypeVar("T")
Outcome: TypeAlias = Reply | Opened | Lost | bytes | None

_SILENCE_S: Final = 3 * HEARTBEAT_MS / 1000  # of a stream, after which its connection counts as lost
_NEVER_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
_OF_THE_CALLER: Final = (httpx.LocalProtocolError, httpx.UnsupportedProtocol)  # a repetition would fail the same way


# -- in the caller's thread -------------------------------------------------------------------------------------------


def _one(call: Callable[Concatenate[Calls, P], Steps[T]]) -> Callable[Concatenate[Client, P], T]:
    @wraps(call)
    def method(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._performed(call(self._calls, *args, **kwargs))

    return method


def _many(call: Callable[Concatenate[Calls, P], Items[T]]) -> Callable[Concatenate[Client, P], Iterator[T]]:
    @wraps(call)
    def method(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        return self._emitted(call(self._calls, *args, **kwargs))

    return method


class Client:
    """Calls a Stepless server. `url` and `key` default to the environment variables STEPLESS_URL and STEPLESS_API_KEY.
    `timeout_s` is for one request; `retry_for_s` is how long a call is tried again that had no answer, or that the server could
    not serve then. `transport` replaces the network. May be used by several threads; `close` it, or use it in a `with`."""

    def __init__(
        self, url: str | None = None, key: str | None = None, *, timeout_s: float = DEFAULT_TIMEOUT_S,
        retry_for_s: float = DEFAULT_RETRY_FOR_S, transport: httpx.BaseTransport | None = None,
    ) -> None:  # fmt: skip
        self._calls = Calls(Terms(retry_time(retry_for_s), time.monotonic, random.random))
        self._http = httpx.Client(**connection(url, key, timeout_s), transport=transport)
        self._timeout_s = timeout_s

    start = _one(Calls.start)
    get = _one(Calls.get)
    wait = _one(Calls.wait)
    answer = _one(Calls.answer)
    send = _one(Calls.send)
    send_to_run = _one(Calls.send_to_run)
    cancel = _one(Calls.cancel)
    rerun = _one(Calls.rerun)
    runs = _many(Calls.runs)
    events = _many(Calls.events)

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _performed(self, steps: Steps[T]) -> T:
        call, outcome = Progress(steps), None
        with _Wire(self._http, self._timeout_s) as wire:
            while call.advance(outcome):
                outcome = wire.outcome(call.step)
        return call.result

    def _emitted(self, steps: Items[T]) -> Iterator[T]:
        call, outcome = Progress(steps), None
        with _Wire(self._http, self._timeout_s) as wire:
            while call.advance(outcome):
                outcome = wire.outcome(call.step)
                if isinstance(call.step, Emit):
                    yield call.step.item


class _Wire:
    """Performs the steps of one call."""

    def __init__(self, http: httpx.Client, timeout_s: float) -> None:
        self._http = http
        self._timeout_s = timeout_s
        self._stream: httpx.Response | None = None
        self._chunks: Iterator[bytes] = iter(())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._stream is not None:
            self._stream.close()

    def outcome(self, step: Step | Emit[Any]) -> Outcome:
        """Performs the step, and returns its outcome."""
        if isinstance(step, Pause):
            time.sleep(step.seconds)
        try:
            if isinstance(step, Read):
                return next(self._chunks, None)
            if isinstance(step, Send | Open):
                return self._sent(step)
        except httpx.RequestError as error:
            return _lost(error)
        return None

    def _sent(self, step: Send | Open) -> Reply | Opened:
        if self._stream is not None:
            self._stream.close()
        response = self._http.send(_built(self._http, step, self._timeout_s), stream=True)
        if isinstance(step, Open) and _is_stream(response):
            self._stream, self._chunks = response, response.iter_bytes()
            return Opened()
        try:
            return Reply(response.status_code, response.headers, response.read())
        finally:
            response.close()


# -- on an event loop -------------------------------------------------------------------------------------------------


def _one_async(
    call: Callable[Concatenate[Calls, P], Steps[T]],
) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    @wraps(call)
    async def method(self: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._performed(call(self._calls, *args, **kwargs))

    return method


def _many_async(call: Callable[Concatenate[Calls, P], Items[T]]) -> Callable[Concatenate[AsyncClient, P], AsyncIterator[T]]:
    @wraps(call)
    def method(self: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[T]:
        return self._emitted(call(self._calls, *args, **kwargs))

    return method


class AsyncClient:
    """`Client` for asyncio: each method is a coroutine, and `runs` and `events` are asynchronous iterators. Close it with
    `aclose`, or use it in an `async with`."""

    def __init__(
        self, url: str | None = None, key: str | None = None, *, timeout_s: float = DEFAULT_TIMEOUT_S,
        retry_for_s: float = DEFAULT_RETRY_FOR_S, transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:  # fmt: skip
        self._calls = Calls(Terms(retry_time(retry_for_s), time.monotonic, random.random))
        self._http = httpx.AsyncClient(**connection(url, key, timeout_s), transport=transport)
        self._timeout_s = timeout_s

    start = _one_async(Calls.start)
    get = _one_async(Calls.get)
    wait = _one_async(Calls.wait)
    answer = _one_async(Calls.answer)
    send = _one_async(Calls.send)
    send_to_run = _one_async(Calls.send_to_run)
    cancel = _one_async(Calls.cancel)
    rerun = _one_async(Calls.rerun)
    runs = _many_async(Calls.runs)
    events = _many_async(Calls.events)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()

    async def _performed(self, steps: Steps[T]) -> T:
        call, outcome = Progress(steps), None
        async with _AsyncWire(self._http, self._timeout_s) as wire:
            while call.advance(outcome):
                outcome = await wire.outcome(call.step)
        return call.result

    async def _emitted(self, steps: Items[T]) -> AsyncIterator[T]:
        call, outcome = Progress(steps), None
        async with _AsyncWire(self._http, self._timeout_s) as wire:
            while call.advance(outcome):
                outcome = await wire.outcome(call.step)
                if isinstance(call.step, Emit):
                    yield call.step.item


class _AsyncWire:
    """Performs the steps of one call."""

    def __init__(self, http: httpx.AsyncClient, timeout_s: float) -> None:
        self._http = http
        self._timeout_s = timeout_s
        self._stream: httpx.Response | None = None
        self._chunks: AsyncIterator[bytes] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        if self._stream is not None:
            await self._stream.aclose()

    async def outcome(self, step: Step | Emit[Any]) -> Outcome:
        """Performs the step, and returns its outcome."""
        if isinstance(step, Pause):
            import asyncio  # there already, since a loop runs; a process without one does not load it

            await asyncio.sleep(step.seconds)
        try:
            if isinstance(step, Read) and self._chunks is not None:
                return await anext(self._chunks, None)
            if isinstance(step, Send | Open):
                return await self._sent(step)
        except httpx.RequestError as error:
            return _lost(error)
        return None

    async def _sent(self, step: Send | Open) -> Reply | Opened:
        if self._stream is not None:
            await self._stream.aclose()
        response = await self._http.send(_built(self._http, step, self._timeout_s), stream=True)
        if isinstance(step, Open) and _is_stream(response):
            self._stream, self._chunks = response, response.aiter_bytes()
            return Opened()
        try:
            return Reply(response.status_code, response.headers, await response.aread())
        finally:
            await response.aclose()


# -- both -------------------------------------------------------------------------------------------------------------


def _built(http: httpx.Client | httpx.AsyncClient, step: Send | Open, timeout_s: float) -> httpx.Request:
    asked = step.request
    read_s = _SILENCE_S if isinstance(step, Open) else timeout_s + asked.wait_s
    sent = {} if asked.body is None else {"json": asked.body}
    timeout = httpx.Timeout(timeout_s, read=read_s)
    return http.build_request(asked.method, asked.target, params=asked.query, headers=asked.headers, timeout=timeout, **sent)


def _is_stream(response: httpx.Response) -> bool:
    return response.status_code == 200 and response.headers.get("content-type", "").startswith(MEDIA_TYPE)


def _lost(error: httpx.RequestError) -> Lost:
    if isinstance(error, _OF_THE_CALLER):
        raise error
    return Lost(str(error) or type(error).__name__, not isinstance(error, _NEVER_SENT))
