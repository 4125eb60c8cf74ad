"""Nodes of the deployed workflows."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from threading import Event

from stepless.nodes.function import FunctionCall, function


@function("steps.work")
def work(name: str, call: FunctionCall, seconds: float = 0.0) -> str:
    """Takes its time."""
    Event().wait(seconds)
    call.log(f"worked on {name}")
    return name


@function("steps.deadly")
def deadly(file: str) -> str:
    """Takes the whole process along for as long as there is a file of this name."""
    if Path(file).exists():
        os.kill(os.getpid(), signal.SIGKILL)
    return "survived"


@function("steps.large")
def large(size: int) -> str:
    """More than an event holds."""
    return "x" * size
