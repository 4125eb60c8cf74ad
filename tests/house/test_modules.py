"""docs/contribute/modules.md names every module of the engine and no other; docs/understand/architecture.md leads to each of its
rooms."""

from __future__ import annotations

import re
import subprocess
import sys

from pages import ROOT, anchors

ENGINE = ROOT / "engine" / "stepless"
PAGE = ROOT / "docs/contribute/modules.md"
ROW = re.compile(r"^\| `([\w./-]+\.py)` \| (.+) \|$", re.MULTILINE)


def test_the_page_is_what_the_docstrings_say() -> None:
    command = [sys.executable, "-X", "utf8", "tests/tools/documentation/modules_page.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, encoding="utf-8", timeout=60)
    anew = ".venv/bin/python tests/tools/documentation/modules_page.py > docs/contribute/modules.md"
    assert PAGE.read_text("utf-8") == done.stdout, f"make it anew: {anew}"


def test_every_module_has_one_line_and_no_line_is_left_over() -> None:
    rows = ROW.findall(PAGE.read_text("utf-8"))
    files = [path.relative_to(ENGINE).as_posix() for path in ENGINE.rglob("*.py") if path.name != "__init__.py"]
    assert sorted(name for name, _ in rows) == sorted(files)
    assert [name for name, purpose in rows if len(purpose) < 12] == []


def test_the_table_of_rooms_leads_to_every_room_that_has_modules() -> None:
    text = (ROOT / "docs/understand/architecture.md").read_text("utf-8")
    rooms = {path.name for path in ENGINE.iterdir() if (path / "__init__.py").is_file()} | {"stepless"}
    assert {room for room in rooms if f"](../contribute/modules.md#{room})" not in text} == set()
    assert rooms <= anchors(PAGE)
