"""Memory as a place where runs are kept: gone with the process, and held by nobody else."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from stepless.adapters.memory.blobs import MemoryBlobs
from stepless.adapters.memory.store import MemoryStore
from stepless.ports import OpenStore


class MemoryPlace:
    """See `StorePlace`. Each `open` makes another, empty one."""

    def hold(self, now_ms: int) -> AbstractContextManager[None]:
        return nullcontext()

    def open(self) -> OpenStore:
        return OpenStore(MemoryStore(), MemoryBlobs())
