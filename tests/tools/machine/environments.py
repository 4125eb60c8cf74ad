"""Builds a wheel of the project, and environments that contain nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_S = 120
OURS = ("PYTHON", "VIRTUAL_ENV", "STEPLESS", "COV")


def uv() -> str:
    """`make setup` installs it beside the environment; one that is installed on the machine is used otherwise."""
    beside = ROOT / ".tools" / "bin" / "uv"
    found = str(beside) if beside.exists() else shutil.which("uv")
    if found is None:
        pytest.skip("uv is missing: `make setup` installs it")
    return found


def say(*command: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command as a user's shell would, without the environment variables of this test run."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    words = [str(word) for word in command]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False, env=clean)


def must(*command: str | Path, folder: Path) -> str:
    """The output of a command that must succeed."""
    done = say(*command, folder=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def build_wheel(folder: Path) -> Path:
    must(uv(), "build", "--quiet", "--wheel", "--out-dir", folder, folder=ROOT)
    (built,) = folder.glob("*.whl")
    return built


@dataclass(frozen=True)
class Environment:
    """An environment with the wheel, its extras and what the lock names for them. Commands run in `folder`."""

    programs: Path
    folder: Path
    wheel: Path

    def within(self, folder: Path) -> Environment:
        """The same, with a new folder for the commands of one test."""
        folder.mkdir()
        return replace(self, folder=folder)

    def say(self, program: str, *arguments: str, where: str = ".") -> subprocess.CompletedProcess[str]:
        return say(self.programs / program, *arguments, folder=self.folder / where)


def empty(folder: Path) -> Path:
    """Creates an environment; returns the folder of its programs."""
    must(uv(), "venv", "--quiet", "--python", sys.executable, folder, folder=folder.parent)
    return next(path for path in (folder / "bin", folder / "Scripts") if path.exists())


def install(wheel: Path, folder: Path, *extras: str) -> Environment:
    export = [uv(), "export", "--quiet", "--frozen", "--no-dev", "--no-emit-project", "--no-hashes", "--no-annotate"]
    (folder / "lock.txt").write_text(must(*export, *(f"--extra={extra}" for extra in extras), folder=ROOT))
    programs = empty(folder / "env")
    what = f"{wheel}[{','.join(extras)}]" if extras else str(wheel)
    must(uv(), "pip", "install", "--quiet", "--python", programs / "python", "-c", "lock.txt", what, folder=folder)
    return Environment(programs, folder, wheel)
