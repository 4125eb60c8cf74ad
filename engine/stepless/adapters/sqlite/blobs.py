"""Stores large values in the store's file, so that a backup copies one file."""

from __future__ import annotations

import hashlib

from stepless.adapters.sqlite import statements as sql
from stepless.adapters.sqlite.database import Database


class SqliteBlobs:
    """Stores each value under the SHA-256 of its bytes, in hexadecimal."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def close(self) -> None:
        """Closes the file, also for a store that shares it."""
        self._database.close()

    def put(self, data: bytes) -> str:
        key = hashlib.sha256(data).hexdigest()
        self._database.change(sql.PUT_BLOB, (key, data))
        return key

    def get(self, key: str) -> bytes | None:
        row = self._database.row(sql.GET_BLOB, (key,))
        return row[0] if row else None
