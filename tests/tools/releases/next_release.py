"""Pretended releases after this one: copies of the built engine in which the formats are declared differently.

They know a second format of the log, in which almost every type of event has the code that another type has in the first format,
so that a release that reads it without knowing it would read another history.
"""

from __future__ import annotations

import shutil
from pathlib import Path

FORMATS = "core/stored/formats.py"
CODEC = "core/stored/codec.py"
DECLARED = "FORMATS: Final = Formats(log=Format(writes=1, reads=1), snapshot=Format(writes=1, reads=2))"
KNOWN = "{_UNMARKED: Words(_CODES, _SHORT)}"
SECOND = "{_UNMARKED: Words(_CODES, _SHORT), 2: Words({type: code.swapcase() for type, code in _CODES.items()}, _SHORT)}"


def engine(built: Path, folder: Path, *, writes: int) -> Path:
    """A copy of the built layer `built` that reads the formats 1 and 2 and writes one of them."""
    shutil.copytree(built, folder)
    package = folder / "python/stepless"
    declared = DECLARED.replace("reads=1", "reads=2").replace("writes=1", f"writes={writes}")
    for name, old, new in ((FORMATS, DECLARED, declared), (CODEC, KNOWN, SECOND)):
        file = package / name
        text = file.read_text("utf-8")
        if text.count(old) != 1:
            raise ValueError(f"{name} does not have this line: {old}")
        file.write_text(text.replace(old, new), "utf-8")
        for compiled in file.parent.glob(f"__pycache__/{file.stem}.*"):  # of the line before: it would be used unchecked
            compiled.unlink()
    return folder
