"""Runs the web server of `stepless dev`: uvicorn, without periodic wake-ups and with a time limit on every connection.

A header must arrive within HEADER_MS of the connection or the last response, and a body within BODY_MS of its header. The client
must read a response within SEND_MS. Otherwise the server closes the connection, after a 408 if one can still be sent. At the
limit of connections, a new one replaces the connection whose client has been slowest to send. If all of them are being served,
the new one gets a 503.
"""

from __future__ import annotations

import asyncio
import resource
import socket
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from email.utils import formatdate
from functools import cache
from math import inf
from typing import Any, ClassVar, Final

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from stepless.api.problems import respond
from stepless.errors import InvalidRequest, SteplessError, TransientError
from stepless.limits import BODY_MS, HEADER_MS, MAX_CONNECTIONS, MAX_SOCKET_MESSAGE_BYTES, SEND_MS

_CLOSING_S: Final = 2  # open event streams are cut off after this
_DATE_S: Final = 0.5  # the header `date` counts whole seconds
_HEADER: Final = b"HTTP/1.1 "  # with what a header begins
_CLOSE: Final = (b"connection", b"close")


def _most_connections() -> int:
    """MAX_CONNECTIONS, or three quarters of the files that the process may open: the rest is for everything else."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_CONNECTIONS if files == resource.RLIM_INFINITY else min(MAX_CONNECTIONS, files * 3 // 4)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The time limits of a connection, and how many there may be."""

    header_ms: float = HEADER_MS
    body_ms: float = BODY_MS
    send_ms: float = SEND_MS
    connections: int = _most_connections()


class Joining:
    """A transport that sends the header of a response together with what follows it: in one packet instead of two, which spares
    the server a system call and the client a wake-up. It waits for the next turn of the event loop at most."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop, self._held = transport, loop, b""

    def write(self, data: bytes) -> None:
        if self._held:
            data, self._held = self._held + data, b""
        elif data.startswith(_HEADER):
            self._held = data
            self._loop.call_soon(self._flush)
            return
        self._transport.write(data)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._held:
            self.write(b"")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class Connection(H11Protocol):
    """One connection of HTTP/1.1."""

    bounds: ClassVar[Bounds] = Bounds()
    dated: ClassVar[tuple[float, bytes]] = (0.0, b"")  # until when the text of the header `date` is right, and the text
    _phase: type[h11.IDLE] | type[h11.SEND_BODY] | None = None  # what the client must send next: a header, or the rest of a body
    _since = 0.0
    _until = inf  # when the client must have sent it, in the loop's seconds
    _alarm: asyncio.TimerHandle | None = None
    _send_alarm: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(Joining(transport, self.loop))  # type: ignore[arg-type]  # it uses a few methods of a transport
        self._follow()
        if len(self.connections) > self.bounds.connections:
            self._make_space()

    def connection_lost(self, exc: Exception | None) -> None:
        for alarm in (self._alarm, self._send_alarm):
            if alarm is not None:
                alarm.cancel()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        self.server_state.default_headers = [(b"date", self._date()), *self.config.encoded_headers]
        super().handle_events()
        self._follow()

    def _date(self) -> bytes:
        """The time of day, made once in a second."""
        now = self.loop.time()
        if now >= Connection.dated[0]:
            Connection.dated = (now + _DATE_S, formatdate(usegmt=True).encode())
        return Connection.dated[1]

    def pause_writing(self) -> None:
        super().pause_writing()
        self._send_alarm = self.loop.call_later(self.bounds.send_ms / 1000, self.transport.abort)

    def resume_writing(self) -> None:
        if self._send_alarm is not None:
            self._send_alarm.cancel()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        self._refuse(InvalidRequest("this is not HTTP/1.1", mend="send a request line, headers and a body as in RFC 9112"))

    # -- bounds -----------------------------------------------------------------------------------------------------

    def _follow(self) -> None:
        """Sets the timer when the client must send something else. Receiving some bytes does not extend it."""
        state = self.conn.their_state
        is_socket = self.transport.get_protocol() is not self  # it has become a WebSocket, which has bounds of its own
        phase = state if state in (h11.IDLE, h11.SEND_BODY) and not is_socket else None
        if phase is self._phase and self._since:
            return
        self._phase, self._since = phase, self.loop.time()
        self._until = inf if phase is None else self._since + self._wait_ms() / 1000
        if self._alarm is not None and self._alarm.when() > self._until:
            self._alarm.cancel()
            self._alarm = None
        if self._alarm is None and phase is not None:
            self._alarm = self.loop.call_at(self._until, self._check)

    def _wait_ms(self) -> float:
        return self.bounds.header_ms if self._phase is h11.IDLE else self.bounds.body_ms

    def _check(self) -> None:
        """Gives up if the client is late. The timer is not moved with each request, so it may ring early."""
        self._alarm = None
        if self._phase is None:
            return
        if self.loop.time() < self._until:
            self._alarm = self.loop.call_at(self._until, self._check)
            return
        self._give_up()

    def _give_up(self) -> None:
        if self._phase is h11.IDLE and not self.conn.trailing_data[0]:
            self.transport.abort()  # the client has sent nothing
            return
        what = "header" if self._phase is h11.IDLE else "body"
        message = f"the {what} of the request did not arrive within {self._wait_ms() / 1000:g} s"
        self._refuse(InvalidRequest(message, code="request_timeout", status=408, mend="send the whole request at once"))

    def _make_space(self) -> None:
        """Closes one connection: the one whose client has been slowest to send, or else this new one."""
        others = [other for other in self.connections if other is not self and isinstance(other, Connection)]
        waiting = [other for other in others if other._phase is not None or other.transport.is_closing()]
        if waiting:
            min(waiting, key=lambda other: other._since).transport.abort()
            return
        message = f"the server is serving {self.bounds.connections:,} connections, which is its limit"
        self._refuse(TransientError(message, code="too_many_connections", mend="close some, or try again later"))

    def _refuse(self, error: SteplessError) -> None:
        """Sends the error if no response has begun, and closes the connection."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()
            return
        answer = respond(error)
        events = (
            h11.Response(status_code=answer.status_code, headers=[*answer.raw_headers, _CLOSE]),
            h11.Data(data=bytes(answer.body)),
            h11.EndOfMessage(),
        )
        for event in events:
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()


class WebSocketProtocol(asyncio.Protocol):
    """Stands for uvicorn's, which is imported with the first WebSocket: most servers never see one. A client that does not read
    what was sent for SEND_MS loses its connection."""

    def __new__(cls, **options: Any) -> Any:
        return _websocket_protocol()(**options)


@cache
def _websocket_protocol() -> type[asyncio.Protocol]:
    from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

    class Socket(WebSocketsSansIOProtocol):
        _send_alarm: asyncio.TimerHandle | None = None

        def pause_writing(self) -> None:
            super().pause_writing()
            self._send_alarm = self.loop.call_later(SEND_MS / 1000, self.transport.abort)

        def resume_writing(self) -> None:
            self._calm()
            super().resume_writing()

        def connection_lost(self, exc: Exception | None) -> None:
            self._calm()
            super().connection_lost(exc)

        def _calm(self) -> None:
            if self._send_alarm is not None:
                self._send_alarm.cancel()

    return Socket


class Server(uvicorn.Server):
    """Serves until `leave` is called. Calls `on_listening` when it listens. Leaves signals to the caller, because the runner must
    drain too."""

    def __init__(self, app: Any, on_listening: Callable[[], None], connection: type[Connection] = Connection) -> None:
        super().__init__(uvicorn.Config(
            app, http=connection, log_config=None, log_level="critical", access_log=False, lifespan="off",
            ws=WebSocketProtocol, ws_max_size=2 * MAX_SOCKET_MESSAGE_BYTES, ws_per_message_deflate=False,
            timeout_graceful_shutdown=_CLOSING_S,
            proxy_headers=False,  # any program on this machine could name another address for the audit log
        ))  # fmt: skip
        self._on_listening = on_listening
        self._leaving = asyncio.Event()

    def leave(self) -> None:
        """Stops accepting connections, and lets open requests end."""
        self.should_exit = True
        self._leaving.set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_listening()

    async def main_loop(self) -> None:
        """Waits for `leave`; uvicorn's own loop checks ten times a second."""
        await self._leaving.wait()

    def capture_signals(self) -> Any:
        return nullcontext()
