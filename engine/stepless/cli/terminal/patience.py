"""What is being waited for, told on a terminal as soon as it takes longer than anybody likes, and wiped away after."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import Final

from stepless.limits import PATIENCE_MS

_WIPE: Final = "\r\x1b[2K"


@contextmanager
def patience(what: str, quietly: bool = False) -> Iterator[None]:
    """Says `what` on standard error, with the seconds, while the block goes on for longer than PATIENCE_MS. Only people are
    told: nothing is written where standard error is no terminal."""
    if quietly or not sys.stderr.isatty():
        yield
        return
    done = Event()
    teller = Thread(target=_tell, args=(what, done), daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()


def _tell(what: str, done: Event) -> None:
    began, told = monotonic(), False
    while not done.wait(PATIENCE_MS / 1000):
        sys.stderr.write(f"{_WIPE}{what} … {monotonic() - began:.0f} s")
        sys.stderr.flush()
        told = True
    if told:
        sys.stderr.write(_WIPE)
        sys.stderr.flush()
