"""Locks a file for the process that serves it: an advisory lock on a second file, which the system drops when its holder dies."""

from __future__ import annotations

import fcntl
import json
import os
from datetime import UTC, datetime
from types import TracebackType

from stepless.errors import Conflict, StoreUnusable


class FileLock:
    """The right to serve a file, until `release`, the end of the `with` block or the end of the process."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    def release(self) -> None:
        """Lets go; a second time does nothing."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def __enter__(self) -> FileLock:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release()


def lock_file(path: str | os.PathLike[str], now_ms: int) -> FileLock:
    """Takes the lock file `path` + `.lock` without waiting. Raises `Conflict` with the code `file_held`, and the facts `pid`
    and `since_ms` of the holder, while another server has it. The lock file stays: removing it would let two hold it."""
    path = os.fspath(path)
    try:
        descriptor = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise StoreUnusable(str(error), place=path, mend="check that the folder exists and is writable") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        note = json.dumps({"pid": os.getpid(), "since_ms": now_ms}).encode()
        os.pwrite(descriptor, note, 0)
        os.ftruncate(descriptor, len(note))
    except BlockingIOError:
        held = _held(path, os.pread(descriptor, 1_000, 0))
        os.close(descriptor)
        raise held from None
    except OSError as error:
        os.close(descriptor)
        raise StoreUnusable(str(error), place=path, mend="use a file on a disk of this machine") from error
    return FileLock(descriptor)


def _held(path: str, note: bytes) -> Conflict:
    try:
        facts = json.loads(note)
        since = datetime.fromtimestamp(facts["since_ms"] / 1000, UTC).isoformat(timespec="seconds")
        holder = f"process {facts['pid']} since {since}"
    except (ValueError, KeyError, TypeError):  # read in the instant before the holder has written its note
        facts, holder = {}, "another process"
    return Conflict(
        f"already served by {holder}", code="file_held", place=path, mend="stop that server, or serve another file",
        holder=holder, **facts,
    )
