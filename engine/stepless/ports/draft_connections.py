"""Defines the ports for draft sessions where no process owns a socket: a gateway holds the connections, and any process handles
each message of a client."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Connection(NamedTuple):
    """One WebSocket of a person. `roles`, `key_id` and `until_ms` are what its ticket said of them. It is in the session once the
    client has said who it is: `client` and `epoch`. `seen_ms` is when the client was heard last, accurate to minutes."""

    id: str
    workflow_id: str
    person: str
    roles: tuple[str, ...]
    expires_ms: int
    key_id: str = ""
    until_ms: int | None = None
    client: str = ""
    epoch: int = 0
    seen_ms: int = 0


class DraftConnections(Protocol):
    """The connections of drafts. Every implementation passes the suite `stepless.testing.contracts.draft_connections`. Reads are
    strongly consistent. A record may be removed after `expires_ms`."""

    def enter(self, connection: Connection) -> None:
        """Stores a connection, which is in no session yet."""
        ...

    def find(self, connection_id: str) -> Connection | None: ...

    def join(self, connection: Connection) -> bool:
        """Puts a connection into the session of its workflow, with its client and epoch. False, and no change, if the connection
        is not stored any more."""
        ...

    def touch(self, connection: Connection, seen_ms: int) -> None:
        """Notes when a member was heard. Does nothing for a connection that is in no session."""
        ...

    def leave(self, connection: Connection) -> bool:
        """Removes a connection. Whether it was in the session until now: of several concurrent callers, one receives True."""
        ...

    def members(self, workflow_id: str) -> Sequence[Connection]:
        """Returns the connections in a session, sorted by id."""
        ...


class Wire(Protocol):
    """Sends to the connections that a gateway holds."""

    def send(self, connection_id: str, message: bytes) -> bool:
        """Sends one message of at most MAX_SOCKET_MESSAGE_BYTES. False if the connection is gone."""
        ...

    def close(self, connection_id: str) -> None:
        """Closes a connection. Does nothing if it is gone."""
        ...
