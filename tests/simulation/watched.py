"""The store as the journal sees it: what stands in it, and what each process was told that it has written."""

from __future__ import annotations

from typing import Any

from faults import FaultyStore, Line
from journal import Journal

from stepless.adapters.memory.store import MemoryStore
from stepless.ports import Batch, RunHead, Signal


class WatchedStore:
    """The store itself, with the journal beside it."""

    def __init__(self, store: MemoryStore, journal: Journal) -> None:
        self._store = store
        self._journal = journal
        self.names: dict[str, str] = {}  # of the runs, in the story

    def __getattr__(self, verb: str) -> Any:
        return getattr(self._store, verb)

    def create_run(self, head: RunHead) -> bool:
        created = self._store.create_run(head)
        self.names.setdefault(head.run_id, f"run {len(self.names)} ({head.workflow_id})")
        return created

    def append(self, run_id: str, batch: Batch) -> None:
        self._store.append(run_id, batch)
        self._journal.wrote(run_id, batch)

    def put_snapshot(self, run_id: str, sequence: int, data: bytes) -> None:
        self._store.put_snapshot(run_id, sequence, data)
        self._journal.runs[run_id].snapshots[sequence] = data


class AcknowledgingStore(FaultyStore):
    """Tells the journal what its process has heard of."""

    def __init__(self, line: Line, store: Any, journal: Journal) -> None:
        super().__init__(line, store)
        self._journal = journal

    def append(self, run_id: str, batch: Batch) -> None:
        self._line.call(f"append {batch.first}…{batch.last}", lambda: self._store.append(run_id, batch))
        self._journal.runs[run_id].acknowledged.append(batch)

    def put_signal(self, run_id: str, signal: Signal) -> Signal:
        standing: Signal = self._line.call(f"put {signal.kind} {signal.identity}", lambda: self._store.put_signal(run_id, signal))
        return standing
