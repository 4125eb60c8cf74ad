"""docs/write/testing.md is correct: its workflow and tests are run as printed, by a pytest that found the plug-in by itself."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[3] / "docs/write/testing.md"
BLOCK = re.compile(r"^```(\w+)\n(?:# (\S+\.\w+)\n)?(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What pytest says about the files of the page."""
    folder = tmp_path_factory.mktemp("page")
    for _, name, content in BLOCK.findall(PAGE.read_text("utf-8")):
        if name:
            (folder / name).write_text(content, "utf-8")
    options = ["-p", "no:cacheprovider", "--rootdir", str(folder), "-rA", "--color=no", str(folder)]
    command = [sys.executable, "-m", "pytest", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120).stdout


def test_the_tests_of_the_page_pass_and_its_wrong_guess_does_not(told: str) -> None:
    tests = re.findall(r"^def (test_\w+)", PAGE.read_text("utf-8"), re.MULTILINE)
    passed = {name.partition("[")[0] for name in re.findall(r"^PASSED \S+::(\S+)", told, re.MULTILINE)}
    failed = re.findall(r"^FAILED \S+::(\S+)", told, re.MULTILINE)
    assert (passed | set(failed), failed) == (set(tests), ["test_a_wrong_guess"]), told


def test_a_wrong_guess_is_told_as_the_page_shows(told: str) -> None:
    shown = next(content for language, _, content in BLOCK.findall(PAGE.read_text("utf-8")) if language == "text")
    lines = [line[1:].strip() for line in told.splitlines() if line.startswith("E ")]
    assert lines == [line.strip() for line in shown.splitlines()]
