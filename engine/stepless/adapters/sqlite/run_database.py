"""Opens a SQLite file as a database of runs, and locks it for the process that serves its runs."""

from __future__ import annotations

import os
from typing import Literal

from stepless.adapters.file_lock import FileLock, lock_file
from stepless.adapters.sqlite.blobs import SqliteBlobs
from stepless.adapters.sqlite.drafts import SqliteDrafts
from stepless.adapters.sqlite.inspection import Inspection
from stepless.adapters.sqlite.store import SqliteStore
from stepless.ports import OpenStore


class SqliteRunDatabase:
    """See `RunDatabase`, and `Database` for `synchronous`."""

    def __init__(self, path: str | os.PathLike[str], *, synchronous: Literal["NORMAL", "FULL"] = "NORMAL") -> None:
        self._path = path
        self._synchronous: Literal["NORMAL", "FULL"] = synchronous

    def hold(self, now_ms: int) -> FileLock:
        """See `lock_file`."""
        return lock_file(self._path, now_ms)

    def open(self) -> OpenStore:
        """Opens or creates the file. Raises `StoreUnusable` for a file of another format."""
        return in_file(SqliteStore(self._path, synchronous=self._synchronous))


def open_read_only(path: str | os.PathLike[str]) -> OpenStore:
    """Returns a file that is only read, also while another process serves it. Raises `StoreUnusable`."""
    return in_file(SqliteStore(path, read_only=True))


def in_file(store: SqliteStore) -> OpenStore:
    """Returns the store and the blobs of an open file."""
    database = store.database
    return OpenStore(
        store, SqliteBlobs(database), store.together, store.close, near=True, drafts=SqliteDrafts(database),
        inspection=Inspection(database),
    )  # fmt: skip
