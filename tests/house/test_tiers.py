"""Every test has a tier, and each tier is run by its target of the Makefile."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest
from tiers import FOLDERS, TIERS, tier_of


def test_every_folder_of_tests_has_a_known_tier(root: Path) -> None:
    folders = {path.relative_to(root / "tests").parts[0] for path in root.glob("tests/*/**/test_*.py")}
    assert folders == FOLDERS.keys()
    assert set(FOLDERS.values()) <= set(TIERS)
    assert list(root.glob("tests/test_*.py")) == [], "a test is in a folder, which has a tier"


def test_the_latest_tier_that_a_test_says_is_its_own() -> None:
    folders = {"some": "check"}
    assert tier_of("some", ["browser"], folders) == "check"
    assert tier_of("some", ["quick"], folders) == "quick"
    assert tier_of("some", ["nightly", "quick", "check"], folders) == "nightly"
    assert tier_of("other", ["quick"], folders) == "quick"


@pytest.mark.parametrize("folders", [{}, {"some": "weekly"}])
def test_a_test_without_a_tier_is_refused(folders: dict[str, str]) -> None:
    with pytest.raises(LookupError, match="tests/some has no tier, one of quick, check, nightly"):
        tier_of("some", ["long"], folders)


def test_a_folder_without_a_tier_stops_the_suite_before_its_first_test(root: Path, tmp_path: Path) -> None:
    """The settings of the suite, over a folder that no row names."""
    (tmp_path / "tests/unheard").mkdir(parents=True)
    (tmp_path / "tests/conftest.py").write_text((root / "tests/conftest.py").read_text())
    (tmp_path / "tests/unheard/test_one.py").write_text("def test_one() -> None: ...\n")
    paths = f"pythonpath={root / 'tests/tools/machine'}"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-o", paths, "--import-mode=importlib", "tests"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR, done.stdout
    assert "tests/unheard has no tier" in done.stderr


def test_each_target_runs_its_tier_and_nothing_is_left_out(root: Path) -> None:
    selected = {target: expression(root, target) for target in ("test", "check", "check-planted")}
    for count in (1, 2, 3):
        for said in combinations(TIERS, count):
            tier = tier_of("", said)
            chosen = {target for target, text in selected.items() if eval(text, {name: name in said for name in TIERS})}
            assert chosen == {"quick": {"test", "check"}, "check": {"check"}, "nightly": {"check-planted"}}[tier], said


def expression(root: Path, target: str) -> str:
    """What `make` gives pytest to choose by."""
    command = ["make", "-n", "--no-print-directory", "-C", str(root), target]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    [line] = [line for line in shown.splitlines() if "/pytest " in line]
    found = re.search(r'-m (?:"([^"]+)"|(\w+))', line)
    assert found is not None, line
    return found[1] or found[2]


def test_a_change_must_pass_the_second_tier(root: Path) -> None:
    assert (root / ".ci/run").read_text().splitlines()[-1] == "make lint check"
