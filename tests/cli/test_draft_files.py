"""The files that drafts are saved to: nothing that another program has written is lost, at whatever instant it writes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepless.cli.dev.draft_files import DraftFiles
from stepless.errors import InvalidRequest

BASE, OURS, THEIRS = "id: a\nnodes: {}\n", "id: a\nnodes: {b: {type: manual}}\n", "id: a\nname: theirs\nnodes: {}\n"


def texts(folder: Path) -> list[str]:
    return sorted(path.read_text() for path in folder.iterdir())


def test_a_file_is_replaced_while_it_is_the_base(tmp_path: Path) -> None:
    files = DraftFiles(tmp_path)
    assert files.write("a.yaml", None, BASE) and files.read("a.yaml") == BASE
    os.chmod(tmp_path / "a.yaml", 0o640)
    assert files.write("a.yaml", BASE, OURS) and texts(tmp_path) == [OURS]
    assert (tmp_path / "a.yaml").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("expected", [None, BASE])
def test_a_file_that_is_not_the_base_stays(tmp_path: Path, expected: str | None) -> None:
    (tmp_path / "a.yaml").write_text(THEIRS)
    assert not DraftFiles(tmp_path).write("a.yaml", expected, OURS)
    assert texts(tmp_path) == [THEIRS] and (tmp_path / "a.yaml").read_text() == THEIRS


def test_a_file_that_is_gone_is_not_made_again(tmp_path: Path) -> None:
    assert not DraftFiles(tmp_path).write("a.yaml", BASE, OURS)
    assert texts(tmp_path) == []


def replaced(path: Path) -> None:
    other = path.with_suffix(".other")
    other.write_text(THEIRS)
    os.replace(other, path)


def written_open(opened: Any) -> Callable[[Path], None]:
    def write(_path: Path) -> None:
        opened.seek(0)
        opened.write(THEIRS)
        opened.truncate()
        opened.flush()

    return write


class Interrupted(DraftFiles):
    """Another program saves before the step with this number."""

    def __init__(self, folder: Path, step: int, act: Callable[[Path], None]) -> None:
        super().__init__(folder)
        self.step, self.act = step, act

    def reached(self, step: int, path: Path) -> None:
        if step == self.step:
            self.act(path)


@pytest.mark.parametrize("step", range(4))
@pytest.mark.parametrize("how", ["replaced", "written"])
def test_what_another_program_saves_at_any_step_is_kept_under_the_name(tmp_path: Path, step: int, how: str) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(BASE)
    with path.open("r+") as opened:
        act = replaced if how == "replaced" else written_open(opened)
        saved = Interrupted(tmp_path, step, act).write("a.yaml", BASE, OURS)
    kept = texts(tmp_path)
    assert THEIRS in kept, "what the other program has written is there"
    assert not any(path.name.startswith(".") for path in tmp_path.iterdir())
    if not saved:
        assert path.read_text() == THEIRS


def test_a_save_that_was_killed_is_mended_at_the_next_start(tmp_path: Path) -> None:
    (tmp_path / ".a.yaml.stepless-taken").write_text(BASE)
    (tmp_path / ".a.yaml.stepless-new").write_text(OURS)
    DraftFiles(tmp_path).recover()
    assert [path.name for path in tmp_path.iterdir()] == ["a.yaml"] and texts(tmp_path) == [BASE]


def test_a_file_that_was_made_meanwhile_is_not_replaced_by_the_mending(tmp_path: Path) -> None:
    (tmp_path / ".a.yaml.stepless-taken").write_text(BASE)
    (tmp_path / "a.yaml").write_text(THEIRS)
    DraftFiles(tmp_path).recover()
    assert (tmp_path / "a.yaml").read_text() == THEIRS and texts(tmp_path) == sorted([BASE, THEIRS])


@pytest.mark.parametrize(
    "name",
    [
        "../a.yaml", "/tmp/a.yaml", "a/../b.yaml", "a/.b.yaml", ".git/b.yaml", "a//b.yaml", "a/", ".a.yaml", "a.txt", "",
        "a\x00.yaml", "a.layout.json", "x" * 200 + ".yaml",
    ],
)  # fmt: skip
def test_only_documents_of_the_folder_are_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        DraftFiles(tmp_path).write(name, None, OURS)
    assert refused.value.code == "invalid_file" and texts(tmp_path) == []


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "b.yaml").write_text(BASE)
    (tmp_path / "a.yaml").symlink_to(tmp_path / "there" / "b.yaml")
    assert DraftFiles(tmp_path).write("a.yaml", BASE, OURS)
    assert (tmp_path / "a.yaml").is_symlink() and (tmp_path / "there" / "b.yaml").read_text() == OURS


def test_a_file_of_a_subfolder_is_saved_there(tmp_path: Path) -> None:
    (tmp_path / "orders" / "new").mkdir(parents=True)
    files = DraftFiles(tmp_path)
    assert files.write("orders/new/a.yaml", None, BASE) and files.write("orders/new/a.yaml", BASE, OURS)
    files.write_layout("orders/new/a.yaml", {"notes": [{"x": 0, "y": 0}]})
    assert texts(tmp_path / "orders" / "new")[0] == OURS and files.holding("a") == ["orders/new/a.yaml"]
    assert files.layout("orders/new/a.yaml") == {"notes": [{"x": 0, "y": 0}]}
    (tmp_path / "orders" / "new" / "a.yaml").rename(tmp_path / "orders" / "new" / ".a.yaml.stepless-taken")
    files.recover()
    assert files.read("orders/new/a.yaml") == OURS


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A file beside the folder `served`."""
    (tmp_path / "served").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.yaml").write_text(BASE)
    return tmp_path / "outside" / "a.yaml"


@pytest.mark.parametrize("name", ["a.yaml", "sub/a.yaml", "missing.yaml"])
def test_a_link_that_leads_out_of_the_folder_is_refused(tmp_path: Path, outside: Path, name: str) -> None:
    """To a file, through a folder, and to a file that does not exist yet."""
    served = tmp_path / "served"
    (served / "a.yaml").symlink_to(outside)
    (served / "sub").symlink_to(outside.parent)
    (served / "missing.yaml").symlink_to(outside.with_name("missing.yaml"))
    files = DraftFiles(served)
    for call in (lambda: files.write(name, BASE, OURS), lambda: files.write(name, None, OURS), lambda: files.read(name)):
        with pytest.raises(InvalidRequest) as refused:
            call()
        assert refused.value.code == "file_outside"
    with pytest.raises(InvalidRequest):
        files.write_layout(name, {"notes": []})
    assert texts(outside.parent) == [BASE]


def test_no_file_outside_is_changed_through_the_names_that_a_save_uses(tmp_path: Path, outside: Path) -> None:
    served = tmp_path / "served"
    (served / "a.yaml").write_text(BASE)
    for name in (".a.yaml.stepless-new", ".a.yaml.layout.json.stepless-new", "a.yaml.layout.json"):
        (served / name).symlink_to(outside)
    files = DraftFiles(served)
    with pytest.raises(InvalidRequest, match="leads out"):
        files.layout("a.yaml")
    assert files.write("a.yaml", BASE, OURS)
    files.write_layout("a.yaml", {"notes": []})
    assert texts(outside.parent) == [BASE] and files.layout("a.yaml") == {"notes": []}


def test_a_layout_has_a_line_for_each_place(tmp_path: Path) -> None:
    files = DraftFiles(tmp_path)
    layout = {"places": [{"node": ["a"], "x": 1, "y": 2}, {"node": ["l", "b"], "x": 3, "y": 4}], "notes": [{"x": 0, "y": 0}]}
    files.write_layout("a.yaml", layout)
    assert files.layout("a.yaml") == layout
    assert len((tmp_path / "a.yaml.layout.json").read_text().splitlines()) == 9
    files.write_layout("a.yaml", None)
    assert files.layout("a.yaml") == {} and texts(tmp_path) == []
    (tmp_path / "a.yaml.layout.json").write_text("[")
    assert files.layout("a.yaml") is None
