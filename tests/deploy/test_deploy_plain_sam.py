"""`sam build && sam deploy` in a clone, against an emulator, without `make deploy`: the first time and every later time."""

from __future__ import annotations

import os
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from deploy_project import PATIENCE_S, Project
from emulators import Missing, ministack
from local_cloud import ROOT, ROOT_KEYS, SAM
from sam_template import loaded

pytestmark = [pytest.mark.long, pytest.mark.story, pytest.mark.installs]

LISTED = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
EXPORTED = "LAMBDA_PYTHON LAMBDA_PLATFORM FUNCTIONS COMPILER CONFIG"  # what a developer may have set for other builds


@dataclass
class Clone:
    folder: Path
    project: Project

    def sam(self, *arguments: str) -> str:
        """Returns what `sam` prints. It is called as its users call it: in the folder, with credentials and without arguments."""
        foreign = (*EXPORTED.split(), "AWS_", "MAKE", "SET", "TAGS", "VIRTUAL_ENV", "UV_")
        own = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        settings = {"AWS_ENDPOINT_URL": self.project.address, "SAM_CLI_TELEMETRY": "0", "SAM_CLI_POLL_DELAY": "0.1"}
        done = subprocess.run(
            [str(SAM), *arguments], cwd=self.folder, env={**own, **ROOT_KEYS, **settings, "AWS_DEFAULT_REGION": "us-east-1"},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
        return done.stdout + done.stderr

    def build_and_deploy(self) -> str:
        self.sam("build")
        packages = self.folder / ".aws-sam/build/Dependencies/python"
        assert (packages / "pydantic").is_dir()
        for folder in packages.iterdir():
            if folder.is_dir():
                shutil.rmtree(folder)  # nothing is executed here, and each deployment would upload 25 MB
        return self.sam("deploy")


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clone]:
    tools = subprocess.run(["make", "-s", ".tools/sam/bin/sam"], cwd=ROOT, capture_output=True, text=True, check=False)
    if tools.returncode != 0:
        pytest.skip(f"AWS SAM is not here, and cannot be installed from the package registry: {tools.stderr.strip()[-200:]}")
    folder = tmp_path_factory.mktemp("clone")
    for name in subprocess.run(LISTED, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    os.mkfifo(folder / "not-to-be-copied")  # `sam` would fail at it, if it copied the folder for each function
    try:
        with ministack(**ROOT_KEYS) as address:
            yield Clone(folder, Project(folder / "samconfig.toml", address, "stepless"))
    except Missing as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def first(clone: Clone) -> str:
    return clone.build_and_deploy()


def test_a_clone_is_built_in_place_and_deployed_without_a_question(clone: Clone, first: str) -> None:
    assert "Successfully created/updated stack" in first and "[y/N]" not in first
    assert set(clone.project.versions().values()) == {"1"}
    assert clone.project.outputs()["Url"].startswith("http")
    assert clone.project.parameters()["SecretsSource"] == "ssm"


def test_the_second_time_there_is_nothing_to_deploy(clone: Clone, first: str) -> None:
    before = clone.project.versions()
    assert "No changes to deploy" in clone.build_and_deploy()
    assert clone.project.versions() == before


def test_a_parameter_that_is_changed_in_samconfig_reaches_the_functions_that_are_invoked(clone: Clone, first: str) -> None:
    file = clone.folder / "samconfig.toml"
    key = "sha256:" + "a" * 64
    added = f'SecretsSource = "ssm"\nLogLevel = "DEBUG"\nApiKeyHashes = "{key}"'
    file.write_text(file.read_text().replace('SecretsSource = "ssm"', added))
    clone.build_and_deploy()
    assert set(clone.project.versions().values()) == {"2"}
    assert clone.project.settings("runner")["POWERTOOLS_LOG_LEVEL"] == "DEBUG"
    assert clone.project.settings("api")["STEPLESS_API_KEYS"] == key


def test_what_make_deploy_records_is_what_sam_deploys_later(clone: Clone, first: str) -> None:
    """`make deploy` asks and records in the same table, and keeps what the file explains."""
    clone.sam("build")
    command = [*clone.project.command(built=True), "--project", str(clone.folder)]
    variables = {**clone.project.variables(built=True), "SET": "RunnerMemory=1024"}
    done = subprocess.run(command, cwd=ROOT, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    text = (clone.folder / "samconfig.toml").read_text()
    recorded = tomllib.loads(text)
    assert "These four decide where data is kept" in text and list(recorded) == ["version", "default"]
    overrides = recorded["default"]["deploy"]["parameters"]["parameter_overrides"]
    assert (overrides["RunnerMemory"], overrides["LogLevel"], overrides["SecretsSource"]) == ("1024", "DEBUG", "ssm")
    assert recorded["default"]["build"]["parameters"] == {"build_in_source": True, "parallel": True}
    clone.sam("build")
    clone.sam("deploy")
    assert clone.project.parameters()["RunnerMemory"] == "1024"
    assert clone.project.settings("api")["STEPLESS_API_KEYS"] == "sha256:" + "a" * 64


def test_the_file_names_every_parameter_without_a_default(clone: Clone) -> None:
    recorded = tomllib.loads((ROOT / "samconfig.toml").read_text())["default"]["deploy"]["parameters"]
    needed = {name for name, parameter in loaded()["Parameters"].items() if "Default" not in parameter}
    assert needed == set(recorded["parameter_overrides"])
