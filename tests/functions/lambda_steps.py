"""Nodes whose effects can be counted, in the process of the function."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from threading import Event

from stepless.nodes.function import function


def _note(text: str) -> None:
    with Path(os.environ["EFFECTS"]).open("a") as effects:
        effects.write(f"{text}\n")


@function("steps.mark")
def mark(name: str) -> str:
    _note(name)
    return name


@function("steps.work")
def work(name: str, seconds: float) -> str:
    """Takes its time."""
    Event().wait(seconds)
    _note(name)
    return name


@function("steps.lingers")
def lingers(name: str, seconds: float) -> str:
    """Goes on, at first, after the end of its attempt."""
    first = f"{name}+" not in Path(os.environ["EFFECTS"]).read_text().split()
    _note(f"{name}+")
    if first:
        Event().wait(seconds)
    _note(f"{name}-")
    return name


@function("steps.stop_once")
def stop_once(name: str) -> str:
    """Stops the whole process the first time that it is called."""
    first = name not in Path(os.environ["EFFECTS"]).read_text().split()
    _note(name)
    if first:
        os.kill(os.getpid(), signal.SIGSTOP)
    return name
