"""A fixture that reads pages, with its own folder and terminal."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from reader import Reader


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    for program in ("bash", "curl"):
        if shutil.which(program) is None:
            pytest.skip(f"the commands of a page need {program}, which is not installed")
    (tmp_path / "here").mkdir()
    made = Reader(tmp_path / "here", tmp_path / "state")
    yield made
    made.terminal.close()
