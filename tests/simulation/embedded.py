"""A world whose processes share one SQLite file, through the real adapters: several runs in one process share its transactions.

Faults are injected into statements: the file is locked or full, the disk fails, the process freezes or dies, also in the middle
of a transaction and directly after its end. No process waits for a lock in real time: it gets the error at once.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Final, TypeVar

from faults import FaultyQueue, FaultyTimers, Line, OpenLine
from grounds import Ground, Ports
from virtual_time import Actor, Crash
from watched import AcknowledgingStore, Written

from stepless.adapters.sqlite.blobs import SqliteBlobs
from stepless.adapters.sqlite.store import SqliteStore
from stepless.ports import Batch, Clock

if TYPE_CHECKING:
    from episode import Episode

T = TypeVar("T")
_MEMORY: Final = Path("/dev/shm")  # memory instead of a disk, if available
_FAULTS: Final = {
    "busy": (sqlite3.SQLITE_BUSY, "database is locked"),
    "full": (sqlite3.SQLITE_FULL, "database or disk is full"),
    "failing": (sqlite3.SQLITE_IOERR, "disk I/O error"),
}
_NEW_RUNS: Final = "SELECT rowid, run_id, workflow_id FROM run WHERE rowid > ? ORDER BY rowid"
_NEW_BATCHES: Final = """SELECT key & 4294967295, last, data, epoch FROM batch
    WHERE key BETWEEN :base AND :base + 4294967295 AND (key > :base + :seen OR data = x'') ORDER BY key"""
_KEPT: Final = """SELECT 'batch ' || first || iif(data = x'', ' (empty)', '') FROM log WHERE run_id = :run_id
    UNION ALL SELECT 'snapshot' FROM snapshot WHERE run_id = :run_id
    UNION ALL SELECT 'signal ' || kind || ' ' || identity FROM inbox WHERE run_id = :run_id"""
_WRITES: Final = ("INSERT", "UPDATE", "DELETE")
_FAULTY: Final = ("SELECT", "BEGIN", "COMMIT", *_WRITES)


@cache
def _empty_file() -> bytes:
    """An empty file with the newest schema."""
    folder = Path(mkdtemp())
    try:
        SqliteStore(folder / "empty.db").close()
        return (folder / "empty.db").read_bytes()
    finally:
        shutil.rmtree(folder)


class OnFile(Ground):
    """Starts three runs at once: the runs of one process share its transactions."""

    name = "file"
    starts = 3
    is_shared = True

    def __init__(self, episode: Episode) -> None:
        super().__init__(episode)
        self._folder = Path(mkdtemp(dir=_MEMORY if _MEMORY.is_dir() else None))
        self.path = self._folder / "runs.db"
        self.path.write_bytes(_empty_file())
        self._stores = [SqliteStore(self.path, synchronous="NORMAL", busy_ms=0)]
        self.truth = self._stores[0]
        self._seen_runs = 0
        self._ends: dict[str, int] = {}  # the first event of the last batch, by run
        self._emptied: set[str] = set()

    def ports(self, actor: Actor, clock: Clock) -> Ports:
        episode = self.episode
        store = (episode.parts.store or SqliteStore)(self.path, busy_ms=0)
        self._stores.append(store)
        line = StatementLine(actor, episode.chance)
        store.database._connection = FaultyConnection(line, store.database._connection, self.observe)
        watched = AcknowledgingStore(OpenLine(actor, episode.chance), store, episode.journal)
        commits = type("ReportingCommits", (Reporting, episode.parts.commits), {})(store.together)
        commits.connect(watched, episode.journal)
        outside = Line(actor, episode.chance)
        queue, timers = FaultyQueue(outside, episode.send), FaultyTimers(outside, episode.arm, episode.disarm)
        return Ports(watched, queue, timers, SqliteBlobs(store.database), commits)  # type: ignore[arg-type]

    def observe(self) -> None:
        """Reports what has become durable since the last call. A removal is a transaction of its own: its rows were seen before,
        and SQLite may give their numbers to new rows."""
        rows = self.truth.database.rows  # type: ignore[attr-defined]
        ((top,),) = rows("SELECT ifnull(max(rowid), 0) FROM run", ())
        self._seen_runs = min(self._seen_runs, top)
        for number, run_id, workflow_id in rows(_NEW_RUNS, (self._seen_runs,)):
            self._seen_runs = number
            self.named(run_id, workflow_id)
        for number, run_id in rows("SELECT number, run_id FROM log_number", ()):
            for row in rows(_NEW_BATCHES, {"base": number << 32, "seen": self._ends.get(run_id, 0)}):
                batch = Batch(*row)
                if batch.data:
                    self._ends[run_id] = batch.first
                elif run_id in self._emptied:
                    continue
                else:
                    self._emptied.add(run_id)
                self.episode.journal.wrote(run_id, batch, emptied=not batch.data)
        if self.episode.parts.erases:
            found = dict(rows("SELECT run_id, erased IS NOT NULL FROM run", ()))
            for run_id in self.names:
                self.episode.erasures.header(run_id, erased=bool(found[run_id]) if run_id in found else None)

    def kept(self, run_id: str) -> Sequence[str]:
        return [text for (text,) in self.truth.database.rows(_KEPT, {"run_id": run_id})]  # type: ignore[attr-defined]

    def blob_keys(self) -> Collection[str]:
        return [key for (key,) in self.truth.database.rows("SELECT hash FROM blob", ())]  # type: ignore[attr-defined]

    def close(self) -> None:
        for store in self._stores:
            store.close()
        shutil.rmtree(self._folder)


class StatementLine(Line):
    """The connection of a process to the file. Every statement passes through it."""

    def refused(self, name: str) -> Exception:
        kinds = ("busy", "failing") if name == "BEGIN" else ("full", "failing")
        return fault(self.chance.random.choice(kinds))

    def lost(self, name: str) -> Exception:
        return fault("failing")


def fault(kind: str) -> sqlite3.OperationalError:
    code, message = _FAULTS[kind]
    error = sqlite3.OperationalError(message)
    error.sqlite_errorcode = code
    return error


class FaultyConnection:
    """A connection with injected faults. `durable` is called after every durable write."""

    def __init__(self, line: StatementLine, connection: sqlite3.Connection, durable: Callable[[], None]) -> None:
        self._line = line
        self._connection = connection
        self._durable = durable
        self._dead = False

    @property
    def in_transaction(self) -> bool:
        return self._connection.in_transaction

    def execute(self, statement: str, parameters: Any = ()) -> Any:
        return self._faultily(statement, lambda: self._connection.execute(statement, parameters))

    def executemany(self, statement: str, parameters: Any) -> Any:
        return self._faultily(statement, lambda: self._connection.executemany(statement, parameters))

    def close(self) -> None:
        self._connection.close()

    def _faultily(self, statement: str, effect: Callable[[], Any]) -> Any:
        word = statement.split(None, 1)[0]
        if self._dead or word not in _FAULTY:
            return effect()
        try:
            return self._line.call(word, lambda: self._effect(word, effect))
        except (Crash, sqlite3.OperationalError) as error:
            if self._connection.in_transaction:  # a death, or SQLite itself after such an error, rolls it back
                self._connection.execute("ROLLBACK")
            self._dead = isinstance(error, Crash)
            raise

    def _effect(self, word: str, effect: Callable[[], Any]) -> Any:
        answer = Drained(effect())  # reads all rows, so that the statement does not block others
        if word == "COMMIT" or (word in _WRITES and not self._connection.in_transaction):
            self._durable()
        return answer


class Drained:
    """The rows of a cursor, read to the end."""

    def __init__(self, cursor: sqlite3.Cursor) -> None:
        self._rows = cursor.fetchall()
        self.rowcount = cursor.rowcount

    def __iter__(self) -> Iterator[Any]:
        return iter(self._rows)

    def fetchall(self) -> list[Any]:
        return self._rows

    def close(self) -> None:
        """Does nothing: all rows have been read."""


class Reporting:
    """Commits that report a write to the journal only once its process knows that it is durable."""

    def connect(self, store: AcknowledgingStore, journal: Any) -> None:
        self._store = store
        self._journal = journal

    async def make(self, write: Callable[[], T]) -> T:
        noted: Written = []

        def noted_write() -> T:
            with self._store.noting(noted):
                return write()

        answer: T = await super().make(noted_write)  # type: ignore[misc]
        self._report(noted)
        return answer

    def join(self, *writes: Callable[[], Any]) -> Any:
        if self._store.is_noting:  # inside `make`, which reports
            return super().join(*writes)  # type: ignore[misc]
        noted: Written = []
        with self._store.noting(noted):
            answer = super().join(*writes)  # type: ignore[misc]
        self._report(noted)
        return answer

    def _report(self, noted: Written) -> None:
        for run_id, batch in noted:
            self._journal.acknowledged(run_id, batch)
