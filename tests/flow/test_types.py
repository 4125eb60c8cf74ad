"""A type checker sees the results and the arguments of steps, parts and workflows, and finds nothing else in the pages."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pages import ROOT, blocks

pytestmark = pytest.mark.check

SAMPLE = Path(__file__).with_name("typed_sample.py.txt")
ENGINE = Path(__file__).parents[2] / "engine"
SAID = re.compile(r"^[^:]+:(\d+): (error|note): (.*)$")
AS_IN_PYTHON = {"type-arg", "no-untyped-def", "no-any-return"}  # what the same functions without decorators have
NAMED = re.compile(r"# (\w+\.py)\n")
PAGES = [page for page in sorted(ROOT.glob("docs/**/*.md")) if "from stepless.flow import" in page.read_text("utf-8")]
REVEALED = re.compile(r'Revealed type is "(.*)"')


def said_of(checked: Path, folder: Path) -> list[str]:
    """What mypy says in its strict mode."""
    options = ["--strict", "--python-version", "3.11", "--cache-dir", str(folder / "cache")]
    command = [sys.executable, "-m", "mypy", *options, str(checked)]
    environment = {**os.environ, "MYPYPATH": str(ENGINE)}
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout.splitlines()


def test_mypy_finds_wrong_calls_and_knows_results(tmp_path: Path) -> None:
    sample = tmp_path / "sample.py"
    sample.write_text(SAMPLE.read_text())
    found: dict[int, str] = {}
    for line in said_of(sample, tmp_path):
        if (said := SAID.match(line)) is None:
            continue
        if (revealed := REVEALED.search(said[3])) is not None:
            found[int(said[1])] = re.sub(r"\b(builtins|sample|typing)\.", "", revealed[1])
        elif said[2] == "error":
            found[int(said[1])] = f"error: {said[3].rpartition('[')[2].rstrip(']')}"
    expected = {
        number: line.partition("  # ")[2] for number, line in enumerate(SAMPLE.read_text().splitlines(), 1) if "  # " in line
    }
    assert found == expected


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_mypy_finds_nothing_in_a_page_that_python_without_decorators_would_not_have(page: Path, tmp_path: Path) -> None:
    (tmp_path / "page").mkdir()
    for block in blocks(page):
        named = NAMED.match(block.text)
        if named is not None and not named[1].startswith(("test_", "broken")) and "stepless" in block.text:
            (tmp_path / "page" / named[1]).write_text(block.text)
    found = said_of(tmp_path / "page", tmp_path)
    assert found, "mypy has said nothing"
    errors = [line for line in found if ": error: " in line and line.rpartition("[")[2].rstrip("]") not in AS_IN_PYTHON]
    assert errors == []
