"""The pytest plug-in costs a test run without workflows nothing: it imports nothing before its fixture is used."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from environments import say

LISTS = """\
import json, sys

def test_nothing() -> None:
    with open("modules.json", "w") as file:
        json.dump(sorted(sys.modules), file)
"""
PLUGIN = {"stepless", "stepless.testing", "stepless.testing.plugin"}


def modules(folder: Path, *options: str) -> set[str]:
    """What a run of pytest with one test of no workflow has imported."""
    (folder / "test_modules.py").write_text(LISTS, "utf-8")
    done = say(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return set(json.loads((folder / "modules.json").read_text("utf-8")))


def test_the_plug_in_imports_itself_and_nothing_else(tmp_path: Path) -> None:
    without = modules(tmp_path, "-p", "no:stepless")
    assert not {name for name in without if name.partition(".")[0] == "stepless"}
    assert modules(tmp_path) - without == PLUGIN
