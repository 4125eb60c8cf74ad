"""Large values in the store's own file, so that one file is all there is to copy."""

from __future__ import annotations

import hashlib

from stepless.adapters.sqlite import statements as sql
from stepless.adapters.sqlite.database import Database


class SqliteBlobs:
    """Values by the SHA-256 of their bytes, in hexadecimal."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def close(self) -> None:
        """Closes the file, for the store too if it shares it."""
        self._database.close()

    def put(self, data: bytes) -> str:
        key = hashlib.sha256(data).hexdigest()
        self._database.change(sql.PUT_BLOB, (key, data))
        return key

    def get(self, key: str) -> bytes | None:
        row = self._database.row(sql.GET_BLOB, (key,))
        return row[0] if row else None
