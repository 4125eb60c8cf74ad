"""The bounds of rooms and sockets."""

from __future__ import annotations

from dataclasses import dataclass

from stepless.limits import (
    CHECKPOINT_IDLE_MS,
    HELLO_MS,
    MAX_OPS_PER_S,
    MAX_ROOM_OPS_PER_S,
    MAX_ROOM_PEOPLE,
    PACE_DELAY_MS,
    ROLE_FRESH_MS,
    SILENT_MS,
    SOCKET_CLOSE_MS,
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """See the constants of the same name in limits.py."""

    hello_ms: float = HELLO_MS
    silent_ms: float = SILENT_MS
    role_fresh_ms: float = ROLE_FRESH_MS
    close_ms: float = SOCKET_CLOSE_MS
    pace_delay_ms: float = PACE_DELAY_MS
    idle_ms: float = CHECKPOINT_IDLE_MS
    people: int = MAX_ROOM_PEOPLE
    ops_per_s: float = MAX_OPS_PER_S
    room_ops_per_s: float = MAX_ROOM_OPS_PER_S
