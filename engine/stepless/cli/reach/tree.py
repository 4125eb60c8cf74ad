"""Lists the files of a folder with those of its subfolders.

Folders that hold no source of the author are left out: hidden ones, caches, packages of Node.js and virtual environments. A
folder behind a symbolic link is not entered, because it may lead out of the tree, or back into it. A link to a file is listed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from stepless.errors import InvalidRequest
from stepless.limits import MAX_SOURCE_FOLDER_DEPTH, MAX_SOURCE_FOLDERS

_LEFT_OUT: Final = frozenset({"__pycache__", "node_modules", "site-packages", "dist-packages"})
_ENVIRONMENT: Final = "pyvenv.cfg"  # the file by which a virtual environment is recognised


class Tree(NamedTuple):
    """The files, folder by folder, each folder's by name. `unread` is the first folder beyond a limit, None if there is none."""

    files: list[os.DirEntry[str]]
    unread: str | None


def tree(folder: str | os.PathLike[str], suffixes: Iterable[str]) -> Tree:
    """Returns the files with one of the suffixes, and links to such files. Reads at most MAX_SOURCE_FOLDERS folders, at most
    MAX_SOURCE_FOLDER_DEPTH deep. Raises `OSError` if `folder` cannot be read; a subfolder that cannot be read has no files."""
    wanted = tuple(suffixes)
    files: list[os.DirEntry[str]] = []
    waiting: list[tuple[str, int]] = [(os.fspath(folder), 0)]
    unread: str | None = None
    read = 0
    while waiting:
        path, depth = waiting.pop()
        if read == MAX_SOURCE_FOLDERS or depth > MAX_SOURCE_FOLDER_DEPTH:
            unread = unread or path
            continue
        entries = _entries(path, first=read == 0)
        read += 1
        if depth and any(entry.name == _ENVIRONMENT for entry in entries):
            continue
        files += [entry for entry in entries if entry.name.endswith(wanted) and not entry.is_dir()]
        inside = [entry for entry in entries if _is_entered(entry)]
        waiting += [(entry.path, depth + 1) for entry in reversed(inside)]
    return Tree(files, unread)


def files_in(folder: Path, suffixes: Iterable[str]) -> list[Path]:
    """Returns the files as paths. Raises `InvalidRequest` (folder_too_large) if the folder is larger than can be read."""
    found = tree(folder, suffixes)
    if found.unread is not None:
        message = f"more than {MAX_SOURCE_FOLDERS} folders, or more than {MAX_SOURCE_FOLDER_DEPTH} inside each other"
        raise InvalidRequest(message, code="folder_too_large", place=found.unread, mend="give the folder of the workflows alone")
    return [Path(entry.path) for entry in found.files]


def _entries(path: str, *, first: bool) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        if first:
            raise
        return []  # it was removed meanwhile, or may not be read


def _is_entered(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False) and entry.name not in _LEFT_OUT and not entry.name.startswith(".")
