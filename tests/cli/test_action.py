"""The GitHub action and the files of a project for editors: the commands of its steps run in a project that `init` made."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml
from processes import PATIENCE_S, ROOT

from stepless.cli import main

pytestmark = pytest.mark.check

PINNED = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40}")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    assert main(["init", str(tmp_path / "refunds"), "--json"]) == 0
    return tmp_path / "refunds"


def action_of(project: Path) -> Any:
    return yaml.safe_load((project / ".github/actions/publish/action.yml").read_text())


def step(project: Path, name: str, tools: Path, **given: str) -> subprocess.CompletedProcess[str]:
    """Runs the command of a step as GitHub does, with the inputs of the action."""
    action = action_of(project)
    [found] = [each for each in action["runs"]["steps"] if each.get("name") == name]
    inputs = {key: declared["default"] for key, declared in action["inputs"].items()} | {
        key.replace("_", "-"): value for key, value in given.items()
    }
    environment = {
        key: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: inputs[match[1]], value) for key, value in found["env"].items()
    }
    path = os.pathsep.join([str(tools), os.environ["PATH"]])
    own = {"PATH": path, "HOME": str(tools), "PYTHONPATH": str(ROOT / "engine"), "PYTHONDONTWRITEBYTECODE": "1"}
    # Nothing is installed: Debian's own Python would refuse before it looks.
    own |= {"PIP_NO_INDEX": "1", "PIP_BREAK_SYSTEM_PACKAGES": "1"}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", found["run"]], cwd=project, env=own | environment,
        capture_output=True, text=True, check=False, timeout=PATIENCE_S,
    )  # fmt: skip


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """`stepless` and `python` of this environment."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for name, words in (("stepless", "-m stepless"), ("python", "")):
        (folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        (folder / name).chmod(0o755)
    return folder


def test_every_action_is_pinned_and_no_input_is_part_of_a_command(project: Path) -> None:
    workflow = yaml.safe_load((project / ".github/workflows/workflows.yml").read_text())
    steps = [*action_of(project)["runs"]["steps"], *workflow["jobs"]["publish"]["steps"]]
    used = [each["uses"] for each in steps if "uses" in each]
    assert len(used) == 4 and all(PINNED.fullmatch(each) or each == "./.github/actions/publish" for each in used)
    assert [each["run"] for each in steps if "${{" in each.get("run", "")] == []
    assert set(workflow["jobs"]["publish"]["steps"][1]["with"]) <= set(action_of(project)["inputs"])
    action = ".github/actions/publish/action.yml"
    assert (project / action).read_bytes() == (ROOT / action).read_bytes()


def test_the_packages_are_installed_from_the_requirements(project: Path, tools: Path) -> None:
    (tools / "python").write_text(f'#!/bin/sh\nexec "{Path(sys.base_prefix) / "bin/python3"}" "$@"\n')
    (project / "none.txt").write_text("")
    done = step(project, "Install", tools, requirements="none.txt")
    assert done.returncode == 0, done.stderr
    assert step(project, "Install", tools, requirements="missing.txt").returncode != 0


def test_workflows_are_validated_and_tested(project: Path, tools: Path) -> None:
    assert step(project, "Validate", tools).returncode == 0
    done = step(project, "Test", tools, test="python -m pytest -p no:cacheprovider -p no:randomly")
    assert done.returncode == 0 and "5 passed" in done.stdout, done.stdout + done.stderr
    assert step(project, "Test", tools, test="false | cat").returncode != 0
    (project / "workflows/broken.yaml").write_text("id: broken\nnodes:\n  a: {type: nothing}\n")
    assert step(project, "Validate", tools).returncode == 2


@pytest.mark.parametrize("source", ["secret", "parameter"])
def test_workflows_are_published_with_a_key_that_is_masked(
    project: Path, tools: Path, spawn: Any, source: str, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    flags = ("--port", "0", "--port-file", str(tmp_path / "port"))
    server = spawn("dev", str(tmp_path / "empty"), *flags, STEPLESS_API_KEY="the-key")
    server.until("Ctrl-C stops")
    url = (tmp_path / "port").read_text()
    wanted = "ssm get-parameter --with-decryption --name /stepless/key --query Parameter.Value --output text"
    (tools / "aws").write_text(f'#!/bin/sh\n[ "$*" = "{wanted}" ] && echo the-key\n')
    (tools / "aws").chmod(0o755)
    given = {"api_key": "the-key"} if source == "secret" else {"api_key_parameter": "/stepless/key"}
    done = step(project, "Publish", tools, url=url, **given)
    assert done.returncode == 0 and "published" in done.stdout, done.stdout + done.stderr
    unmasked = done.stdout.replace("::add-mask::the-key", "") + done.stderr
    assert "the-key" not in unmasked and ("::add-mask::the-key" in done.stdout) == (source == "parameter")
    assert step(project, "Publish", tools, url=url, api_key="wrong").returncode == 2
    assert step(project, "Publish", tools, url=url).returncode == 2


def test_editors_find_the_schema_and_the_workflow_fits_it(project: Path) -> None:
    text = (project / "workflows/refund.yaml").read_text()
    named = re.match(r"# yaml-language-server: \$schema=(\S+)\n", text)
    assert named is not None
    schema = json.loads((project / "workflows" / named[1]).read_text())
    assert jsonschema_rs.validator_for(schema).is_valid(yaml.safe_load(text))
    settings = json.loads((project / ".vscode/settings.json").read_text())
    [(place, patterns)] = settings["yaml.schemas"].items()
    assert (project / place).is_file() and "workflows/*.yaml" in patterns
    assert [(project / each["url"]).is_file() for each in settings["json.schemas"]] == [True]


def test_the_project_deploys_by_what_deploys_the_engine(project: Path) -> None:
    names = [path.name for path in (ROOT / "infrastructure/deploy").glob("*.py")]
    assert len(names) == 5
    for name in names:
        assert (project / "deploy" / name).read_bytes() == (ROOT / "infrastructure/deploy" / name).read_bytes()
    shown = subprocess.run(["make", "-n", "deploy"], cwd=project, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert ".sam/bin/python deploy workflows --config samconfig.toml --project . --functions workflows" in shown.stdout
    assert "--guided" not in (project / "README.md").read_text() + shown.stdout
