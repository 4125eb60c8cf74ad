"""Stores large values in memory."""

from __future__ import annotations

import hashlib


class MemoryBlobs:
    """Values are keyed by the SHA-256 of their bytes, in hexadecimal."""

    def __init__(self) -> None:
        self._values: dict[str, bytes] = {}

    def put(self, data: bytes) -> str:
        key = hashlib.sha256(data).hexdigest()
        self._values.setdefault(key, bytes(data))
        return key

    def get(self, key: str) -> bytes | None:
        return self._values.get(key)
