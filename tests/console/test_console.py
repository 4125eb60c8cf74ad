"""The console's own tests, which Node.js runs: compiled with the types checked, as in console/package.json."""

from __future__ import annotations

import re
import subprocess

import pytest
from node import CONSOLE, with_node

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def compiled() -> None:
    done = with_node("npm", "run", "--silent", "compile")
    assert done.returncode == 0, done.stdout[-4_000:] + done.stderr[-2_000:]


def closing(done: subprocess.CompletedProcess[str]) -> dict[str, int]:
    """What the runner counts in its last lines."""
    return {name: int(count) for name, count in re.findall(r"^ℹ (tests|pass|fail|cancelled) (\d+)$", done.stdout, re.MULTILINE)}


def test_the_tests_of_the_console_pass(compiled: None) -> None:
    files = sorted(str(file.relative_to(CONSOLE)) for file in CONSOLE.glob("build/tests/**/*.test.js"))
    assert len(files) == len(list(CONSOLE.glob("tests/**/*.test.ts"))), "not every test was compiled"
    done = with_node("node", "--enable-source-maps", "--test", "--test-reporter=spec", *files)
    counts = closing(done)
    assert done.returncode == 0, done.stdout[-8_000:] + done.stderr[-2_000:]
    assert counts["tests"] == counts["pass"] > 0


def test_a_test_that_fails_is_seen(compiled: None, tmp_path_factory: pytest.TempPathFactory) -> None:
    failing = tmp_path_factory.mktemp("failing") / "fails.test.mjs"
    failing.write_text('import { test } from "node:test";\ntest("fails", () => { throw new Error("as it should"); });\n')
    done = with_node("node", "--test", "--test-reporter=spec", str(failing))
    assert done.returncode != 0
    assert closing(done)["fail"] == 1
