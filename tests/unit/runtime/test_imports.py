"""What the runner pays for before its first node: its import graph, in a fresh interpreter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ENGINE = Path(__file__).parents[3] / "engine"
LIST = "import sys, {}; print(*sys.modules, sep='\\n')"


def imported(module: str) -> set[str]:
    """The modules that an interpreter holds which was asked for this one alone."""
    command = [sys.executable, "-c", LIST.format(module)]
    done = subprocess.run(command, env={"PYTHONPATH": str(ENGINE)}, capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.split())


@pytest.fixture(scope="module")
def runner() -> set[str]:
    return imported("stepless.runtime.runner")


@pytest.mark.parametrize(
    "package",
    ["fastapi", "starlette", "mangum", "uvicorn", "yaml", "rich", "boto3", "botocore", "httpx", "sqlite3", "argparse"],
)
def test_the_runner_starts_without(package: str, runner: set[str]) -> None:
    assert not [module for module in runner if module == package or module.startswith(f"{package}.")]


@pytest.mark.parametrize("room", ["adapters", "api", "cli", "imports", "testing"])
def test_the_runner_knows_no_room_that_it_does_not_use(room: str, runner: set[str]) -> None:
    assert "stepless.runtime.runner" in runner
    assert not [module for module in runner if module.startswith(f"stepless.{room}")]


def test_a_laptop_starts_without_aws() -> None:
    held = imported("stepless.runtime.bootstrap")
    assert "stepless.adapters.sqlite.store" in held
    assert not held & {"boto3", "botocore", "aws_lambda_powertools", "fastapi", "yaml", "rich", "stepless.adapters.aws"}
