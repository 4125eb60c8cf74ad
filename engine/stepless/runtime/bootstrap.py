"""The composition root: which adapter fulfils which port. The only place where the shell meets adapters."""

from __future__ import annotations

import os
from dataclasses import dataclass
from secrets import token_hex
from typing import Literal

from stepless.adapters.memory.blobs import MemoryBlobs
from stepless.adapters.memory.queue import MemoryQueue
from stepless.adapters.memory.store import MemoryStore
from stepless.adapters.memory.timers import MemoryTimers
from stepless.adapters.sqlite.blobs import SqliteBlobs
from stepless.adapters.sqlite.hold import Hold, hold
from stepless.adapters.sqlite.store import SqliteStore
from stepless.adapters.system import EnvSecrets, SystemClock
from stepless.limits import LOCAL_BUDGET_MS
from stepless.nodes import KINDS, RUNS
from stepless.ports import Blobs, Secrets, Store
from stepless.runtime.children import caller
from stepless.runtime.host import Host
from stepless.runtime.runner import Runner
from stepless.runtime.service import Service
from stepless.runtime.sweep import adopt
from stepless.runtime.tokens import Key, Signer, parse_keys
from stepless.runtime.versions import Versions
from stepless.runtime.world import World

SIGNING_KEYS = "STEPLESS_SIGNING_KEYS"


@dataclass(slots=True)
class Local:
    """Everything in one process. `close` lets go of the file; `adopted` counts the runs that a former process left behind."""

    world: World
    service: Service
    runner: Runner
    host: Host
    adopted: int
    _store: SqliteStore | None = None
    _hold: Hold | None = None

    def close(self) -> None:
        if self._store is not None:
            self._store.close()
        if self._hold is not None:
            self._hold.release()


def local(
    path: str | os.PathLike[str] | None,
    *,
    synchronous: Literal["NORMAL", "FULL"] = "NORMAL",
    budget_ms: float = LOCAL_BUDGET_MS,
    secrets: Secrets | None = None,
) -> Local:
    """The engine on one machine: over one SQLite file, or in memory when `path` is None.

    Raises `Conflict` (file_held) when another process serves the file, `StoreUnusable` when it is no such file.
    """
    clock = SystemClock()
    if path is None:
        return assemble(MemoryStore(), MemoryBlobs(), budget_ms, secrets or EnvSecrets())
    held = hold(path, clock.now_ms())
    try:
        store = SqliteStore(path, synchronous=synchronous)
        built = assemble(store, SqliteBlobs(store.database), budget_ms, secrets or EnvSecrets())
    except BaseException:
        held.release()
        raise
    built._store, built._hold = store, held
    built.adopted = adopt(built.world)
    return built


def assemble(store: Store, blobs: Blobs, budget_ms: float, secrets: Secrets) -> Local:
    """One process over a store that may be shared with others."""
    clock = SystemClock()
    queue, timers = MemoryQueue(clock, lambda: host.wake()), MemoryTimers()  # noqa: PLW0108 - the host comes later
    runs = dict(RUNS)
    world = World(store, queue, timers, blobs, clock, secrets, KINDS, runs)
    runs["workflow"] = caller(world)
    versions = Versions(store, KINDS)
    runner = Runner(world, versions)
    host = Host(world, runner, queue, timers, budget_ms=budget_ms)
    return Local(world, Service(world, versions, _signer(world)), runner, host, 0)


def _signer(world: World) -> Signer:
    """The configured signing keys; else one that is made once and kept with the runs."""
    configured = parse_keys(world.secrets.get(SIGNING_KEYS) or "")
    if configured:
        return Signer(configured)
    kept = world.store.claim("signing-key", f"local:{token_hex(32)}".encode(), world.clock.now_ms())
    return Signer(parse_keys(kept.decode()) or (Key("local", token_hex(32).encode()),))
