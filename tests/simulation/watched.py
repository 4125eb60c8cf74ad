"""The store as the journal sees it: its content, and the writes that each process believes to have made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from faults import FaultyStore, Line
from journal import Journal

from stepless.adapters.memory.store import MemoryStore
from stepless.ports import Batch, Lease, RunHead, Signal

if TYPE_CHECKING:
    from erased import Erasures

Written = list[tuple[str, Batch]]


class WatchedStore:
    """The store, with the journal. `named` is called for new runs."""

    def __init__(self, store: MemoryStore, journal: Journal, named: Callable[[str, str], None], erasures: Erasures) -> None:
        self._store = store
        self._journal = journal
        self._named = named
        self._erasures = erasures

    def __getattr__(self, verb: str) -> Any:
        return getattr(self._store, verb)

    def create_run(self, head: RunHead) -> bool:
        created = self._store.create_run(head)
        self._named(head.run_id, head.workflow_id)
        if created:
            self._erasures.header(head.run_id, erased=False)
        return created

    def mark_erased(self, lease: Lease, now_ms: int, meta: bytes, due_ms: int) -> None:
        self._store.mark_erased(lease, now_ms, meta, due_ms)
        self._erasures.header(lease.run_id, erased=True)

    def erase_run(self, run_id: str, due_ms: int | None = None) -> None:
        self._store.erase_run(run_id, due_ms)
        if self._store.get_run(run_id) is None:
            self._erasures.header(run_id, erased=None)

    def append(self, run_id: str, batch: Batch) -> None:
        self._store.append(run_id, batch)
        self._journal.wrote(run_id, batch)


class AcknowledgingStore(FaultyStore):
    """Reports acknowledged writes to the journal. `untaken` returns the signals that were acknowledged as marked but are
    not."""

    def __init__(
        self, line: Line, store: Any, journal: Journal,
        untaken: Callable[[str, Sequence[Signal]], Sequence[str]] = lambda run_id, signals: (),
    ) -> None:  # fmt: skip
        super().__init__(line, store)
        self._journal = journal
        self._untaken = untaken
        self._noted: Written | None = None

    @property
    def is_noting(self) -> bool:
        return self._noted is not None

    @contextmanager
    def noting(self, noted: Written) -> Iterator[None]:
        """Inside the block, writes are noted instead of counted as acknowledged."""
        self._noted = noted
        try:
            yield
        finally:
            self._noted = None

    def append(self, run_id: str, batch: Batch) -> None:
        self._line.call(f"append {batch.first}…{batch.last}", lambda: self._store.append(run_id, batch))
        if self._noted is None:
            self._journal.acknowledged(run_id, batch)
        else:
            self._noted.append((run_id, batch))

    def put_signal(self, run_id: str, signal: Signal) -> Signal:
        standing: Signal = self._line.call(f"put {signal.kind} {signal.identity}", lambda: self._store.put_signal(run_id, signal))
        return standing

    def take_signals(self, run_id: str, signals: Sequence[Signal]) -> None:
        self._line.call("take_signals", lambda: self._store.take_signals(run_id, signals))
        self._journal.taken(run_id, self._untaken(run_id, signals))

    def put_snapshot(self, run_id: str, sequence: int, data: bytes) -> None:
        self._journal.runs[run_id].snapshots[sequence] = data
        self._line.call("put_snapshot", lambda: self._store.put_snapshot(run_id, sequence, data))
