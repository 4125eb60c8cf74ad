"""Opens one SQLite file, updates its schema, shares it between the threads of a process and translates its errors.

Uses one connection behind one lock. One connection per thread was measured too: a tenth more appends per second, but a thread
that finds the file locked sleeps. Among 20 writing threads the slowest append then waited 1.1 s, against 0.3 s here. Between
processes, SQLite's own locks decide; `Waits` waits for those.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, Final, Literal, TypeAlias, TypeVar

from stepless.adapters.bounds import invalid_text
from stepless.adapters.sqlite.schema import ADDITIONS, MIGRATIONS
from stepless.adapters.sqlite.waits import Waits
from stepless.errors import EngineBug, InvalidRequest, SteplessError, StoreUnavailable, StoreUnusable
from stepless.limits import SQLITE_BUSY_MS

T = TypeVar("T")
Parameters: TypeAlias = Sequence[Any] | Mapping[str, Any]

OLDEST_SQLITE: Final = (3, 37, 0)  # STRICT tables; RETURNING came with 3.35
APPLICATION_ID: Final = 0x53_54_45_50  # "STEP", in the file's header
WAL_PAGES: Final = 1_000  # 4 MB between checkpoints: larger ones save little and stall an append for longer

_FAULTS: Final = (sqlite3.Error, UnicodeEncodeError, OverflowError)
# One statement reads all three at one instant, because another process may be creating the schema.
_IDENTITY: Final = """SELECT application_id, user_version, EXISTS (SELECT 1 FROM sqlite_schema)
    FROM pragma_application_id, pragma_user_version"""

_UNDECODED: Final = "Could not decode to UTF-8"  # begins the message of an error that has no code of its own
_COLUMNS: Final = """SELECT t.name, c.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table'"""

_OUTER: Final = ("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK")
_INNER: Final = ("SAVEPOINT inner", "RELEASE inner", "ROLLBACK TO inner")

_AGAIN: Final = {
    sqlite3.SQLITE_BUSY: "another process is writing; try again",
    sqlite3.SQLITE_LOCKED: "another statement is writing; try again",
    sqlite3.SQLITE_PROTOCOL: "other processes keep opening the file; try again",
    sqlite3.SQLITE_INTERRUPT: "the statement was interrupted; try again",
    sqlite3.SQLITE_NOMEM: "free some memory, then try again",
    sqlite3.SQLITE_FULL: "free some space on the disk, then try again",
    sqlite3.SQLITE_IOERR: "check whether the disk is full or failing, then try again",
}
_LOCKED: Final = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_PROTOCOL)
_NEVER: Final = {
    sqlite3.SQLITE_NOTADB: "this is not a SQLite file: use another path, or move the file",
    sqlite3.SQLITE_CORRUPT: "restore the file from a backup, or recover its data with `sqlite3 FILE .recover`",
    sqlite3.SQLITE_CANTOPEN: "check that the folder exists and is writable",
    sqlite3.SQLITE_READONLY: "make the file and its folder writable",
    sqlite3.SQLITE_PERM: "make the file and its folder writable",
}


def _text_or_bytes(data: bytes) -> str | bytes:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


class Database:
    """Creates `path` if it does not exist. `synchronous`: NORMAL survives the death of every process and never corrupts the file,
    but a power cut may lose the last commits; FULL waits for the disk at each commit. `migrations`: the statements that lead from
    each schema version to the next. `read_only` changes nothing in the file, not even its schema.

    While another process holds the write lock, a call waits `busy_ms` and does not hold up other threads. In the thread of an
    event loop it waits for some milliseconds at most, so that the loop serves others; its caller tries again later.

    Every method raises `StoreUnavailable` when a retry may help (`locked`: another process was writing, and nothing was done) and
    `StoreUnusable` when it will not. Once the file is deleted or
    replaced, every write is refused: SQLite itself would continue to write to a file that no path names. Do not use a database
    across a fork.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, synchronous: Literal["NORMAL", "FULL"] = "NORMAL", busy_ms: int = SQLITE_BUSY_MS,
        migrations: Sequence[Sequence[str]] = MIGRATIONS, read_only: bool = False,
    ) -> None:
        self.path = os.fspath(path)
        self._migrations = migrations
        self._lock = RLock()
        self._waits = Waits(busy_ms)
        self._closed = False
        self._file: tuple[int, int] | None = None  # device and inode; None while opening, or without a path
        self._leftovers = True  # the WAL may hold what was removed, perhaps by a process that died
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            raise StoreUnusable(f"SQLite {sqlite3.sqlite_version} is too old", place=self.path, mend="install 3.37 or newer")
        with self._translated():
            self._connection = sqlite3.connect(
                f"{Path(self.path).absolute().as_uri()}?mode=ro" if read_only else self.path, uri=read_only,
                timeout=0, isolation_level=None, check_same_thread=False, cached_statements=256,
            )
        try:
            with self._waits.blocking():  # nothing else can be served before the file is open
                if read_only:
                    self._check_schema()
                else:
                    self._prepare(synchronous)
            self._file = self._found()
        except BaseException:
            self._connection.close()
            raise

    def rows(self, statement: str, parameters: Parameters = ()) -> list[Any]:
        """Executes a statement and returns all its rows. A damaged text, which is no UTF-8, is returned as bytes."""
        try:
            return self._fetched(statement, parameters)
        except _FAULTS as error:
            return self._later(error, lambda: self._fetched(statement, parameters))

    def _fetched(self, statement: str, parameters: Parameters) -> list[Any]:
        with self._lock:
            try:
                return self._connection.execute(statement, parameters).fetchall()
            except sqlite3.OperationalError as error:
                if not str(error).startswith(_UNDECODED):
                    raise
                return self._undecoded(statement, parameters)

    def _undecoded(self, statement: str, parameters: Parameters) -> list[Any]:
        """The rows of a statement of which some text is damaged. It is executed again: a change that returns rows may be
        repeated."""
        self._connection.text_factory = _text_or_bytes
        try:
            return self._connection.execute(statement, parameters).fetchall()
        finally:
            self._connection.text_factory = str

    def row(self, statement: str, parameters: Parameters = ()) -> Any:
        """Returns the first row, or None."""
        found = self.rows(statement, parameters)
        return found[0] if found else None

    def each(self, statement: str, parameters: Parameters = (), *, lenient: bool = False) -> Generator[Any, None, None]:
        """Yields row by row while holding the lock. Exhaust or close it soon: all other calls wait for it. `lenient` returns
        damaged texts as bytes."""
        with self._lock, self._translated():
            self._connection.text_factory = _text_or_bytes if lenient else str
            cursor = self._connection.execute(statement, parameters)  # a reader waits for no writer
            try:
                yield from cursor
            finally:
                cursor.close()
                self._connection.text_factory = str

    def change(self, statement: str, parameters: Parameters = ()) -> int:
        """Executes a write; returns the number of changed rows. Durable on return, or with the enclosing transaction."""
        self.check()
        try:
            return self._changed(statement, parameters)
        except _FAULTS as error:
            return self._later(error, lambda: self._changed(statement, parameters))

    def _changed(self, statement: str, parameters: Parameters) -> int:
        with self._lock:
            return self._connection.execute(statement, parameters).rowcount

    def offer(self, statement: str, parameters: Parameters) -> bool:
        """Inserts a row, durable on return. Returns False when a constraint of the table rejects it."""
        if not self._connection.in_transaction:  # else it was checked before the first statement
            self.check()
        try:
            try:
                self._changed(statement, parameters)
            except sqlite3.OperationalError as error:
                self._later(error, lambda: self._changed(statement, parameters))
        except sqlite3.IntegrityError:
            return False
        except _FAULTS as error:
            raise self._translate(error) from error
        return True

    def change_each(self, statement: str, parameters: Iterable[Sequence[Any]]) -> None:
        """Executes a write for each set of parameters, all or none."""
        with self.transaction(), self._translated():
            self._connection.executemany(statement, parameters)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Makes all changes inside the block atomically: no other change comes between them, and an exception undoes them.
        A nested transaction becomes durable with the outer one."""
        self.check()
        commit, undo = self._begun()
        with self._translated():
            try:
                yield
                self._connection.execute(commit)
            except BaseException:
                if self._connection.in_transaction:  # some errors, such as a full disk, roll back by themselves
                    self._connection.execute(undo)
                raise
            finally:
                self._lock.release()

    def _begun(self) -> tuple[str, str]:
        """Begins a transaction, whose lock the caller releases; returns the statements that end and undo it."""
        try:
            return self._begin()
        except _FAULTS as error:
            return self._later(error, self._begin)

    def _begin(self) -> tuple[str, str]:
        self._lock.acquire()
        try:
            begin, commit, undo = _INNER if self._connection.in_transaction else _OUTER
            self._connection.execute(begin)
        except BaseException:
            self._lock.release()
            raise
        return commit, undo

    def removed(self) -> None:
        """Notes that content was removed, whose former bytes `overwrite` is to remove from the WAL."""
        self._leftovers = True

    def overwrite(self) -> bool:
        """Copies the WAL into the file and empties it, so that nothing that was removed is left in either. Returns False while
        another process reads or writes; call it again then. Costs nothing where nothing was removed."""
        if not self._leftovers:
            return True
        with self._lock:
            if self._connection.in_transaction:
                return False
            (busy, *_), *_ = self.rows("PRAGMA wal_checkpoint(TRUNCATE)")
            self._leftovers = bool(busy)
        return not busy

    def check(self) -> None:
        """Raises `StoreUnavailable` (database_gone) when the path names no file, or not the file that was opened. A transaction
        checks only before its first statement."""
        if self._file is None or self._connection.in_transaction:
            return
        try:
            file = os.stat(self.path)
            found = file.st_dev, file.st_ino
        except OSError:
            found = None
        if found != self._file:
            what = "deleted" if found is None else "replaced by another"
            message = f"the file was {what} while this process uses it; no more changes are stored"
            mend = "put the file back, or restart this process"
            raise StoreUnavailable(message, code="database_gone", place=self.path, mend=mend)

    def _found(self) -> tuple[int, int] | None:
        try:
            file = os.stat(self.path)
        except OSError:
            return None
        return file.st_dev, file.st_ino

    def close(self) -> None:
        """Closes the file after the calls in progress. The last process to close it merges the WAL into it."""
        with self._lock:
            self._closed = True
            self._connection.close()

    # -- opening --------------------------------------------------------------------------------------------------

    def _prepare(self, synchronous: str) -> None:
        self._version()  # rejects a foreign file before it is changed
        self.rows("PRAGMA journal_mode = WAL")
        self.rows(f"PRAGMA synchronous = {synchronous}")
        self.rows(f"PRAGMA wal_autocheckpoint = {WAL_PAGES}")
        self.rows(f"PRAGMA journal_size_limit = {WAL_PAGES * 4096}")
        self.rows("PRAGMA temp_store = MEMORY")
        self.rows("PRAGMA secure_delete = ON")  # zeros take the place of what is deleted or replaced
        if self._version() < len(self._migrations) or self._lacking():
            with self.transaction():
                self._migrate()

    def _check_schema(self) -> None:
        """Raises `StoreUnusable` for a file that this release would change before it reads it."""
        if self._version() < len(self._migrations) or self._lacking():
            mend = "open it once with this release, for example with `stepless runs list`"
            raise StoreUnusable("a former release wrote the file", place=self.path, mend=mend)

    def _migrate(self) -> None:
        """Applies the missing statements, inside a transaction: one process applies them, the others find them applied."""
        for statements in [*self._migrations[self._version() :], *self._lacking()]:
            for statement in statements:
                self.rows(statement)
        self.rows(f"PRAGMA user_version = {len(self._migrations)}")
        self.rows(f"PRAGMA application_id = {APPLICATION_ID}")

    def _lacking(self) -> list[tuple[str, ...]]:
        """The statements of the additions that the file does not have."""
        present = {tuple(row) for row in self.rows(_COLUMNS)}
        return [statements for table, column, statements in ADDITIONS if (table, column) not in present]

    def _version(self) -> int:
        """The schema version; 0 for a new file. Raises `StoreUnusable` for a file of another program or a newer release."""
        application, version, filled = self.row(_IDENTITY)
        if filled and application != APPLICATION_ID:
            raise StoreUnusable("the file is the database of another program", place=self.path, mend="use another file")
        if version > len(self._migrations):
            raise StoreUnusable(
                f"a newer release wrote the file (schema {version}; this release supports {len(self._migrations)})",
                place=self.path, mend="update Stepless, or use another file",
            )
        return int(version)

    # -- errors ---------------------------------------------------------------------------------------------------

    def _later(self, error: Exception, call: Callable[[], T]) -> T:
        """What `call` returns as soon as no other process has the lock that it met. Raises every other error translated."""
        try:
            if _is_locked(error):
                return self._waits.until_free(call, _is_locked, error)
            raise error
        except sqlite3.IntegrityError:
            raise
        except _FAULTS as last:
            raise self._translate(last) from last

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except _FAULTS as error:
            raise self._translate(error) from error

    def _translate(self, error: sqlite3.Error | UnicodeEncodeError | OverflowError) -> SteplessError:
        if isinstance(error, UnicodeEncodeError):
            return invalid_text(error)
        if isinstance(error, OverflowError):
            return InvalidRequest("an integer has more than 64 bits", code="invalid_number", mend="send a smaller number")
        if self._closed:
            return StoreUnavailable("the file was closed", place=self.path, mend="open it again")
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the primary code; errors of the module itself have no code
        if code in _AGAIN:
            return StoreUnavailable(str(error), place=self.path, mend=_AGAIN[code], locked=_is_locked(error))
        if code in _NEVER:
            return StoreUnusable(str(error), place=self.path, mend=_NEVER[code])
        return EngineBug(f"{type(error).__name__}: {error}", place=self.path)


def _is_locked(error: Exception) -> bool:
    """Whether another process has a lock that the statement needs. The statement did nothing."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _LOCKED
