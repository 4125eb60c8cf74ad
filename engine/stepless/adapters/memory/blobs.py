"""Stores large values in memory."""

from __future__ import annotations

from stepless.adapters.bounds import blob_key


class MemoryBlobs:
    """Values are keyed by their run and the SHA-256 of their bytes."""

    def __init__(self) -> None:
        self._values: dict[str, bytes] = {}

    def put(self, data: bytes, run_id: str = "") -> str:
        key = blob_key(data, run_id)
        self._values.setdefault(key, bytes(data))
        return key

    def get(self, key: str) -> bytes | None:
        return self._values.get(key)

    def erase(self, run_id: str) -> None:
        for key in list(self._values):
            owner, slash, _ = key.rpartition("/")
            if slash and owner == run_id:
                del self._values[key]
