"""The example of a store, installed by what its own pyproject.toml announces: its own tests, and runs that outlive a process."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "plugin-store"
ASKS = """
id: ask
nodes:
  begin: {type: manual}
  q: {type: approval, after: begin, with: {message: Go?}}
  done: {type: transform, after: q.approved, with: {value: <q.decision>}}
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """What an installer leaves behind of the package: its metadata, beside the folder that it is imported from."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    folder = tmp_path / "site" / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    points = project["entry-points"]["stepless.stores"]
    lines = [f"{name} = {value}" for name, value in points.items()]
    (folder / "entry_points.txt").write_text("\n".join(["[stepless.stores]", *lines, ""]))
    return folder.parent


def python(site: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "engine", EXAMPLE, site)))}
    command = [sys.executable, "-m", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment, cwd=folder, check=False)


def test_the_store_keeps_the_contract(site: Path, tmp_path: Path) -> None:
    tests = str(EXAMPLE / "tests")
    done = python(site, tmp_path, "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", tests, tests)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


def test_a_run_is_answered_by_one_process_and_gone_on_with_by_another(site: Path, tmp_path: Path) -> None:
    (tmp_path / "ask.yaml").write_text(ASKS)
    where = ("--db", "journal://runs")
    left = python(site, tmp_path, "stepless", "run", "ask.yaml", *where, "--json")
    assert '"status": "paused"' in left.stdout, left.stdout + left.stderr
    run_id = next(line.split('"')[3] for line in left.stdout.splitlines() if '"run_id"' in line)
    answered = python(site, tmp_path, "stepless", "runs", "resume", run_id, "q", "--exit", "approved", *where)
    assert "No process serves journal://runs now" in answered.stdout, answered.stdout + answered.stderr
    ended = python(site, tmp_path, "stepless", "run", *where, "--continue", run_id, "--json")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert '"status": "completed"' in ended.stdout
    assert (tmp_path / "runs" / "journal.jsonl").is_file()


def test_without_the_package_the_scheme_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "ask.yaml").write_text(ASKS)
    done = python(tmp_path, tmp_path, "stepless", "run", "ask.yaml", "--db", "journal://runs")
    assert done.returncode != 0
    assert "unknown_store" in done.stderr and "Traceback" not in done.stderr
