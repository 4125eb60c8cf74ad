"""What runs on GitHub: the checks of .ci/run on every supported Python, and nothing that another repository may change."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

PINNED = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40}")
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]


def workflows(root: Path) -> dict[str, Any]:
    return {path.stem: yaml.safe_load(path.read_text()) for path in sorted((root / ".github/workflows").glob("*.yml"))}


def steps(workflow: Any) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("name", ["check", "console", "nightly", "release"])
def test_a_workflow_uses_fixed_commits_few_rights_and_targets_that_exist(root: Path, name: str) -> None:
    workflow = workflows(root)[name]
    used = [step["uses"] for step in steps(workflow) if "uses" in step]
    assert used and all(PINNED.fullmatch(one) for one in used)
    assert workflow["permissions"] == {"contents": "read"}, "a job asks for more where it needs it"
    assert all("timeout-minutes" in job for job in workflow["jobs"].values())
    rules = (root / "Makefile").read_text() + (root / "tests/checks.mk").read_text()
    called = [target for step in steps(workflow) for target in re.findall(r"\bmake ([a-z-]+)", step.get("run", ""))]
    assert [target for target in called if not re.search(rf"^{target}:", rules, re.MULTILINE)] == []


def test_every_workflow_is_checked_here(root: Path) -> None:
    assert set(workflows(root)) == {"check", "console", "nightly", "release"}


def test_a_change_is_checked_on_every_supported_python(root: Path) -> None:
    job = workflows(root)["check"]["jobs"]["check"]
    assert job["strategy"]["matrix"]["python"] == PYTHONS
    assert job["steps"][-1] == {"run": ".ci/run"}


def test_a_release_is_published_only_after_the_checks(root: Path) -> None:
    release = workflows(root)["release"]
    assert set(release["jobs"]["publish"]["needs"]) == {"build", "check"}
    assert release["jobs"]["check"]["steps"][-1] == {"run": ".ci/run"}
    assert release["jobs"]["docs"]["needs"] == ["publish"]


def test_an_update_of_a_dependency_waits_for_a_week(root: Path) -> None:
    updates = yaml.safe_load((root / ".github/dependabot.yml").read_text())["updates"]
    assert {one["package-ecosystem"] for one in updates} == {"uv", "npm", "github-actions"}
    assert all(one["cooldown"]["default-days"] >= 7 for one in updates)
