"""
The floors of the console: each folder of console/src stands on one, and no file imports itself by way of others.

That no import leads to a higher floor is a rule of eslint (console/eslint.config.js), as `make lint` runs it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

CONSOLE = Path(__file__).resolve().parents[2] / "console"
SOURCES = CONSOLE / "src"
FLOORS = re.compile(r"^const FLOORS = \[\n(.*?)^\];", re.DOTALL | re.MULTILINE)
IMPORT = re.compile(r"""(?:\bfrom|\bimport)\s*\(?\s*["'](\.[^"'?]+\.tsx?)["']""")
MAX_BESIDE = 16  # files in one folder: more are a heap


def imported(path: Path) -> Iterator[Path]:
    """The files that one imports, types and what is loaded later included."""
    for found in IMPORT.findall(path.read_text("utf-8")):
        yield (path.parent / found).resolve()


def circle(imports: dict[Path, set[Path]]) -> list[str]:
    """The files of one circle, in its order; empty where there is none."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return [path.name for path in error.args[1]]
    return []


def test_every_folder_stands_on_one_floor() -> None:
    found = FLOORS.search((CONSOLE / "eslint.config.js").read_text("utf-8"))
    assert found is not None
    folders = re.findall(r'"(\w+)"', found[1])
    assert sorted(folders) == sorted(path.name for path in SOURCES.iterdir() if path.is_dir())


def test_no_file_imports_itself_by_way_of_others() -> None:
    imports = {path.resolve(): set(imported(path)) for path in SOURCES.rglob("*.ts*")}
    assert len(imports) > 250
    assert sum(map(len, imports.values())) > 1_000
    assert {path for found in imports.values() for path in found} <= imports.keys()
    assert circle(imports) == []


def test_no_folder_is_a_heap() -> None:
    folders = [path for path in SOURCES.rglob("*") if path.is_dir()]
    counts = {path.relative_to(SOURCES).as_posix(): len(list(path.glob("*.ts*"))) for path in folders}
    assert {name: count for name, count in counts.items() if count > MAX_BESIDE} == {}


@pytest.mark.parametrize(
    "line", ['import { a } from "./b.ts";', 'import "./b.ts";', 'import("./b.ts")', 'export type { A } from "./b.ts";']
)
def test_a_circle_is_found_by_every_kind_of_import(tmp_path: Path, line: str) -> None:
    first, second = tmp_path / "a.ts", tmp_path / "b.ts"
    first.write_text(line)
    second.write_text('import { a } from "./a.ts";')
    assert circle({path: set(imported(path)) for path in (first, second)}) == ["a.ts", "b.ts", "a.ts"]
