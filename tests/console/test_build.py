"""What is built of the console: the committed files are those that the sources give, and they are small enough."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from built_console import BUILT, at_any_time, at_once, compressed, files, shell
from node import with_node

pytestmark = [pytest.mark.check, pytest.mark.long]

KIB = 1024
MOST = {"shell": 120 * KIB, "run view": 195 * KIB, "first edit": 230 * KIB, "whole": 370 * KIB, "on disk": 2048 * KIB}


def test_the_committed_files_are_those_that_the_sources_give(tmp_path: Path) -> None:
    """So two builds have the same bytes: that of the committed files, mostly on another machine, and this one."""
    done = with_node("npx", "vite", "build", "--logLevel", "error", "--outDir", str(tmp_path / "built"))
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr[-2_000:]
    built, committed = files(tmp_path / "built"), files(BUILT)
    assert committed.keys() == built.keys(), "run `make console`"
    assert [name for name in built if committed[name] != built[name]] == [], "run `make console`"


def test_the_console_is_small_enough() -> None:
    """The run view, and the whole editor, are all that they load at any time. That an edit needs no more than what is loaded at
    once is seen in a browser: tests/browser/test_network.py."""
    built = files(BUILT)
    first, whole = at_once(built, "editor"), at_any_time(built, "editor")
    parts = {"shell": shell(built), "run view": at_any_time(built, "runs_view"), "first edit": first, "whole": whole}
    assert len(parts["shell"]) >= 3
    assert parts["shell"] < first < whole <= built.keys()
    assert {"editor", "wire", "worker"} <= names(first)
    assert {"codemirror", "texts", "aside", "yaml"} <= names(whole - first)
    sizes = {name: compressed([built[one] for one in part]) for name, part in parts.items()}
    sizes["on disk"] = sum(map(len, built.values()))
    assert {name: size for name, size in sizes.items() if size > MOST[name]} == {}


def names(part: set[str]) -> set[str]:
    return {Path(name).name.partition("-")[0] for name in part}


def test_nothing_is_loaded_from_elsewhere_and_nothing_is_inline() -> None:
    page = files(BUILT)["index.html"].decode()
    assert re.findall(r'(?:src|href)="(?!/console/)[^"]*"', page) == []
    assert re.search(r"<style|style=|<script(?![^>]* src=)|\bon\w+=", page) is None
    for name, content in files(BUILT).items():
        if name.endswith(".css"):
            assert re.search(rb"url\((?![\"']?data:)|@import", content) is None, name
