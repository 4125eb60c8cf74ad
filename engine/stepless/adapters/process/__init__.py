"""Runs author code in a separate process on this machine. That process runs `child.py`, which imports nothing of the engine."""

from __future__ import annotations

import platform
import sys


def can_lock_up() -> bool:
    """Returns whether `child.py` has a filter for this machine. The kernel may still refuse it; `ProcessSandbox.run` then
    raises."""
    return sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")
