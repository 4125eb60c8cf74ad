"""The console's own tests, which Node.js runs. Their types are checked by `make lint`."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from budgets import NAMES
from golden import canonical, lines
from node import CONSOLE, with_node

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def emitted() -> None:
    done = with_node("npm", "run", "--silent", "emit")
    assert done.returncode == 0, done.stdout[-4_000:] + done.stderr[-2_000:]


def closing(done: subprocess.CompletedProcess[str]) -> dict[str, int]:
    """What the runner counts in its last lines."""
    found = re.findall(r"^ℹ (tests|pass|fail|cancelled|skipped) (\d+)$", done.stdout, re.MULTILINE)
    return {name: int(count) for name, count in found}


def files_of_tests() -> list[Path]:
    files = sorted(CONSOLE.glob("build/tests/**/*.test.js"))
    assert len(files) == len(list(CONSOLE.glob("tests/**/*.test.ts"))), "not every test was emitted"
    return files


def in_one_process(folder: Path, files: Iterable[Path], **environment: str) -> subprocess.CompletedProcess[str]:
    """The tests of the files, one file after the other: a process for each takes longer than most of their tests."""
    every = folder / "every.mjs"
    every.write_text("".join(f"await import({json.dumps(file.as_uri())});\n" for file in files))
    return with_node("node", "--enable-source-maps", "--test-reporter=spec", str(every), **environment)


def test_the_tests_of_the_console_pass(emitted: None, tmp_path: Path) -> None:
    done = in_one_process(tmp_path, files_of_tests(), STEPLESS_QUICK="1")
    counts = closing(done)
    assert done.returncode == 0, done.stdout[-8_000:] + done.stderr[-2_000:]
    assert counts["tests"] == counts["pass"] + counts["skipped"] > 300
    assert 0 < counts["skipped"] < 10, "what takes seconds, which `make check` runs"


@pytest.mark.check
def test_the_tests_of_each_file_pass_in_a_process_of_its_own_none_left_out(emitted: None) -> None:
    files = [str(file.relative_to(CONSOLE)) for file in files_of_tests()]
    done = with_node("node", "--enable-source-maps", "--test", "--test-reporter=spec", *files)
    counts = closing(done)
    assert done.returncode == 0, done.stdout[-8_000:] + done.stderr[-2_000:]
    assert counts["tests"] == counts["pass"] > 300


def test_a_test_that_fails_is_seen(tmp_path: Path) -> None:
    failing, passing = tmp_path / "fails.test.mjs", tmp_path / "passes.test.mjs"
    failing.write_text('import { test } from "node:test";\ntest("fails", () => { throw new Error("as it should"); });\n')
    passing.write_text('import { test } from "node:test";\ntest("passes", () => {});\n')
    for done in (in_one_process(tmp_path, [failing, passing]), with_node("node", "--test", "--test-reporter=spec", str(failing))):
        assert done.returncode != 0
        assert closing(done)["fail"] == 1


def compared(path: Path) -> subprocess.CompletedProcess[str]:
    return with_node("node", "--enable-source-maps", "build/tests/editing/golden.js", str(path))


def test_the_rules_of_a_draft_decide_in_typescript_as_in_python(emitted: None, tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl"
    path.write_text("\n".join(lines(logs=30, crossings=5_000)) + "\n", encoding="utf-8")
    done = compared(path)
    assert done.returncode == 0, done.stderr[-4_000:]
    counts = json.loads(done.stdout)
    assert counts["logs"] == 30
    assert counts["pairs"] >= 5_000
    assert counts["items"] == counts["inverses"] > 200
    assert counts["expansions"] > 500
    assert counts["bounds"] == 2 * len(NAMES) > 12
    assert counts["shapes"] > 3_000


@pytest.mark.parametrize("case", ["log", "expand", "pairs", "bounds", "shapes"])
def test_a_difference_between_the_two_is_seen(emitted: None, tmp_path: Path, case: str) -> None:
    line = next(one for one in map(json.loads, lines(logs=1, first=3, crossings=50)) if one["case"] == case)
    if case == "log":
        del line["entries"][-1]["item"]["effects"][-1]
    elif case == "expand":
        line["gestures"][0]["effects"].append(["del", "block/a"])
    elif case == "bounds":
        line["bounds"]["effects"] -= 1
    elif case == "shapes":
        line["writes"][-1][1] = not line["writes"][-1][1]
    else:
        line["pairs"][0][3].append(["del", "block/a"])
    path = tmp_path / "golden.jsonl"
    path.write_text(canonical(line) + "\n", encoding="utf-8")
    done = compared(path)
    assert done.returncode != 0
    assert "AssertionError" in done.stderr
