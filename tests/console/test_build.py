"""What is built of the console: the committed files are those that the sources give, and they are small enough."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from built_console import BUILT, compressed, files, of_the_editor, shell
from node import with_node

pytestmark = pytest.mark.long

KIB = 1024
MAX_SHELL, MAX_FIRST_EDIT, MAX_WHOLE, MAX_ON_DISK = 120 * KIB, 230 * KIB, 390 * KIB, 2048 * KIB
AFTER_THE_FIRST_EDIT = re.compile(
    r"^(?:codemirror|expression|yaml|field|panes?|diff|lines|theme|source|history|publish|conflicts|files|dialog|saying|pinning|differences|settings|aside|carrying)-"
)


def test_the_committed_files_are_those_that_the_sources_give(tmp_path: Path) -> None:
    for name in ("once", "again"):
        done = with_node("npx", "vite", "build", "--logLevel", "error", "--outDir", str(tmp_path / name))
        assert done.returncode == 0, done.stdout[-2_000:] + done.stderr[-2_000:]
    once = files(tmp_path / "once")
    assert files(tmp_path / "again") == once
    committed = files(BUILT)
    assert committed.keys() == once.keys(), "run `make console`"
    assert [name for name in once if committed[name] != once[name]] == [], "run `make console`"


def test_the_console_is_small_enough() -> None:
    built = files(BUILT)
    first = shell(built)
    assert len(first) >= 3
    assert first <= built.keys()
    in_editor = of_the_editor(built)
    assert {"codemirror", "form", "pane", "worker"} <= {Path(name).name.partition("-")[0] for name in in_editor}
    until_edit = {name for name in in_editor if not AFTER_THE_FIRST_EDIT.match(Path(name).name)}
    assert len(until_edit) < len(built)
    sizes = {
        "shell": compressed([built[name] for name in first]), "first edit": compressed([built[name] for name in until_edit]),
        "whole": compressed([built[name] for name in in_editor]), "on disk": sum(map(len, built.values())),
    }
    bounds = {"shell": MAX_SHELL, "first edit": MAX_FIRST_EDIT, "whole": MAX_WHOLE, "on disk": MAX_ON_DISK}
    assert {name: size for name, size in sizes.items() if size > bounds[name]} == {}


def test_nothing_is_loaded_from_elsewhere_and_nothing_is_inline() -> None:
    page = files(BUILT)["index.html"].decode()
    assert re.findall(r'(?:src|href)="(?!/console/)[^"]*"', page) == []
    assert re.search(r"<style|style=|<script(?![^>]* src=)|\bon\w+=", page) is None
    for name, content in files(BUILT).items():
        if name.endswith(".css"):
            assert re.search(rb"url\((?!data:)|@import", content) is None, name
