"""The files that every house rule checks: the project's own, as in the repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SKIPPED_FOLDERS = {"__pycache__", "build", "dist", "node_modules"}


def walk(folder: Path) -> list[Path]:
    """All files below, except hidden and generated folders: for a copy of the project without git."""
    found: list[Path] = []
    for path in sorted(folder.iterdir()):
        if path.is_file():
            found.append(path)
        elif path.is_dir() and path.name not in SKIPPED_FOLDERS and not path.name.startswith("."):
            found += walk(path)
    return found


def project_files(root: Path) -> list[Path]:
    """Tracked files and new ones that are not ignored."""
    if not (root / ".git").exists():
        return walk(root)
    listing = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        names = subprocess.run(listing, capture_output=True, text=True, check=True).stdout.split("\0")
    except (OSError, subprocess.CalledProcessError):
        return walk(root)
    return sorted(path for path in {root / name for name in names if name} if path.is_file())


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def files() -> list[Path]:
    found = project_files(ROOT)
    assert ROOT / "pyproject.toml" in found
    return found
