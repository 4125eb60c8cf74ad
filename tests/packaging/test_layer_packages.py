"""The packages of the deployed layer: those of the lock file, each with its hash."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from stepless.cli import main

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ROOT / "engine/stepless/cli/project/packages.txt"


def make(*arguments: str) -> str:
    command = ["make", "--no-print-directory", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_project_gets_the_packages_of_the_lock_file() -> None:
    """After a change of uv.lock: `make packages`."""
    assert make("-s", "packages", "PACKAGES=/dev/stdout") == PACKAGES.read_text()
    pinned = [line for line in PACKAGES.read_text().splitlines() if not line.startswith(" ")]
    assert len(pinned) > 20 and all(re.match(r"[a-z0-9.-]+==[0-9]", line) and line.endswith("\\") for line in pinned)


def test_the_layer_of_a_checkout_is_installed_with_hashes() -> None:
    commands = make("-n", "build-Dependencies", "ARTIFACTS_DIR=/nowhere").splitlines()
    [export] = [line for line in commands if "uv export" in line]
    [install] = [line for line in commands if "uv pip install" in line]
    assert "--frozen" in export and "--no-hashes" not in export
    assert "--require-hashes" in install and "--no-deps" in install


def test_the_tools_of_a_deployment_have_one_version() -> None:
    """`uv` brings the others by the lock file."""
    rules = (ROOT / "Makefile").read_text()
    assert re.search(r"'uv==\d+\.\d+\.\d+'", rules)
    assert re.findall(r"'(?:cfn-lint|awslambdaric|aws-sam-cli)[^']*'", rules) == []
    groups = re.findall(r"sync --frozen --quiet --only-group (\w+)", rules)
    assert {"sam", "runtime"} <= set(groups)


@pytest.mark.installs
def test_the_layer_of_a_project_is_refused_when_a_package_is_not_what_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project, artifacts = tmp_path / "project", tmp_path / "layer"
    assert main(["init", str(project)]) == 0
    capsys.readouterr()
    rules = project / "Makefile"
    changed = "sed -i 's/sha256:[0-9a-f]\\{64\\}/sha256:" + "0" * 64 + "/' $(TARGET)/stepless/cli/project/packages.txt"
    marked = "\t$(INSTALL) --no-deps --require-hashes"
    assert marked in rules.read_text()
    build = ["make", "--silent", "-C", str(project), "build-Dependencies", f"ARTIFACTS_DIR={artifacts}"]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (artifacts / "python/pydantic").is_dir() and not (artifacts / "python/stepless").exists()
    rules.write_text(rules.read_text().replace(marked, f"\t{changed}\n{marked}"))
    done = subprocess.run([*build[:-1], f"ARTIFACTS_DIR={tmp_path / 'other'}"], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "HASH" in done.stderr.upper(), done.stderr
    assert not (tmp_path / "other/python/pydantic").exists()
