"""The example of a plug-in, installed by the entry point in its pyproject.toml, without an index or a build."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "plugin-kind"


def install(site: Path, points: dict[str, str] | None = None) -> None:
    """What an installer leaves behind of a package: its metadata, beside the folder that it is imported from."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    announced = points or project["entry-points"]["stepless.kinds"]
    folder = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    lines = [f"{name} = {value}" for name, value in announced.items()]
    (folder / "entry_points.txt").write_text("\n".join(["[stepless.kinds]", *lines, ""]))


def stepless(site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(map(str, (ROOT / "engine", EXAMPLE, site)))
    environment = {**os.environ, "PYTHONPATH": paths}
    command = [sys.executable, "-m", "stepless", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, cwd=site, check=False)


def test_an_installed_kind_runs_and_editors_are_told_of_it(tmp_path: Path) -> None:
    install(tmp_path)
    done = stepless(tmp_path, "run", str(EXAMPLE / "workflow.yaml"), "-i", '{"b": 1, "a": 2}', "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "d3626ac30a87e6f7a6428233b3c68299976865fa5508e4267c5415c76af7a772" in done.stdout
    schema = json.loads(stepless(tmp_path, "schema").stdout)
    assert "checksum" in schema["$defs"]["NodeDocument"]["properties"]["type"]["enum"]
    assert "algorithm" in schema["$defs"]["checksum.with"]["properties"]


def test_without_it_the_kind_is_unknown(tmp_path: Path) -> None:
    done = stepless(tmp_path, "validate", str(EXAMPLE / "workflow.yaml"))
    assert done.returncode == 2
    assert "unknown_kind" in done.stdout + done.stderr


@pytest.mark.parametrize(("points", "code"), [
    ({"checksum": "nowhere_to_be_found"}, "cannot be imported"),
    ({"checksum": "json"}, "has no `KIND`"),
    ({"one": "stepless_checksum", "two": "stepless_checksum"}, "already exists"),
    ({"http": "stepless.nodes.http"}, "already exists"),
])
def test_a_plug_in_that_is_none_is_told_by_name(points: dict[str, str], code: str, tmp_path: Path) -> None:
    install(tmp_path, points)
    done = stepless(tmp_path, "schema")
    assert done.returncode != 0
    assert code in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("nature", "needed"), [("CONTAINER", "container"), ("PURE", "evaluate"), ("PAUSE", "suspend")])
def test_a_kind_that_lacks_what_its_nature_needs_is_told_with_its_package(nature: str, needed: str, tmp_path: Path) -> None:
    install(tmp_path, {"box": "box"})
    kind = f'KIND = Kind("box", Nature.{nature}, BaseModel, "does nothing")'
    (tmp_path / "box.py").write_text(f"from pydantic import BaseModel\nfrom stepless.model.kind import Kind, Nature\n{kind}\n")
    done = stepless(tmp_path, "schema")
    told = " ".join((done.stdout + done.stderr).split())
    assert done.returncode != 0 and "invalid_plugin" in told
    assert f"has no `{needed}`" in told and "announced by stepless-checksum 1.0.0" in told
