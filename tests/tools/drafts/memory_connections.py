"""Keeps in memory who is connected to which draft session."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from stepless.ports import Connection


class MemoryDraftConnections:
    def __init__(self) -> None:
        self._connections: dict[str, Connection] = {}
        self._members: dict[str, dict[str, Connection]] = {}
        self._lock = Lock()

    def enter(self, connection: Connection) -> None:
        with self._lock:
            self._connections[connection.id] = connection

    def find(self, connection_id: str) -> Connection | None:
        with self._lock:
            return self._connections.get(connection_id)

    def join(self, connection: Connection) -> bool:
        with self._lock:
            if connection.id not in self._connections:
                return False
            self._connections[connection.id] = connection
            self._members.setdefault(connection.workflow_id, {})[connection.id] = connection
            return True

    def touch(self, connection: Connection, seen_ms: int) -> None:
        with self._lock:
            members = self._members.get(connection.workflow_id, {})
            if connection.id in members:
                members[connection.id] = members[connection.id]._replace(seen_ms=seen_ms)

    def leave(self, connection: Connection) -> bool:
        with self._lock:
            self._connections.pop(connection.id, None)
            members = self._members.get(connection.workflow_id, {})
            was_member = members.pop(connection.id, None) is not None
            if not members:
                self._members.pop(connection.workflow_id, None)
            return was_member

    def members(self, workflow_id: str) -> Sequence[Connection]:
        with self._lock:
            return sorted(self._members.get(workflow_id, {}).values())
