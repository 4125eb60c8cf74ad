"""A text file that several processes read and append to. A line is written completely or not at all."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock

from stepless.errors import StoreUnavailable, StoreUnusable


class Journal:
    """`end` is the offset up to which this process has read. Lines survive the death of every process; a power cut may lose the
    last ones."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = RLock()
        self._depth = 0
        self.end = 0
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise StoreUnusable(str(error), place=str(path), mend="use a folder that is writable") from error

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Excludes all other threads and processes inside the block."""
        with self._lock:
            if self._depth == 0:
                self._take()
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0 and self._file >= 0:
                    fcntl.flock(self._file, fcntl.LOCK_UN)

    def news(self) -> list[bytes]:
        """Returns the lines after `end` and advances it. Removes the partial line of a dead process. Call it inside `alone()`."""
        size = os.fstat(self._file).st_size
        if size == self.end:
            return []
        data = os.pread(self._file, size - self.end, self.end)
        whole = data.rpartition(b"\n")[0]
        lines = whole.split(b"\n") if whole else []
        self.end += len(whole) + 1 if lines else 0
        if self.end < size:
            os.ftruncate(self._file, self.end)
        return lines

    def append(self, line: bytes) -> None:
        """Appends a line. Call it inside `alone()`, after `news`. Raises `StoreUnavailable` if the line is not written."""
        data = line + b"\n"
        try:
            if os.pwrite(self._file, data, self.end) != len(data):
                raise OSError("the disk is full")
        except OSError as error:
            os.ftruncate(self._file, self.end)
            raise StoreUnavailable(str(error), place=str(self._path), mend="free some space, then try again") from error
        self.end += len(data)

    def check(self) -> None:
        """Raises `StoreUnavailable` (database_gone) when the file was deleted or replaced."""
        try:
            found = os.stat(self._path)
            same = os.path.samestat(found, os.fstat(self._file))
        except OSError:
            same = False
        if not same:
            message, mend = "the file was deleted or replaced", "put it back, or restart this process"
            raise StoreUnavailable(message, code="database_gone", place=str(self._path), mend=mend)

    def close(self) -> None:
        with self._lock:
            file, self._file = self._file, -1
            if file >= 0:
                os.close(file)

    def _take(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX)
        except OSError as error:
            raise StoreUnavailable(str(error), place=str(self._path), mend="open it again") from error
