"""`stepless init` makes a project that passes its own test."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from processes import PATIENCE_S, ROOT

from stepless.cli import main

pytestmark = pytest.mark.check

ORDER = '{"order_id": "A-1", "amount": 400}'


@pytest.fixture
def project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    folder = tmp_path / "refunds"
    assert main(["init", str(folder)]) == 0
    assert "python -m pytest" in capsys.readouterr().out
    return folder


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "engine"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE_S)


def test_the_project_passes_its_own_test(project: Path) -> None:
    ended = run(project, "pytest", "-p", "no:cacheprovider", "-o", "faulthandler_timeout=30")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "5 passed" in ended.stdout


def test_its_workflow_is_sound_and_runs(project: Path) -> None:
    ended = run(project, "stepless", "validate", "workflows")
    assert (ended.returncode, ended.stdout) == (0, "workflows/refund.yaml: fine\n")
    ended = run(project, "stepless", "run", "workflows/refund.yaml", "-i", ORDER, "--approve", "--json")
    assert ended.returncode == 0 and json.loads(ended.stdout)["outputs"]["pay"]["refund"] == "R-A-1"


def test_a_project_in_python_passes_its_own_test_and_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "refunds"
    assert main(["init", str(folder), "--python"]) == 0
    assert "stepless run workflows/refunds.py -i" in capsys.readouterr().out
    assert sorted(path.name for path in (folder / "workflows").iterdir()) == ["refunds.py"]
    assert "workflows/refunds.py" in (folder / "README.md").read_text()
    ended = run(folder, "pytest", "-p", "no:cacheprovider", "-o", "faulthandler_timeout=30")
    assert ended.returncode == 0 and "5 passed" in ended.stdout, ended.stdout + ended.stderr
    ended = run(folder, "stepless", "validate", "workflows")
    assert (ended.returncode, ended.stdout) == (0, "workflows/refunds.py: fine\n"), ended.stderr
    ended = run(folder, "stepless", "run", "workflows/refunds.py", "-i", ORDER, "--approve", "--json")
    assert ended.returncode == 0 and json.loads(ended.stdout)["outputs"] == {"status": "paid", "refund": "R-A-1"}


def test_what_runs_it_on_aws_is_what_runs_the_engine_itself(project: Path) -> None:
    shared = ["template.yaml", *(path.relative_to(ROOT).as_posix() for path in (ROOT / "functions").glob("*/*.py"))]
    assert len(shared) > 4
    assert [name for name in shared if (project / name).read_text() != (ROOT / name).read_text()] == []


def test_everything_that_the_template_builds_has_its_rule_and_its_code(project: Path) -> None:
    template, rules = (project / "template.yaml").read_text(), (project / "Makefile").read_text()
    built = re.findall(r"^  (\w+):\n    Type: AWS::Serverless::(?:LayerVersion|Function)\n", template, re.MULTILINE)
    layers = [name for name in built if not name.endswith("Function")]
    assert template.count("BuildMethod: makefile") == len(built) > len(layers) == 3
    assert [name for name in layers if f"\nbuild-{name}:\n" not in rules] == []
    folders = [name.removesuffix("Function").lower() for name in built if name not in layers]
    assert [name for name in folders if not (project / "functions" / name / "app.py").is_file()] == []
    settings = tomllib.loads((project / "samconfig.toml").read_text())["default"]["deploy"]["parameters"]["parameter_overrides"]
    parameters = template.partition("\nParameters:\n")[2].partition("\nRules:")[0]
    declared = re.findall(r"^  (\w+):\n((?:    .*\n)+)", parameters, re.MULTILINE)
    needed = {name for name, text in declared if "    Default:" not in text}
    assert len(needed) == 4 and needed <= set(settings)
    assert settings["FunctionModules"] == "refunds" and (project / "workflows" / "refunds.py").is_file()
    assert re.fullmatch(r"\./wheels/stepless-[\w.]+-py3-none-any\.whl\[aws\]\n", (project / "requirements.txt").read_text())


def test_its_functions_are_packed_as_the_template_wants_them(project: Path) -> None:
    for rule, wanted in (("build-Functions", "python/refunds.py"), ("build-ApiFunction", "app.py")):
        artifacts = project / "packed" / rule
        artifacts.mkdir(parents=True)
        subprocess.run(["make", "--silent", rule, f"ARTIFACTS_DIR={artifacts}"], cwd=project, check=True, timeout=PATIENCE_S)
        assert (artifacts / wanted).is_file()


def test_nothing_that_is_there_already_is_touched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "README.md").write_text("mine")
    assert main(["init", str(tmp_path)]) == 2
    complaint = capsys.readouterr().err
    assert "files already exist: README.md [project_exists]" in complaint
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"] and (tmp_path / "README.md").read_text() == "mine"


def test_files_of_others_do_not_matter(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert main(["init", str(tmp_path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert ".gitignore" in told["files"] and all((tmp_path / name).is_file() for name in told["files"])


def test_a_copy_from_a_commit_is_named_by_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others find the commit too: no wheel lies beside the project."""
    noted = tmp_path / "installed" / "stepless-9.9.9.dist-info"
    noted.mkdir(parents=True)
    (noted / "METADATA").write_text("Metadata-Version: 2.4\nName: stepless\nVersion: 9.9.9\n")
    vcs = {"vcs": "git", "commit_id": "c0ffee"}
    (noted / "direct_url.json").write_text(json.dumps({"url": "https://git.example/stepless.git", "vcs_info": vcs}))
    monkeypatch.syspath_prepend(noted.parent)
    assert main(["init", str(tmp_path / "project")]) == 0
    place = "git+https://git.example/stepless.git@c0ffee"
    assert (tmp_path / "project" / "requirements.txt").read_text() == f"stepless[aws] @ {place}\n"
    assert (tmp_path / "project" / "requirements-dev.txt").read_text() == f"stepless[local] @ {place}\npytest>=8.4\n"
    assert not (tmp_path / "project" / "wheels").exists()
