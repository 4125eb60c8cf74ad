"""Stores large values in memory."""

from __future__ import annotations

from collections.abc import Sequence

from stepless.adapters.bounds import SHARED, blob_key, check_shared


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

    def list_shared(self, after: str = "", *, limit: int = 1000) -> Sequence[str]:
        return sorted(key for key in self._values if SHARED.fullmatch(key) and key > after)[:limit]

    def forget(self, keys: Sequence[str]) -> None:
        check_shared(keys)
        for key in keys:
            self._values.pop(key, None)

    def erase(self, run_id: str) -> None:
        for key in list(self._values):
            owner, slash, _ = key.rpartition("/")
            if slash and owner == run_id:
                del self._values[key]
