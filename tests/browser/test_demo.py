"""The closing demo of the console: two people build the refund example from an empty canvas, and it runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from node import ROOT

PATIENCE_S = 240
PICTURES = ROOT / "docs" / "images" / "console"


def test_two_people_build_publish_and_run_the_refund_example(tmp_path: Path) -> None:
    path = os.pathsep.join([str(ROOT / "engine"), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, str(ROOT / "tests/browser/demo_refund.py"), str(tmp_path)]
    done = subprocess.run(
        command, timeout=PATIENCE_S, text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "the file has the document of examples/refund-approval" in done.stdout
    assert "the run has completed" in done.stdout and "version 1 has the hash of the example" in done.stdout
    assert {one.name for one in tmp_path.glob("*.png")} == {one.name for one in PICTURES.glob("*.png")}
