"""Everything that the shell needs from outside, in one value: the ports, and the tables of node kinds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from stepless.core.state import Instance, State, Wait
from stepless.model.kind import Kinds
from stepless.nodes import Run
from stepless.ports import Blobs, Clock, Meter, Moderator, Queue, Secrets, Store, Timers
from stepless.runtime.metering import Silent

Notify: TypeAlias = Callable[[State, Instance, Wait, Mapping[str, str], int], Awaitable[None]]
"""`notices.Notices.send`."""


@dataclass(frozen=True, slots=True)
class World:
    """Filled in by `bootstrap` and nowhere else. `runs` holds the code of the effectful kinds by name."""

    store: Store
    queue: Queue
    timers: Timers
    blobs: Blobs
    clock: Clock
    secrets: Secrets
    kinds: Kinds
    runs: Mapping[str, Run]
    moderator: Moderator | None = None
    notify: Notify | None = None
    meter: Meter = field(default_factory=Silent)
