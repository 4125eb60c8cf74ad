"""`make demo`, which checks itself: this test only requires that it succeeds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_demo_holds_from_the_webhook_over_the_crash_to_the_payment() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "engine")}
    demo = [sys.executable, str(ROOT / "examples" / "demo.py")]
    done = subprocess.run(demo, capture_output=True, text=True, timeout=60, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("✓") >= 9
