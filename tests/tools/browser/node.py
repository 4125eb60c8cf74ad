"""Commands of Node.js in the folder of the console, with the packages of its lock."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
CONSOLE = ROOT / "console"


def with_node(*command: str, timeout: float = 240, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs the command in `console/`. Skips where `make setup` has not run: `make test` runs it first."""
    if not (CONSOLE / "node_modules/.ready").is_file():
        pytest.skip("the packages of console/ are not installed: run `make setup`")
    return subprocess.run(
        [str(CONSOLE / "tools/with-node"), *command], cwd=CONSOLE, capture_output=True, text=True, timeout=timeout, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip
