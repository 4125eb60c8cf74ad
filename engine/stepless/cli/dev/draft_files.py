"""Reads and writes the files that drafts are saved to: the documents of the folder that `stepless dev` serves, and of its
subfolders.

A file is never overwritten. To save, its name is taken away first: the file is renamed to a name of ours, and looked at. Only
if it is what the draft was read from, the new one, which is complete by then, gets the name, and only if no file has it: a
program that saves at this instant keeps its file. Otherwise what was taken away is put back. Each step is one change of the
folder. For a moment there is no file of the name; a process that is killed then leaves it under our name, from which the next
start brings it back.

A symbolic link is followed as long as it leads into the folder. One that leads out of it is refused, so that a save never changes
a file that the caller of `stepless dev` did not name. """

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from stepless.cli.reach.files import DOCUMENT_SUFFIXES, documents_in
from stepless.cli.reach.tree import tree
from stepless.compile import parse
from stepless.errors import DocumentRefused, InvalidRequest
from stepless.limits import MAX_DOCUMENT_BYTES, MAX_FILE_NAME_CHARACTERS
from stepless.model.json import JSON

_NAME: Final = re.compile(r"[^/\\\x00-\x1f.][^/\\\x00-\x1f]*(/[^/\\\x00-\x1f.][^/\\\x00-\x1f]*)*")
_TAKEN: Final = ".stepless-taken"
_NEW: Final = ".stepless-new"


class DraftFiles:
    """See `runtime.verbs.drafts.files.Files`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def recover(self) -> None:
        """Brings back files whose save was interrupted, and removes new ones that got no name."""
        left = [Path(entry.path) for entry in tree(self._folder, (_TAKEN, _NEW)).files if entry.name.startswith(".")]
        for path in left:
            if path.name.endswith(_TAKEN):
                self._put_back(path, path.with_name(path.name[1:].removesuffix(_TAKEN)))
            else:
                path.unlink(missing_ok=True)

    def name_of(self, path: Path) -> str:
        """Returns the name of a document, as `holding` and `read` have it: its path below the folder, with slashes."""
        return path.relative_to(self._folder).as_posix()

    def holding(self, workflow_id: str) -> Sequence[str]:
        try:
            return [self.name_of(path) for path in documents_in(self._folder) if self._id_of(path) == workflow_id]
        except (OSError, InvalidRequest):
            return []  # a file is being replaced: the next look finds it. Or the folder has grown too large, which is reported

    def _id_of(self, path: Path) -> JSON:
        try:
            return parse(path.read_bytes(), syntax="json" if path.suffix == ".json" else None).get("id")
        except DocumentRefused:
            return None

    def read(self, name: str) -> str | None:
        path = self._path(name)
        try:
            with path.open("rb") as file:
                data = file.read(MAX_DOCUMENT_BYTES + 1)
            return data.decode()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            mend = "look at the file"
            raise InvalidRequest(f"the file cannot be read: {error}", code="file_not_read", place=name, mend=mend) from error

    def layout(self, name: str) -> Mapping[str, JSON] | None:
        path = self._inside(self._beside(name), name)
        try:
            found = json.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def write(self, name: str, expected: str | None, text: str) -> bool:
        path = Path(os.path.realpath(self._path(name)))
        new, taken = path.with_name(f".{path.name}{_NEW}"), path.with_name(f".{path.name}{_TAKEN}")
        try:
            _write(new, text.encode(), like=path)
            try:
                return self._exchanged(path, new, taken, expected, text)
            finally:
                new.unlink(missing_ok=True)
        except OSError as error:
            message = f"the file cannot be written: {error.strerror}"
            raise InvalidRequest(message, code="file_not_written", place=name, mend="look at the folder") from error

    def _exchanged(self, path: Path, new: Path, taken: Path, expected: str | None, text: str) -> bool:
        if expected is None:
            return _named(new, path)
        self.reached(0, path)
        try:
            os.rename(path, taken)
        except FileNotFoundError:
            return False
        self.reached(1, path)
        if taken.read_bytes() != expected.encode():
            self._put_back(taken, path)
            return False
        self.reached(2, path)
        if not _named(new, path):
            taken.unlink()  # it was the base, which the draft has
            return False
        self.reached(3, path)
        if taken.read_bytes() == expected.encode():
            taken.unlink()
            return True
        new.unlink()  # a program that had the file open wrote to it: its file gets the name again
        os.rename(path, new)
        if new.read_bytes() != text.encode():  # and another program replaced ours
            self._put_back(new, path)
        self._put_back(taken, path)
        return False

    def reached(self, step: int, path: Path) -> None:
        """Called between the steps of a save: another program may act there."""

    def _put_back(self, taken: Path, path: Path) -> None:
        """Gives a file its name again; if another one has the name by now, both stay."""
        if _named(taken, path):
            taken.unlink()
        else:
            os.rename(taken, _free(path))

    def write_layout(self, name: str, layout: Mapping[str, JSON] | None) -> None:
        path = self._beside(name)
        try:
            if layout is None:
                path.unlink(missing_ok=True)
                return
            new = path.with_name(f".{path.name}{_NEW}")
            _write(new, (_shown(layout)).encode(), like=path)
            os.replace(new, path)
        except OSError as error:
            message = f"the file cannot be written: {error.strerror}"
            raise InvalidRequest(message, code="file_not_written", place=path.name, mend="look at the folder") from error

    def _beside(self, name: str) -> Path:
        path = self._path(name)
        return path.with_name(f"{path.name}.layout.json")

    def _path(self, name: str) -> Path:
        known = len(name) <= MAX_FILE_NAME_CHARACTERS and _NAME.fullmatch(name) is not None
        if not known or Path(name).suffix not in DOCUMENT_SUFFIXES or name.endswith(".layout.json"):
            mend = "name a file of the folder, like refund.yaml"
            message = f"{name!r} is not the name of a document here"
            raise InvalidRequest(message, code="invalid_file", status=422, place="file", mend=mend)
        return self._inside(self._folder / name, name)

    def _inside(self, path: Path, name: str) -> Path:
        """The path, if it leads to a place in the folder."""
        folder = os.path.realpath(self._folder)
        if not Path(os.path.realpath(path)).is_relative_to(folder):
            mend = "replace the link by the file, or save to a file of another name"
            message = f"{name} is a link that leads out of the folder"
            raise InvalidRequest(message, code="file_outside", status=422, place=name, mend=mend)
        return path


def _write(path: Path, data: bytes, like: Path) -> None:
    """Writes a whole new file, with the mode of another one. What had its name, a link too, is removed before."""
    path.unlink(missing_ok=True)
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    if like.exists():
        os.chmod(path, like.stat().st_mode & 0o777)


def _named(path: Path, name: Path) -> bool:
    """Gives a file a further name. False if another file has it."""
    try:
        os.link(path, name, follow_symlinks=False)
    except FileExistsError:
        return False
    return True


def _free(path: Path) -> Path:
    """An unused name in the same folder."""
    number = 1
    while (made := path.with_name(f"{path.stem}.kept-{number}{path.suffix}.txt")).exists():
        number += 1
    return made


def _shown(layout: Mapping[str, JSON]) -> str:
    """One line for each place and note, so that a change of one changes one line in git."""
    parts = [
        f"  {json.dumps(name)}: [\n" + ",\n".join(f"    {json.dumps(one, ensure_ascii=False)}" for one in value) + "\n  ]"
        for name, value in layout.items()
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"
