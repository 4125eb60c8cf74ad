"""Where a copy came from, as an argument for an installer; never the bare name, which may be another package on an index."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from stepless.runtime import origin

COMMIT = "a" * 40
METADATA = """\
Metadata-Version: 2.4
Name: stepless
Version: 9.9.9
Requires-Dist: httpx>=0.28
Provides-Extra: local
Requires-Dist: fastapi>=0.120; extra == 'local'
Requires-Dist: uvicorn[standard]>=0.35; (python_version >= "3.11") and extra == "local"
Provides-Extra: aws
Requires-Dist: boto3>=1.40; extra == 'aws'
"""


@pytest.fixture
def note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Installs a copy of which the installer noted this."""
    folder = tmp_path / "stepless-9.9.9.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(METADATA)
    monkeypatch.syspath_prepend(tmp_path)

    def noted(**facts: Any) -> None:
        (folder / "direct_url.json").write_text(json.dumps(facts))

    return noted


@pytest.mark.parametrize(
    ("facts", "place"),
    [
        ({"url": "https://git.example/s.git", "vcs_info": {"vcs": "git", "requested_revision": "main", "commit_id": COMMIT}},
         f"git+https://git.example/s.git@{COMMIT}"),
        ({"url": "ssh://git@git.example/s", "vcs_info": {"vcs": "git", "commit_id": COMMIT}, "subdirectory": "a/b"},
         f"git+ssh://git@git.example/s@{COMMIT}#subdirectory=a/b"),
        ({"url": "https://files.example/s.whl", "archive_info": {"hashes": {"sha256": "0"}}}, "https://files.example/s.whl"),
        ({"url": "https://files.example/s.tgz", "archive_info": {}, "subdirectory": "x"}, "https://files.example/s.tgz#subdirectory=x"),
        ({"url": "file:///nowhere/s.whl", "archive_info": {}}, ""),
        ({"url": "file:///nowhere", "dir_info": {"editable": True}}, ""),
    ],
)  # fmt: skip
def test_a_copy_is_named_by_the_place_that_it_came_from(note: Any, facts: dict[str, Any], place: str) -> None:
    note(**facts)
    assert origin.place() == place
    wanted = f"pip install 'stepless[aws] @ {place}'" if place else "pip install 'boto3>=1.40'"
    assert origin.command("aws") == wanted


def test_a_file_that_is_still_there_is_named(note: Any, tmp_path: Path) -> None:
    wheel = tmp_path / "a copy.whl"
    wheel.touch()
    note(url=wheel.as_uri(), archive_info={})
    assert origin.place() == wheel.as_uri() and "%20" in origin.place()


def test_a_copy_from_an_index_is_not_named_at_all(note: Any) -> None:
    assert origin.place() == ""
    assert origin.command("local") == "pip install 'fastapi>=0.120' 'uvicorn[standard]>=0.35'"


def test_this_copy_knows_its_place() -> None:
    assert origin.installed() is not None, sys.path
