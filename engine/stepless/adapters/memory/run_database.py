"""Keeps runs in memory: they are lost when the process ends, and no other process can open them."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from stepless.adapters.memory.blobs import MemoryBlobs
from stepless.adapters.memory.drafts import MemoryDrafts
from stepless.adapters.memory.store import MemoryStore
from stepless.ports import OpenStore


class MemoryRunDatabase:
    """See `RunDatabase`. Each `open` makes another, empty one."""

    def hold(self, now_ms: int) -> AbstractContextManager[None]:
        return nullcontext()

    def open(self) -> OpenStore:
        return OpenStore(MemoryStore(), MemoryBlobs(), near=True, drafts=MemoryDrafts())
