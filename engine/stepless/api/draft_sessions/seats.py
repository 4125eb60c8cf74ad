"""Keeps who is in each draft session of one process, each with a WebSocket. docs/understand/drafts.md#draft-sessions has the
messages.

A socket only hurries what the log decides. What a person edits is committed as over HTTP, entries are passed on to everyone in
the session, and presence is stored nowhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from stepless.api.draft_sessions.sessions import DraftSessions
from stepless.drafts.log.entries import LogEntry
from stepless.drafts.sessions import messages
from stepless.drafts.sessions.closing import Closing
from stepless.model.json import JSON
from stepless.runtime.access.roles import Role
from stepless.runtime.access.tickets import Visitor

Roles = Callable[[Visitor], frozenset[Role]]
"""What a visitor may do now; empty where the key is gone."""


class Seat(Protocol):
    """One client's place in a session. `at` is where the person was seen last."""

    client: str
    person: str
    at: JSON

    def receive(self, message: bytes, *, passing: bool = False) -> None: ...

    def end(self, closing: Closing) -> None: ...


class Seats:
    """For use in one event loop."""

    def __init__(self, sessions: DraftSessions, roles: Roles) -> None:
        self.sessions = sessions
        self.roles = roles
        self._seats: dict[str, dict[str, Seat]] = {}
        self._framed: tuple[LogEntry | None, bytes] = (None, b"")
        sessions.rebased = self.rebased

    def held(self, workflow_id: str, client: str) -> Seat | None:
        """Returns the seat of a client."""
        return self._seats.get(workflow_id, {}).get(client)

    def count(self, workflow_id: str) -> int:
        return len(self._seats.get(workflow_id, ()))

    def enter(self, workflow_id: str, seat: Seat) -> None:
        """Seats a client; of the same client, the newest seat counts."""
        self._seats.setdefault(workflow_id, {})[seat.client] = seat

    def leave(self, workflow_id: str, seat: Seat) -> bool:
        """Returns whether the client has left: False if it has another seat by now, or never had this one."""
        seats = self._seats.get(workflow_id, {})
        if seats.get(seat.client) is not seat:
            return False
        del seats[seat.client]
        if not seats:
            del self._seats[workflow_id]
            self.sessions.left(workflow_id)
        return True

    def others(self, workflow_id: str, seat: Seat) -> list[Seat]:
        return [other for other in self._seats.get(workflow_id, {}).values() if other.client != seat.client]

    def rebased(self, workflow_id: str) -> None:
        """Tells everyone in a draft to read what it is compared with again: a conflict alone is no entry of the log."""
        for seat in list(self._seats.get(workflow_id, {}).values()):
            seat.receive(messages.said("base"))

    def framed(self, entry: LogEntry) -> bytes:
        """Returns the message with an entry, encoded once for everyone."""
        if self._framed[0] is not entry:
            self._framed = (entry, messages.entry(entry))
        return self._framed[1]
