"""The description on a package index: every link has a target, with an address of the source or without one."""

from __future__ import annotations

import re
import shutil
import tarfile
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path

import pytest
from environments import ROOT, must, uv

pytestmark = pytest.mark.installs

LINK = re.compile(r"\]\(([^)\s]+)\)")
SOURCE = "https://code.example/stepless"


def built(project: Path, folder: Path) -> tuple[Message, Message]:
    """The metadata of the wheel and of the source distribution."""
    must(uv(), "build", "--quiet", "--out-dir", folder, folder=project)
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as packed:
        name = next(name for name in packed.namelist() if name.endswith("/METADATA"))
        of_wheel = packed.read(name).decode()
    with tarfile.open(source) as packed_source:
        inside = packed_source.extractfile(f"{source.name.removesuffix('.tar.gz')}/PKG-INFO")
        assert inside is not None
        of_source = inside.read().decode()
    return message_from_string(of_wheel), message_from_string(of_source)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As much of the project as its metadata need."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("pyproject.toml", "README.md", "LICENSE", "template.yaml", ".ci/description.py", "engine/stepless/__init__.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    for name in ("functions", "infrastructure/deploy", ".github/actions"):
        shutil.copytree(ROOT / name, folder / name)
    return folder


def test_no_link_of_the_description_is_relative(small: Path, tmp_path: Path) -> None:
    for metadata in built(small, tmp_path):
        text = metadata.get_payload()
        assert isinstance(text, str) and text.startswith("# Stepless")
        assert [link for link in LINK.findall(text) if not link.startswith("https://")] == []
        assert "Operations (`docs/run/operations.md`)" in text or "/docs/run/operations.md)" in text
        assert metadata["Author"] == "The Stepless developers" and "workflow" in metadata["Keywords"].split(",")


def test_with_an_address_of_the_source_links_lead_there(small: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(small, project)
    settings = (project / "pyproject.toml").read_text("utf-8")
    assert "\n[project.urls]" not in settings, "take the address from there"
    (project / "pyproject.toml").write_text(f'{settings}\n[project.urls]\nSource = "{SOURCE}"\n', "utf-8")
    for metadata in built(project, tmp_path / "dist"):
        links = LINK.findall(metadata.get_payload())
        assert f"{SOURCE}/blob/main/docs/understand/measurements/benchmarks.md#what-it-costs" in links
        assert all(link.startswith("https://") for link in links)
        assert metadata["Project-URL"] == f"Source, {SOURCE}"
