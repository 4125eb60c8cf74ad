"""docs/write/client.md does what it says: its programs run against a server that has the workflow which they start."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from pages import ROOT, Block, blocks
from served_api import ASK, KEY, PATIENCE_S, Served

from stepless.client.calls import Calls
from stepless.client.clients import Client

PAGE = ROOT / "docs/write/client.md"
PROGRAMS = [block for block in blocks(PAGE) if block.language == "python"]
SAID = {1: r"\{'pay': \{'paid': 400\}\}\nrun_\w+ completed\n", 2: r"1 run\.started\n(?s:.)*\d+ run\.cancelled\n"}


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_a_program_of_the_page_runs(number: int, server: Served) -> None:
    server.publish({**ASK, "id": "refund"})
    block: Block = PROGRAMS[number]
    environment = {"PYTHONPATH": str(ROOT / "engine"), "STEPLESS_URL": server.url, "STEPLESS_API_KEY": KEY}
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", block.text], env=environment, capture_output=True, text=True, timeout=PATIENCE_S,
        check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert re.fullmatch(SAID.get(number, ""), ran.stdout), ran.stdout


def test_the_page_has_every_call_with_its_parameters() -> None:
    rows = dict(re.findall(r"^\| `(\w+)\(([^)]*)\)` \|", PAGE.read_text("utf-8"), re.MULTILINE))
    for name, call in vars(Calls).items():
        if not name.startswith("_"):
            code = call.__code__
            names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
            assert set(re.findall(r"\w+", rows.pop(name))) - {"filters"} == set(names), name
    assert rows == {} and Client.start.__doc__ == Calls.start.__doc__
