"""`stepless drafts pull`: the draft of a server in the file of a repository."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dev_drafts import TEXT, Draft

from stepless.cli import main

Serve = Callable[..., Any]


@pytest.fixture
def where(serve: Serve, tmp_path: Path) -> tuple[Draft, list[str], Path]:
    """A draft on a server, how to reach it, and a repository beside it."""
    (tmp_path / "w.yaml").write_text(TEXT)
    dev = serve()
    key = dev.client.headers["authorization"].removeprefix("Bearer ")
    repository = tmp_path / "repository"
    repository.mkdir()
    return Draft(dev), ["--url", str(dev.client.base_url), "--key", key], repository


def test_a_pull_changes_the_lines_that_say_something_else(where: Any, capsys: Any) -> None:
    draft, options, repository = where
    file = repository / "w.yaml"
    file.write_text(TEXT.replace("# by hand", "# of the repository"))
    draft.says(5)
    assert main(["drafts", "pull", "w", str(file), *options]) == 0
    assert file.read_text() == TEXT.replace("# by hand", "# of the repository").replace("<begin> ", "5 ")
    assert capsys.readouterr().out == f"{file}: changed, as of item 1 of the draft\n"
    assert main(["drafts", "pull", "w", str(file), *options]) == 0 and "unchanged" in capsys.readouterr().out
    assert main(["drafts", "pull", "w", str(file), "--seq", "0", *options]) == 0
    assert file.read_text() == TEXT.replace("# by hand", "# of the repository")
    assert [path.name for path in repository.iterdir()] == ["w.yaml"]


def test_a_new_file_has_the_text_of_the_draft(where: Any) -> None:
    _, options, repository = where
    assert main(["drafts", "pull", "w", str(repository / "new.yaml"), *options]) == 0
    assert (repository / "new.yaml").read_text() == TEXT


def test_a_file_of_another_workflow_stays(where: Any, capsys: Any) -> None:
    _, options, repository = where
    file = repository / "other.yaml"
    file.write_text(TEXT.replace("id: w", "id: other"))
    assert main(["drafts", "pull", "w", str(file), *options]) == 2
    assert "another workflow" in capsys.readouterr().err and "id: other" in file.read_text()
    file.write_text("id: w\nnodes: {")
    assert main(["drafts", "pull", "w", str(file), *options]) == 2
    assert main(["drafts", "pull", "none", str(repository / "none.yaml"), *options]) == 2
    assert not (repository / "none.yaml").exists()
