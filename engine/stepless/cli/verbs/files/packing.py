"""Packs the installed copy of Stepless as a wheel, without a network, a build tool or a package index."""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import Distribution
from pathlib import Path
from typing import Final

from stepless.errors import StoreUnusable

_NOTES: Final = ("METADATA", "WHEEL", "entry_points.txt")
_MADE_AT: Final = (1980, 1, 1, 0, 0, 0)  # the earliest time of the zip format: the same copy gives the same bytes


def wheel_of(found: Distribution, package: Path, shared: Mapping[str, bytes]) -> tuple[str, bytes]:
    """Returns the file name and the bytes of a wheel of the package in a folder. `shared` are further files of the wheel, by
    path.

    Raises `StoreUnusable` if the installer's metadata is incomplete.
    """
    stem = f"{package.name}-{found.version}"
    noted = f"{stem}.dist-info"
    files = dict(shared)
    for path in _sources(package):
        files[path.relative_to(package.parent).as_posix()] = path.read_bytes()
    for name in _NOTES:
        text = found.read_text(name)
        if text is None:
            raise StoreUnusable("the installation is incomplete", code="file_not_read", place=name, mend="install Stepless again")
        files[f"{noted}/{name}"] = text.encode()
    record = "".join(_recorded(files)) + f"{noted}/RECORD,,\n"
    return f"{stem}-py3-none-any.whl", _zipped([*sorted(files.items()), (f"{noted}/RECORD", record.encode())])


def _sources(package: Path) -> Iterator[Path]:
    return (path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def _recorded(files: Mapping[str, bytes]) -> Iterator[str]:
    for name, data in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        yield f"{name},sha256={digest},{len(data)}\n"


def _zipped(files: Iterable[tuple[str, bytes]]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files:
            wheel.writestr(zipfile.ZipInfo(name, _MADE_AT), data, zipfile.ZIP_DEFLATED)
    return held.getvalue()
