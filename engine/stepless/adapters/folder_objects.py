"""Reads and writes files below one folder, never outside of it: the port `Objects` on one machine.

Every step of a path is opened without following links, from the folder on, after the links of the path were resolved: what lies
outside is refused, also if a link is put there in between. Hidden files are refused: they hold settings and the store.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Final

from stepless.limits import SOURCE_PIECE_BYTES
from stepless.ports.objects import ObjectChanged, ObjectRefused, Seen

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe would block
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class FolderObjects:
    """The files below `folder`."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = os.path.abspath(folder)

    def look(self, bucket: str, name: str) -> Seen | None:
        with self._opened(name) as file:
            return None if file is None else _seen(name, file)

    def read(self, bucket: str, seen: Seen, first: int, end: int) -> Iterator[bytes]:
        with self._opened(seen.name) as file:
            if file is None or _seen(seen.name, file) != seen:
                raise ObjectChanged(seen.name)
            while first < end and (data := os.pread(file, min(SOURCE_PIECE_BYTES, end - first), first)):
                first += len(data)
                yield data
            if first < end or _seen(seen.name, file) != seen:  # it was written while it was read
                raise ObjectChanged(seen.name)

    def names(self, bucket: str, prefix: str, after: str) -> Sequence[Seen]:
        raise ObjectRefused("the files of a folder are not listed")

    def get(self, bucket: str, name: str, most: int) -> bytes | None:
        with self._opened(name) as file:
            return None if file is None else os.pread(file, most, 0)

    def put(self, bucket: str, name: str, data: bytes, *, only_new: bool) -> bool:
        """Writes beside it, then links or renames: no reader sees a part."""
        with self._parent(name, made=True) as (folder, base):
            if folder is None:
                raise ObjectRefused(f"the folder of {name} cannot be made")
            made = f".{base}.{token_hex(8)}"
            with _refusing(name):
                file = os.open(made, _NEW, 0o644, dir_fd=folder)
                try:
                    with os.fdopen(file, "wb") as written:
                        written.write(data)
                        written.flush()
                        os.fsync(file)
                    if only_new:
                        os.link(made, base, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
                        os.unlink(made, dir_fd=folder)
                    else:
                        os.replace(made, base, src_dir_fd=folder, dst_dir_fd=folder)
                    os.fsync(folder)
                except OSError as error:
                    with suppress(FileNotFoundError):
                        os.unlink(made, dir_fd=folder)
                    if only_new and isinstance(error, FileExistsError):
                        return False
                    raise
        return True

    def remove(self, bucket: str, name: str) -> None:
        with self._parent(name) as (folder, base):
            if folder is not None:
                with _refusing(name), suppress(FileNotFoundError):
                    os.unlink(base, dir_fd=folder)

    # -- paths --------------------------------------------------------------------------------------------------------

    @contextmanager
    def _opened(self, name: str) -> Iterator[int | None]:
        with self._parent(name) as (folder, base):
            if folder is None:
                yield None
                return
            with _refusing(name):
                try:
                    file = os.open(base, _FILE, dir_fd=folder)
                except FileNotFoundError:
                    file = None
            try:
                if file is not None and not stat.S_ISREG(os.fstat(file).st_mode):
                    raise ObjectRefused(f"{name} is not a file")
                yield file
            finally:
                if file is not None:
                    os.close(file)

    @contextmanager
    def _parent(self, name: str, *, made: bool = False) -> Iterator[tuple[int | None, str]]:
        """The open folder of a file, None if there is none, and the file's name in it. `made`: makes missing folders."""
        root, steps = self._steps(name)
        with _refusing(name):
            folder = os.open(root, _FOLDER)
        try:
            found: int | None = folder
            with _refusing(name):
                for step in steps[:-1]:
                    following = _entered(folder, step, made=made)
                    if following is None:
                        found = None
                        break
                    os.close(folder)
                    found = folder = following
            yield found, steps[-1]
        finally:
            os.close(folder)

    def _steps(self, name: str) -> tuple[str, tuple[str, ...]]:
        """The real folder, and the steps from it to the file."""
        with _refusing(name):
            root = os.path.realpath(self.folder)
            try:
                real = os.path.realpath(os.path.join(root, name))
            except ValueError as error:  # a NUL in the path
                raise ObjectRefused(f"{name!r} is not a path") from error
        inside = os.path.relpath(real, root)
        steps = Path(inside).parts
        if os.path.isabs(name) or not steps or steps[0] == ".." or os.path.isabs(inside):
            raise ObjectRefused(f"{name} is not below the served folder")
        if any(step.startswith(".") for step in (*steps, *Path(name).parts)):
            raise ObjectRefused(f"{name} is hidden, or leads upwards")
        return root, steps


def _entered(folder: int, step: str, *, made: bool) -> int | None:
    try:
        return os.open(step, _FOLDER, dir_fd=folder)
    except FileNotFoundError:
        if not made:
            return None
    with suppress(FileExistsError):
        os.mkdir(step, dir_fd=folder)
    return os.open(step, _FOLDER, dir_fd=folder)


def _seen(name: str, file: int) -> Seen:
    state = os.fstat(file)
    return Seen(name, state.st_size, f"{state.st_ino:x}-{state.st_mtime_ns:x}-{state.st_size:x}")


@contextmanager
def _refusing(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ObjectRefused(f"{name}: {error.strerror or error}") from error
