"""`make demo` and `make demo-payments`, which check themselves; and the recording of the first that the README shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from record_demo import ROWS, Line, drawn, kind_of
from terminal import plain

ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"
TOLD = ("chapter", "check", "kill")  # the lines that tell the story; the order of the events between them is not fixed
VARYING = re.compile(r"\bprocess \d+|R-[0-9a-f]+")


def played(name: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "engine"), "PYTHONUTF8": "1"}
    demo = [sys.executable, str(ROOT / "examples" / name)]
    done = subprocess.run(demo, capture_output=True, encoding="utf-8", timeout=120, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def printed() -> str:
    return played("demo.py")


def story(lines: list[str]) -> list[str]:
    return plain(VARYING.sub("…", "\n".join(line for line in lines if kind_of(line) in TOLD)))


def texts(picture: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def test_the_demo_holds_from_the_webhook_over_the_crash_to_the_payment(printed: str) -> None:
    assert printed.count("✓") >= 9


def test_the_demo_of_payments_holds_over_early_and_doubled_deliveries_and_a_crash() -> None:
    assert played("payments_demo.py").count("✓") >= 13


def test_the_readme_shows_a_recording_of_this_demo(printed: str) -> None:
    assert "(docs/images/demo.svg)" in (ROOT / "README.md").read_text("utf-8")
    picture = (ROOT / "docs/images/demo.svg").read_text("utf-8")
    shown = story(texts(picture))
    assert len(shown) > 15
    assert shown == story(printed.splitlines()), "record it anew: see tests/tools/documentation/record_demo.py"


def test_a_recording_scrolls_and_shows_lines_as_they_are() -> None:
    lines = [Line(f"  ✓ <{number}> & more", 0.5) for number in range(ROWS + 4)]
    picture = drawn(lines)
    assert texts(picture) == ["$ make demo", *(line.text for line in lines)]
    assert picture.count("{transform:translateY(") == 5  # a step for each line beyond the first screen
    assert "infinite;transform:translateY(-95px)}" in picture and "translateY(-114px)" not in picture
