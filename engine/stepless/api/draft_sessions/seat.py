"""Serves one client's WebSocket in a draft session."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket, WebSocketDisconnect

from stepless.api.draft_sessions.outbox import Outbox
from stepless.api.draft_sessions.seats import Seats
from stepless.drafts.log.entries import Answer, LogEntry
from stepless.drafts.sessions import messages
from stepless.drafts.sessions.admission import check_entry, check_standing, forbidden, not_committed
from stepless.drafts.sessions.closing import DONE, OVER, REPLACED, TOO_MUCH, Closing, closing_of
from stepless.drafts.sessions.messages import Person
from stepless.drafts.sessions.pace import Pace
from stepless.limits import MAX_BEHIND_ITEMS, MAX_PULLS_PER_S
from stepless.model.json import JSON
from stepless.ports import Draft
from stepless.runtime.access.roles import Role
from stepless.runtime.access.tickets import Visitor
from stepless.runtime.draft_runs import StartedRun


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
        self._sessions = seats.sessions
        self._bounds = seats.sessions.bounds
        self._socket = socket
        self._visitor = visitor
        self._workflow_id = visitor.workflow_id
        self._roles = visitor.roles
        self._looked = monotonic()
        self._presence = Pace(self._bounds.presence_per_s)
        self._pulls = Pace(MAX_PULLS_PER_S)
        self._draft = Draft(visitor.workflow_id, 0)
        self._early: list[LogEntry] | None = []  # entries that were committed before the client was welcome; None after that
        self._closing: Closing | None = None
        self._hearing: asyncio.Timeout | None = None
        self._out = Outbox(socket, lambda: self.end(Closing(TOO_MUCH, "the client reads too slowly")))

    async def live(self) -> None:
        closing: Closing | None = None
        try:
            with self._sessions.listening(self._workflow_id, self._committed):
                await self._enter(await self._hear(self._bounds.hello_ms))
                while True:
                    await self._take(await self._hear(self._bounds.silent_ms))
        except WebSocketDisconnect:
            pass
        except Exception as error:
            closing = closing_of(error)
        finally:
            if self._seats.leave(self._workflow_id, self):
                self._tell(messages.who(self.client, self.person, False))
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
                self._out.put(messages.closing(closing))
                await self._out.drained()
                await self._out.close()
                await self._socket.close(closing.code)
        except (TimeoutError, WebSocketDisconnect, RuntimeError, OSError):
            await self._out.close()  # the client does not read, or was first; the server drops the connection

    # -- entering ----------------------------------------------------------------------------------------------------

    async def _enter(self, message: Mapping[str, Any]) -> None:
        hello = messages.read_hello(message)
        self._draft = Draft(self._workflow_id, hello.epoch)
        entries, head = await self._read(hello.after)
        held, people = self._seats.held(self._workflow_id, hello.client), self._seats.count(self._workflow_id)
        check_entry(hello, self.person, held.person if held is not None else None, people, self._bounds)
        self.client = hello.client
        self._seats.enter(self._workflow_id, self)
        others = [Person(other.client, other.person, other.at) for other in self._seats.others(self._workflow_id, self)]
        rates = self._bounds.rates(len(others) + 1)
        self._out.put(messages.welcome(hello, head, self.person, Role.EDIT in self._roles, others, rates))
        self._send_entries(entries, head)
        early, self._early = self._early or [], None
        for entry in early:
            self._committed(self._draft, entry)
        if held is not None:
            held.end(Closing(DONE, "this client has connected again"))
        else:
            self._tell(messages.who(self.client, self.person, True))

    async def _read(self, after: int) -> tuple[Sequence[LogEntry], int]:
        entries, head, current = await self._sessions.follow(self._draft, after, MAX_BEHIND_ITEMS, 0)
        if not current:
            raise Closing(REPLACED, OVER)
        return entries, head

    # -- what the client says ----------------------------------------------------------------------------------------

    async def _take(self, message: Mapping[str, Any]) -> None:
        match message.get("t"):
            case "op":
                await self._edit(message)
            case "pull":
                await asyncio.sleep(self._pulls.wait_ms() / 1000)
                self._send_entries(*await self._read(messages.count(message.get("after")) or 0))
            case "at":
                await self._seen(message)
            case "ping":
                self._out.put(messages.said("pong"))
            case _:
                raise messages.unknown(message)

    async def _edit(self, message: Mapping[str, Any]) -> None:
        made: LogEntry | Answer | None = forbidden(self._roles)
        if made is None:
            try:
                made = await self._sessions.submit(self._draft, {**message, "client": self.client}, self.person)
            except Exception as error:
                made = not_committed(error)
        if isinstance(made, Answer):
            self._out.put(messages.answer(message, made))
            if made.code in ("forbidden", "rate"):
                await asyncio.sleep(self._bounds.pace_delay_ms / 1000)  # who sends too much is read more slowly

    async def _seen(self, message: Mapping[str, Any]) -> None:
        if self._presence.wait_ms():
            await asyncio.sleep(self._bounds.pace_delay_ms / 1000)
        elif (at := messages.read_presence(message)) is not None:
            self.at = at
            self._tell(messages.at(self.client, at), passing=True)

    async def _look(self) -> None:
        """Looks up what the person may do, if that was some time ago."""
        if (monotonic() - self._looked) * 1000 >= self._bounds.role_fresh_ms:
            self._roles = await run_in_threadpool(self._seats.roles, self._visitor)
            self._looked = monotonic()
        check_standing(self._visitor, self._roles, self._sessions.drafts.now_ms())

    async def _hear(self, within_ms: float) -> Mapping[str, Any]:
        """The next message. Raises `Closing` for one that is too large or no object, after silence, and when a key is gone or a
        login is over, also if nothing is said."""
        until = monotonic() + within_ms / 1000
        while True:
            await self._look()
            if (left := until - monotonic()) <= 0:
                raise Closing(DONE, "nothing was heard for a while")
            may_change = self._visitor.key_id or self._visitor.until_ms is not None
            fresh = self._bounds.role_fresh_ms / 1000 if may_change else left
            event = await self._event(min(left, fresh))
            if event is not None:
                return messages.read(_text(event))

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

    def _committed(self, draft: Draft, entry: LogEntry | StartedRun | None) -> None:
        if draft != self._draft:
            return
        if entry is None:
            self.end(Closing(REPLACED, OVER))
        elif isinstance(entry, StartedRun):
            self._out.put(messages.started(entry))
        elif self._early is not None:
            self._early.append(entry)
        else:
            self._out.put(self._seats.framed(entry))

    def _send_entries(self, entries: Sequence[LogEntry], head: int) -> None:
        for message in messages.entries(entries, head):
            self._out.put(message)

    def _tell(self, message: bytes, *, passing: bool = False) -> None:
        """Sends a message to the others in the session."""
        for other in self._seats.others(self._workflow_id, self):
            other.receive(message, passing=passing)


def _text(event: Mapping[str, Any]) -> str | None:
    """The text of a message, None for bytes. Raises `WebSocketDisconnect`."""
    if event["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(event.get("code", DONE))
    text: str | None = event.get("text")
    return text
