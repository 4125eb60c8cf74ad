"""Defines the bounds of sessions and sockets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from stepless.limits import (
    CHECKPOINT_IDLE_MS,
    HELLO_MS,
    MAX_AWS_PRESENCE_PER_S,
    MAX_AWS_ROOM_OPS_PER_S,
    MAX_AWS_ROOM_PRESENCE_PER_S,
    MAX_OPS_PER_S,
    MAX_PRESENCE_PER_S,
    MAX_ROOM_OPS_PER_S,
    MAX_ROOM_PEOPLE,
    PACE_DELAY_MS,
    ROLE_FRESH_MS,
    SILENT_MS,
    SOCKET_CLOSE_MS,
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """See the constants of the same name in limits.py. `shared_ops_per_s` and `shared_presence_per_s` are those of everyone in a
    draft together, of which each is asked to send no more than a part."""

    hello_ms: float = HELLO_MS
    silent_ms: float = SILENT_MS
    role_fresh_ms: float = ROLE_FRESH_MS
    close_ms: float = SOCKET_CLOSE_MS
    pace_delay_ms: float = PACE_DELAY_MS
    idle_ms: float = CHECKPOINT_IDLE_MS
    people: int = MAX_ROOM_PEOPLE
    ops_per_s: float = MAX_OPS_PER_S
    session_ops_per_s: float = MAX_ROOM_OPS_PER_S
    presence_per_s: float = MAX_PRESENCE_PER_S
    shared_ops_per_s: float = math.inf
    shared_presence_per_s: float = math.inf

    def rates(self, people: int) -> Mapping[str, float]:
        """Returns how often each of so many people is asked to send at most."""
        return {
            "ops_per_s": min(self.ops_per_s, self.shared_ops_per_s / max(1, people)),
            "presence_per_s": min(self.presence_per_s, self.shared_presence_per_s / max(1, people)),
        }


ON_AWS: Final = Bounds(
    session_ops_per_s=MAX_AWS_ROOM_OPS_PER_S, shared_ops_per_s=MAX_AWS_ROOM_OPS_PER_S, presence_per_s=MAX_AWS_PRESENCE_PER_S,
    shared_presence_per_s=MAX_AWS_ROOM_PRESENCE_PER_S,
)  # fmt: skip
