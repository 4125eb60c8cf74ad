"""One damaged cell of a SQLite file: the server starts, everything else works, and `stepless doctor` names the place.

Every column of every table is damaged in every way that `damaged_cells` has, one at a time. `make check` does a part of them.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from damage_walk import chosen, diagnosed, walk
from damaged_cells import Cell, cells, damage
from everything_stored import Filled
from sweeps import WHOLE

PARTS = 12
EVERY = 60  # of the cells, in `make check`
SAME = frozenset({"other", "truncated", "empty", "object", "list", "other-fields", "null-json", "text-json", "number", "null"})
"""Harms that may make a value which could be right: no check can tell those."""


def some(full: tuple[Path, Filled], part: int) -> Sequence[Cell]:
    path, filled = full
    found = [*cells(path, chosen(filled))]
    return found[part::PARTS] if WHOLE else found[part * EVERY // PARTS :: EVERY]


def copied(path: Path, to: Path) -> Path:
    for old in to.parent.glob(f"{to.name}*"):
        old.unlink()
    shutil.copy(path, to)
    return to


def test_nothing_is_damaged_in_a_sound_file(full: tuple[Path, Filled], tmp_path: Path) -> None:
    path = copied(full[0], tmp_path / "sound.db")
    assert diagnosed(path) == []
    assert asyncio.run(walk(path, full[1])) == []


@pytest.mark.parametrize("part", range(PARTS) if WHOLE else [0])
def test_one_damaged_cell_harms_nothing_else(full: tuple[Path, Filled], tmp_path: Path, part: int) -> None:
    tried = 0
    for cell in some(full, part):
        path = copied(full[0], tmp_path / "one.db")
        if damage(path, cell):
            tried += 1
            assert asyncio.run(walk(path, full[1])) == [], str(cell)
    assert tried > 5


@pytest.mark.parametrize("part", range(PARTS) if WHOLE else [5])
def test_the_doctor_names_one_damaged_cell(full: tuple[Path, Filled], tmp_path: Path, part: int) -> None:
    tried = 0
    for cell in some(full, part):
        path = copied(full[0], tmp_path / "one.db")
        if damage(path, cell):
            found = diagnosed(path)
            tried += 1
            assert all(each.place and each.why and each.affects and each.mend for each in found), str(cell)
            if found == []:
                assert cell.harm in SAME, str(cell)
            elif cell.harm not in SAME:
                named = [each for each in found if each.place.startswith(cell.table)]
                assert named or cell.table in ("batch", "log_number"), (cell, found)
    assert tried > 5


@pytest.mark.parametrize(("begins", "harm"), [
    ("claim.value[signing-key]", "text"),  # the server did not start: the row could not be written again
    ("claim.expires_ms[signing-key]", "bytes"),
    ("log_number.number", "huge"),  # no run could begin any more: its log got no number
    ("blob.data", "deep"),  # the doctor ended with a RecursionError
])  # fmt: skip
def test_a_cell_whose_damage_once_harmed_more(full: tuple[Path, Filled], tmp_path: Path, begins: str, harm: str) -> None:
    found = [cell for cell in cells(full[0], chosen(full[1])) if str(cell).startswith(begins) and cell.harm == harm]
    path = copied(full[0], tmp_path / "one.db")
    assert damage(path, found[0])
    assert asyncio.run(walk(path, full[1])) == []
    assert any(each.place.startswith(found[0].table) for each in diagnosed(path)) or begins == "blob.data"
