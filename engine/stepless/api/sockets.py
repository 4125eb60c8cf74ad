"""One person's WebSocket in the room of a draft: docs/drafts.md#the-room has the messages.

A socket only hurries what the log decides. What a person edits is committed as over HTTP; items are passed on to everyone in the
room; presence is stored nowhere. A client that reads too slowly is closed, and reads the log when it comes back.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final

from starlette.websockets import WebSocket, WebSocketDisconnect

from stepless.api.replies import encode
from stepless.api.rooms import Rooms, answer_out, item_out
from stepless.errors import CallerError, InvalidRequest, NotFound
from stepless.limits import (
    HELLO_MS,
    MAX_BEHIND_ITEMS,
    MAX_KEY_CHARACTERS,
    MAX_OPS_PER_S,
    MAX_PRESENCE_PER_S,
    MAX_ROOM_OPS_PER_S,
    MAX_ROOM_PEOPLE,
    MAX_SOCKET_MESSAGE_BYTES,
    MAX_SOCKET_QUEUE,
    ROLE_FRESH_MS,
    SILENT_MS,
)
from stepless.model.json import JSON
from stepless.ports import Draft
from stepless.runtime.access.roles import Role
from stepless.runtime.access.tickets import Visitor
from stepless.runtime.drafts.items import Answer, Item

LOGIN_OVER: Final = 4401
ROLE_LOST: Final = 4403
REPLACED: Final = 4409
TOO_LARGE: Final = 4413
TOO_SLOW: Final = 4429
MALFORMED: Final = 4400

Roles = Callable[[Visitor], frozenset[Role]]
"""What a visitor may do now; empty where the key is gone."""


class Closing(Exception):
    """The socket is closed with a code, after a message that says why."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(code, why)
        self.code = code
        self.why = why


@dataclass(eq=False)
class Pace:
    """At most so many in a second, with a second's worth at once."""

    per_s: float
    left: float = field(init=False)
    at: float = field(default_factory=monotonic)

    def __post_init__(self) -> None:
        self.left = self.per_s

    def wait_ms(self) -> int:
        """Takes one, or says in how many milliseconds there is one."""
        now = monotonic()
        self.left = min(self.per_s, self.left + (now - self.at) * self.per_s)
        self.at = now
        if self.left < 1:
            return max(1, round((1 - self.left) / self.per_s * 1000))
        self.left -= 1
        return 0


@dataclass(eq=False)
class Room:
    """The people in the draft of one workflow, in this process."""

    seats: dict[str, Seat] = field(default_factory=dict)
    pace: Pace = field(default_factory=lambda: Pace(MAX_ROOM_OPS_PER_S))

    def tell(self, message: Mapping[str, JSON], besides: Seat | None = None) -> None:
        for seat in list(self.seats.values()):
            if seat is not besides:
                seat.send(message)


class Seats:
    """The rooms of a process."""

    def __init__(self, rooms: Rooms, roles: Roles) -> None:
        self.rooms = rooms
        self.roles = roles
        self._open: dict[str, Room] = {}

    async def serve(self, socket: WebSocket, visitor: Visitor) -> None:
        """Serves one socket until either side closes it."""
        await socket.accept()
        room = self._open.setdefault(visitor.workflow_id, Room())
        seat = Seat(self, room, socket, visitor)
        try:
            await seat.live()
        finally:
            if room.seats.get(seat.client) is seat:
                del room.seats[seat.client]
                room.tell({"t": "who", "client": seat.client, "person": visitor.person, "joined": False})
            if not room.seats:
                self._open.pop(visitor.workflow_id, None)


class Seat:
    """One socket of one client."""

    def __init__(self, seats: Seats, room: Room, socket: WebSocket, visitor: Visitor) -> None:
        self.client = ""
        self.at: JSON = None
        self._seats = seats
        self._room = room
        self._socket = socket
        self._visitor = visitor
        self._roles = visitor.roles
        self._looked = monotonic()
        self._out: asyncio.Queue[Mapping[str, JSON]] = asyncio.Queue(MAX_SOCKET_QUEUE)
        self._ops = Pace(MAX_OPS_PER_S)
        self._presence = Pace(MAX_PRESENCE_PER_S)
        self._draft = Draft(visitor.workflow_id, 0)
        self._too_slow = asyncio.Event()

    async def live(self) -> None:
        code, why = 1000, ""
        sending = asyncio.create_task(self._send_all())
        try:
            hello = await self._hear(HELLO_MS)
            if hello.get("t") != "hello":
                raise Closing(MALFORMED, "the first message is `hello`")
            with self._seats.rooms.listening(self._visitor.workflow_id, self._committed):
                await self._enter(hello)
                while True:
                    await self._take(await self._hear(SILENT_MS))
        except Closing as closing:
            code, why = closing.code, closing.why
        except WebSocketDisconnect:
            return
        except CallerError as error:
            code, why = (REPLACED, error.message) if isinstance(error, NotFound) else (MALFORMED, error.message)
        finally:
            sending.cancel()
        await self._close(code, why)

    async def _close(self, code: int, why: str) -> None:
        try:
            if why:
                await self._socket.send_text(encode({"v": 1, "t": "closing", "code": code, "why": why}).decode())
            await self._socket.close(code)
        except (WebSocketDisconnect, RuntimeError):
            return  # the other side was first

    # -- entering ----------------------------------------------------------------------------------------------------

    async def _enter(self, hello: Mapping[str, Any]) -> None:
        client: Any = hello.get("client")
        after: Any = hello.get("after")
        epoch: Any = hello.get("epoch")
        counted = isinstance(after, int) and isinstance(epoch, int) and after >= 0
        if not counted or not isinstance(client, str) or not 0 < len(client) <= MAX_KEY_CHARACTERS:
            raise Closing(MALFORMED, "`hello` has the client, the epoch, and `after`, the last item that the client has")
        held = self._room.seats.get(client)
        if held is not None and held._visitor.person != self._visitor.person:
            raise Closing(ROLE_LOST, "another person has this client id")
        if held is None and len(self._room.seats) >= MAX_ROOM_PEOPLE:
            raise Closing(TOO_SLOW, f"{MAX_ROOM_PEOPLE} people are here already: follow the draft over HTTP")
        self._draft = Draft(self._visitor.workflow_id, epoch)
        items, head, current = await self._seats.rooms.follow(self._draft, after, MAX_BEHIND_ITEMS, 0)
        if not current:
            raise Closing(REPLACED, "the draft was replaced or discarded")
        others = [seat for seat in self._room.seats.values() if seat is not held]
        people = [{"client": seat.client, "person": seat._visitor.person, "at": seat.at} for seat in others]
        self.client = client
        self._room.seats[client] = self
        self.send({
            "t": "welcome", "client": client, "epoch": epoch, "head": head, "people": people, "person": self._visitor.person,
            "rates": {"ops_per_s": MAX_OPS_PER_S, "presence_per_s": MAX_PRESENCE_PER_S},
        })
        self._room.tell({"t": "who", "client": client, "person": self._visitor.person, "joined": True}, self)
        self._send_items(items, head)

    # -- what the client says ----------------------------------------------------------------------------------------

    async def _take(self, message: Mapping[str, Any]) -> None:
        match message.get("t"):
            case "op":
                await self._edit(message)
            case "pull":
                after = message.get("after")
                items, head, current = await self._seats.rooms.follow(
                    self._draft, after if type(after) is int and after >= 0 else 0, MAX_BEHIND_ITEMS, 0,
                )
                if not current:
                    raise Closing(REPLACED, "the draft was replaced or discarded")
                self._send_items(items, head)
            case "at":
                if self._presence.wait_ms() == 0:
                    self.at = {key: message[key] for key in ("cursor", "selection", "field", "view", "drag") if key in message}
                    self._room.tell({"t": "at", "client": self.client, "at": self.at}, self)
            case "ping":
                self.send({"t": "pong"})
            case other:
                raise Closing(MALFORMED, f"there is no message {str(other)[:40]!r}")

    async def _edit(self, message: Mapping[str, Any]) -> None:
        roles = await self._may()
        wait_ms = self._ops.wait_ms() or self._room.pace.wait_ms()
        refused = Answer("forbidden") if Role.EDIT not in roles else Answer("rate", wait_ms) if wait_ms else None
        if refused is not None:
            self.send({"t": "answer", **answer_out(message, refused)})
            return
        try:
            made = await self._seats.rooms.submit(self._draft, {**message, "client": self.client}, self._visitor.person)
        except InvalidRequest as error:
            raise Closing(MALFORMED, f"{error.place}: {error.message}") from error
        if isinstance(made, Answer):
            self.send({"t": "answer", **answer_out(message, made)})

    async def _may(self) -> frozenset[Role]:
        """What the person may do: looked up again every ROLE_FRESH_MS."""
        if (monotonic() - self._looked) * 1000 >= ROLE_FRESH_MS:
            self._roles = await asyncio.to_thread(self._seats.roles, self._visitor)
            self._looked = monotonic()
        if Role.READ not in self._roles:
            raise Closing(ROLE_LOST, "the API key was removed")
        return self._roles

    async def _hear(self, within_ms: float) -> Mapping[str, Any]:
        """The next message. Raises `Closing` for one that is too large or no object, and after silence."""
        hearing = asyncio.ensure_future(self._socket.receive_text())
        slow = asyncio.ensure_future(self._too_slow.wait())
        try:
            done, _ = await asyncio.wait({hearing, slow}, timeout=within_ms / 1000, return_when=asyncio.FIRST_COMPLETED)
        finally:
            slow.cancel()
            if not hearing.done():
                hearing.cancel()
        if hearing not in done:
            slowly = Closing(TOO_SLOW, "the client reads too slowly")
            raise slowly if slow in done else Closing(1000, "nothing was heard for a while")
        text = hearing.result()
        if len(text.encode()) > MAX_SOCKET_MESSAGE_BYTES:
            raise Closing(TOO_LARGE, f"a message has at most {MAX_SOCKET_MESSAGE_BYTES:,} bytes: send it over HTTP")
        try:
            message = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise Closing(MALFORMED, "a message is a JSON object") from error
        if not isinstance(message, dict) or message.get("v") != 1:
            raise Closing(MALFORMED, "a message is a JSON object with `v` 1")
        return message

    # -- what is sent ------------------------------------------------------------------------------------------------

    def _committed(self, draft: Draft, item: Item) -> None:
        if draft == self._draft:
            self._send_sized({"t": "item", "item": item_out(item)}, item.seq)

    def _send_items(self, items: Any, head: int) -> None:
        """Items in as few messages as fit; a hint to read over HTTP instead of those that do not."""
        page: list[JSON] = []
        size = 100
        for item in items:
            written = item_out(item)
            more = len(encode(written)) + 1
            if size + more > MAX_SOCKET_MESSAGE_BYTES:
                if page:
                    self.send({"t": "items", "items": page, "head": head})
                self.send({"t": "pull", "head": head})
                return
            page.append(written)
            size += more
        self.send({"t": "items", "items": page, "head": head})

    def _send_sized(self, message: Mapping[str, JSON], head: int) -> None:
        large = len(encode(message)) > MAX_SOCKET_MESSAGE_BYTES - 20
        self.send({"t": "pull", "head": head} if large else message)

    def send(self, message: Mapping[str, JSON]) -> None:
        try:
            self._out.put_nowait(message)
        except asyncio.QueueFull:
            self._too_slow.set()

    async def _send_all(self) -> None:
        while True:
            message = await self._out.get()
            await self._socket.send_text(encode({"v": 1, **message}).decode())
