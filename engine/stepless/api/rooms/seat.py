"""One client's WebSocket in the room of a draft."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket, WebSocketDisconnect

from stepless.api.replies import encode
from stepless.api.rooms.closing import DONE, MALFORMED, OVER, REPLACED, ROLE_LOST, TOO_LARGE, TOO_MUCH, Closing, closing_of
from stepless.api.rooms.following import answer_out, item_out
from stepless.api.rooms.outbox import Outbox
from stepless.api.rooms.pace import Pace
from stepless.api.rooms.seats import Seats
from stepless.compile.reading.strict_json import strict_json
from stepless.errors import InvalidRequest, TransientError
from stepless.limits import (
    BUSY_RETRY_MS,
    MAX_BEHIND_ITEMS,
    MAX_COUNT,
    MAX_KEY_CHARACTERS,
    MAX_PRESENCE_BYTES,
    MAX_PRESENCE_PER_S,
    MAX_PULLS_PER_S,
    MAX_SOCKET_MESSAGE_BYTES,
)
from stepless.model.json import JSON
from stepless.ports import Draft
from stepless.runtime.access.roles import Role
from stepless.runtime.access.tickets import Visitor
from stepless.runtime.drafts.items import Answer, Item

_PRESENCE: Final = ("cursor", "selection", "field", "view", "drag")
_ITEMS_AROUND: Final = 100  # bytes of a message around its items


async def serve(seats: Seats, socket: WebSocket, visitor: Visitor) -> None:
    """Serves one socket until either side closes it."""
    await socket.accept()
    await SocketSeat(seats, socket, visitor).live()


class SocketSeat:
    """`at` is where the person was seen last."""

    def __init__(self, seats: Seats, socket: WebSocket, visitor: Visitor) -> None:
        self.client = ""
        self.person = visitor.person
        self.at: JSON = None
        self._seats = seats
        self._rooms = seats.rooms
        self._bounds = seats.rooms.bounds
        self._socket = socket
        self._visitor = visitor
        self._workflow_id = visitor.workflow_id
        self._roles = visitor.roles
        self._looked = monotonic()
        self._presence = Pace(MAX_PRESENCE_PER_S)
        self._pulls = Pace(MAX_PULLS_PER_S)
        self._draft = Draft(visitor.workflow_id, 0)
        self._early: list[Item] | None = []  # items that were committed before the client was welcome; None after that
        self._closing: Closing | None = None
        self._hearing: asyncio.Timeout | None = None
        self._out = Outbox(socket, lambda: self.end(Closing(TOO_MUCH, "the client reads too slowly")))

    async def live(self) -> None:
        closing: Closing | None = None
        try:
            with self._rooms.listening(self._workflow_id, self._committed):
                await self._enter(await self._hear(self._bounds.hello_ms))
                while True:
                    await self._take(await self._hear(self._bounds.silent_ms))
        except WebSocketDisconnect:
            pass
        except Exception as error:
            closing = closing_of(error)
        finally:
            if self._seats.leave(self._workflow_id, self):
                self._tell({"t": "who", "client": self.client, "person": self.person, "joined": False})
            if closing is None:
                await self._out.close()
        if closing is not None:
            await self._close(closing)

    def end(self, closing: Closing) -> None:
        """Closes the socket, whatever it waits for. The first reason counts."""
        if self._closing is None:
            self._closing = closing
            if self._hearing is not None:
                self._hearing.reschedule(asyncio.get_running_loop().time())

    def receive(self, message: bytes, *, passing: bool = False) -> None:
        """Sends an encoded message to the client; see `Outbox.put`."""
        self._out.put(message, passing=passing)

    async def _close(self, closing: Closing) -> None:
        """Says why, if the client reads it soon."""
        try:
            async with asyncio.timeout(self._bounds.close_ms / 1000):
                self._closing = self._closing or closing
                self._send({"t": "closing", "code": closing.code, "why": closing.why})
                await self._out.drained()
                await self._out.close()
                await self._socket.close(closing.code)
        except (TimeoutError, WebSocketDisconnect, RuntimeError, OSError):
            await self._out.close()  # the client does not read, or was first; the server drops the connection

    # -- entering ----------------------------------------------------------------------------------------------------

    async def _enter(self, hello: Mapping[str, Any]) -> None:
        client, after, epoch = hello.get("client"), _count(hello.get("after")), _count(hello.get("epoch"))
        named = isinstance(client, str) and 0 < len(client) <= MAX_KEY_CHARACTERS
        if hello.get("t") != "hello" or after is None or epoch is None or not named:
            raise Closing(MALFORMED, "the first message is `hello`: the client, the epoch, and `after`, the last item it has")
        assert isinstance(client, str)
        self._draft = Draft(self._workflow_id, epoch)
        items, head = await self._read(after)
        held = self._seats.held(self._workflow_id, client)
        if held is not None and held.person != self.person:
            raise Closing(ROLE_LOST, "another person has this client id")
        if held is None and self._seats.is_full(self._workflow_id):
            raise Closing(TOO_MUCH, f"{self._bounds.people} people are here already: follow the draft over HTTP")
        self.client = client
        self._seats.enter(self._workflow_id, self)
        self._send({
            "t": "welcome", "client": client, "epoch": epoch, "head": head,
            "people": self._seats.people(self._workflow_id, self), "person": self.person,
            "rates": {"ops_per_s": self._bounds.ops_per_s, "presence_per_s": MAX_PRESENCE_PER_S},
        })  # fmt: skip
        self._send_items(items, head)
        early, self._early = self._early or [], None
        for item in early:
            self._committed(self._draft, item)
        if held is not None:
            held.end(Closing(DONE, "this client has connected again"))
        else:
            self._tell({"t": "who", "client": client, "person": self.person, "joined": True})

    async def _read(self, after: int) -> tuple[Sequence[Item], int]:
        items, head, current = await self._rooms.follow(self._draft, after, MAX_BEHIND_ITEMS, 0)
        if not current:
            raise Closing(REPLACED, OVER)
        return items, head

    # -- what the client says ----------------------------------------------------------------------------------------

    async def _take(self, message: Mapping[str, Any]) -> None:
        match message.get("t"):
            case "op":
                await self._edit(message)
            case "pull":
                await asyncio.sleep(self._pulls.wait_ms() / 1000)
                self._send_items(*await self._read(_count(message.get("after")) or 0))
            case "at":
                await self._seen({name: message[name] for name in _PRESENCE if name in message})
            case "ping":
                self._send({"t": "pong"})
            case other:
                raise Closing(MALFORMED, f"there is no message {str(other)[:40]!r}")

    async def _edit(self, message: Mapping[str, Any]) -> None:
        made: Item | Answer
        if Role.EDIT not in self._roles:
            made = Answer("forbidden")
        else:
            try:
                made = await self._rooms.submit(self._draft, {**message, "client": self.client}, self.person)
            except InvalidRequest as error:
                raise Closing(MALFORMED, f"{error.place}: {error.message}") from error
            except TransientError as error:
                made = Answer("busy", error.facts.get("retry_after_ms", BUSY_RETRY_MS))
        if isinstance(made, Answer):
            self._send({"t": "answer", **answer_out(message, made)})
            if made.code in ("forbidden", "rate"):
                await asyncio.sleep(self._bounds.pace_delay_ms / 1000)  # who sends too much is read more slowly

    async def _seen(self, at: Mapping[str, JSON]) -> None:
        if self._presence.wait_ms():
            await asyncio.sleep(self._bounds.pace_delay_ms / 1000)
        elif len(encode(at)) <= MAX_PRESENCE_BYTES:
            self.at = at
            self._tell({"t": "at", "client": self.client, "at": at}, passing=True)

    async def _look(self) -> None:
        """Looks up what the person may do, if that was some time ago."""
        if (monotonic() - self._looked) * 1000 >= self._bounds.role_fresh_ms:
            self._roles = await run_in_threadpool(self._seats.roles, self._visitor)
            self._looked = monotonic()
        if Role.READ not in self._roles:
            raise Closing(ROLE_LOST, "the API key was removed")

    async def _hear(self, within_ms: float) -> Mapping[str, Any]:
        """The next message. Raises `Closing` for one that is too large or no object, after silence, and when a key is gone, also
        if nothing is said."""
        until = monotonic() + within_ms / 1000
        while True:
            await self._look()
            if (left := until - monotonic()) <= 0:
                raise Closing(DONE, "nothing was heard for a while")
            fresh = self._bounds.role_fresh_ms / 1000 if self._visitor.key_id else left
            event = await self._event(min(left, fresh))
            if event is not None:
                return _message(event)

    async def _event(self, seconds: float) -> Mapping[str, Any] | None:
        if self._closing is not None:
            raise self._closing
        try:
            async with asyncio.timeout(seconds) as self._hearing:
                return await self._socket.receive()
        except TimeoutError:
            if self._closing is not None:
                raise self._closing from None
            return None
        finally:
            self._hearing = None

    # -- what is sent ------------------------------------------------------------------------------------------------

    def _committed(self, draft: Draft, item: Item | None) -> None:
        if draft != self._draft:
            return
        if item is None:
            self.end(Closing(REPLACED, OVER))
        elif self._early is not None:
            self._early.append(item)
        elif (framed := self._seats.framed(item)) is not None:
            self._out.put(framed)
        else:
            self._send({"t": "pull", "head": item.seq})

    def _send_items(self, items: Sequence[Item], head: int) -> None:
        """Items in one message; where not all of them fit, then a hint to read the rest over HTTP."""
        page: list[JSON] = []
        size = _ITEMS_AROUND
        for item in items:
            written = item_out(item)
            size += len(encode(written)) + 1
            if size > MAX_SOCKET_MESSAGE_BYTES:
                break
            page.append(written)
        if page or not items:
            self._send({"t": "items", "items": page, "head": head})
        if len(page) < len(items):
            self._send({"t": "pull", "head": head})

    def _send(self, message: Mapping[str, JSON]) -> None:
        self._out.put(encode({"v": 1, **message}))

    def _tell(self, message: Mapping[str, JSON], *, passing: bool = False) -> None:
        """Sends a message to the others in the room."""
        encoded = encode({"v": 1, **message})
        for other in self._seats.others(self._workflow_id, self):
            other.receive(encoded, passing=passing)


def _message(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a client says. Raises `Closing`, `InvalidRequest`, `WebSocketDisconnect`."""
    if event["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(event.get("code", DONE))
    text = event.get("text")
    if text is None:
        raise Closing(MALFORMED, "a message is a text, not bytes")
    if len(text) > MAX_SOCKET_MESSAGE_BYTES or len(text.encode()) > MAX_SOCKET_MESSAGE_BYTES:
        raise Closing(TOO_LARGE, f"a message has at most {MAX_SOCKET_MESSAGE_BYTES:,} bytes: send it over HTTP")
    message = strict_json(text, "the message")
    if not isinstance(message, dict) or message.get("v") != 1:
        raise Closing(MALFORMED, "a message is a JSON object with `v` 1")
    return message


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= MAX_COUNT else None
