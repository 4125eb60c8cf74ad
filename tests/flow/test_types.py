"""A type checker sees the results and the arguments of steps, parts and workflows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.check

SAMPLE = Path(__file__).with_name("typed_sample.py.txt")
ENGINE = Path(__file__).parents[2] / "engine"
SAID = re.compile(r"^[^:]+:(\d+): (error|note): (.*)$")
REVEALED = re.compile(r'Revealed type is "(.*)"')


def test_mypy_finds_wrong_calls_and_knows_results(tmp_path: Path) -> None:
    sample = tmp_path / "sample.py"
    sample.write_text(SAMPLE.read_text())
    options = ["--strict", "--python-version", "3.11", "--cache-dir", str(tmp_path / "cache")]
    command = [sys.executable, "-m", "mypy", *options, str(sample)]
    environment = {**os.environ, "MYPYPATH": str(ENGINE)}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
    found: dict[int, str] = {}
    for line in done.stdout.splitlines():
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
