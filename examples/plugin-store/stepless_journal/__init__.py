"""`journal://FOLDER` keeps runs in one text file. A store needs only a database that is made from a URL, and what it opens."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit
from uuid import uuid4

from stepless.adapters.file_lock import lock_file
from stepless.errors import StoreUnusable
from stepless.ports import OpenStore
from stepless_journal.store import JournalStore

SHARED = re.compile(r"[0-9a-f]{64}")  # the key of a value without a run


class JournalDatabase:
    """See `stepless.ports.RunDatabase`."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._folder = Path(unquote(parts.netloc + parts.path))

    def hold(self, now_ms: int) -> AbstractContextManager[object]:
        self._make_folder()
        return lock_file(self._folder / "serving", now_ms)

    def open(self) -> OpenStore:
        self._make_folder()
        store = JournalStore(self._folder / "journal.jsonl")
        return OpenStore(store, FolderBlobs(self._folder / "blobs"), close=store.close)

    def _make_folder(self) -> None:
        try:
            (self._folder / "blobs").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreUnusable(str(error), place=str(self._folder), mend="use a folder that is writable") from error


class FolderBlobs:
    """Stores each value in a file named by the SHA-256 of its bytes, in a folder for each run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, data: bytes, run_id: str = "") -> str:
        digest = hashlib.sha256(data).hexdigest()
        key = f"{quote(run_id, safe='')}/{digest}" if run_id else digest
        (self._folder / key).parent.mkdir(exist_ok=True)
        half = self._folder / f"{key}.{uuid4().hex}"
        half.write_bytes(data)
        half.replace(self._folder / key)
        return key

    def get(self, key: str) -> bytes | None:
        try:
            return (self._folder / key).read_bytes()
        except FileNotFoundError:
            return None

    def list_shared(self, after: str = "", *, limit: int = 1000) -> Sequence[str]:
        keys = (path.name for path in self._folder.iterdir() if path.is_file() and SHARED.fullmatch(path.name))
        return sorted(key for key in keys if key > after)[:limit]

    def forget(self, keys: Sequence[str]) -> None:
        if any(SHARED.fullmatch(key) is None for key in keys):
            raise ValueError("only keys of shared values can be forgotten")
        for key in keys:
            (self._folder / key).unlink(missing_ok=True)

    def erase(self, run_id: str) -> None:
        if run_id:
            shutil.rmtree(self._folder / quote(run_id, safe=""), ignore_errors=True)
