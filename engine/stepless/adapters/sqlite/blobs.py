"""Stores large values in the store's file, so that a backup copies one file."""

from __future__ import annotations

from collections.abc import Sequence

from stepless.adapters import shapes
from stepless.adapters.bounds import blob_key, check_shared
from stepless.adapters.sqlite import statements as sql
from stepless.adapters.sqlite.database import Database


class SqliteBlobs:
    """Stores each value under its run and the SHA-256 of its bytes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def close(self) -> None:
        """Closes the file, also for a store that shares it."""
        self._database.close()

    def put(self, data: bytes, run_id: str = "") -> str:
        key = blob_key(data, run_id)
        self._database.change(sql.PUT_BLOB, (key, data))
        return key

    def get(self, key: str) -> bytes | None:
        row = self._database.row(sql.GET_BLOB, (key,))
        return shapes.BLOB.read(row, key) if row else None

    def list_shared(self, after: str = "", *, limit: int = 1000) -> Sequence[str]:
        return [key for (key,) in self._database.rows(sql.LIST_SHARED, (after, limit))]

    def forget(self, keys: Sequence[str]) -> None:
        check_shared(keys)
        with self._database.transaction():
            for key in keys:
                self._database.change(sql.FORGET_BLOB, (key,))
            self._database.removed()

    def erase(self, run_id: str) -> None:
        self._database.change(sql.FORGET_BLOBS, (f"{run_id}/", f"{run_id}0"))  # "0" follows "/"
        self._database.removed()
