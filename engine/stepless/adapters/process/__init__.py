"""Author code in a process of its own on this machine. `child.py` is what runs there; it imports nothing of the engine."""

from __future__ import annotations

import platform
import sys


def can_lock_up() -> bool:
    """Whether `child.py` has a filter for this machine; its kernel may still refuse it, which `ProcessSandbox.run` then says."""
    return sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")
