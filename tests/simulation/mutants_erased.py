"""Planted bugs of removals: each leaves something behind, or lets a run come back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from episode import Parts
from grounds import OnCloud
from weathers import deadly

from stepless.adapters.aws.blobs import S3Blobs
from stepless.adapters.aws.dynamo.store import DynamoStore
from stepless.adapters.memory.store import MemoryStore
from stepless.ports import RunHead


class LeavesTheInbox(MemoryStore):
    def erase_run(self, run_id: str, due_ms: int | None = None) -> None:
        kept = self._kept(run_id).inbox
        super().erase_run(run_id, due_ms)
        if kept:
            self._of(run_id).inbox = kept


class LeavesNoHeader(MemoryStore):
    """The header of an erased run is removed at once: a repeated start creates the run again."""

    def erase_run(self, run_id: str, due_ms: int | None = None) -> None:
        super().erase_run(run_id)


class ExpiresTooSoon(MemoryStore):
    def list_expired(self, now_ms: int, *, limit: int = 100) -> Sequence[RunHead]:
        return [head._replace(expires_ms=now_ms) for head in super().list_expired(now_ms + 40 * 3_600_000, limit=limit)]


class RemovesTheHeaderFirst(DynamoStore):
    """A process that dies in between leaves a log that nothing finds."""

    def erase_run(self, run_id: str, due_ms: int | None = None) -> None:
        if due_ms is None:
            self._wire.delete(f"RUN#{run_id}", "HEAD")
        super().erase_run(run_id, due_ms)


class LeavesTheValues(S3Blobs):
    def erase(self, run_id: str) -> None:
        return


ERASE_MUTANTS: Mapping[str, Parts] = {
    "an erasure leaves the inbox": Parts(store=LeavesTheInbox, erases=True),
    "an erased run leaves no header": Parts(store=LeavesNoHeader, erases=True),
    "a run is removed before it expires": Parts(store=ExpiresTooSoon, erases=True),
    "a removal begins with the header": Parts(OnCloud, store=RemovesTheHeaderFirst, weather=deadly, erases=True),
    "an erasure leaves the values": Parts(OnCloud, blobs=LeavesTheValues, shape="heavy", erases=True),
}
