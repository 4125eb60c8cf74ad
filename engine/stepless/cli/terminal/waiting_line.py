"""Shows a line on the terminal that says what the command waits for: after a second, and erased at the end."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import Final

from stepless.limits import WAITING_LINE_DELAY_MS

_WIPE: Final = "\r\x1b[2K"


@contextmanager
def waiting_line(what: str, quietly: bool = False) -> Iterator[None]:
    """Shows `what` and the seconds so far on standard error while the block takes longer than WAITING_LINE_DELAY_MS. Writes
    nothing when standard error is not a terminal."""
    if quietly or not sys.stderr.isatty():
        yield
        return
    done = Event()
    writer = Thread(target=_show, args=(what, done), daemon=True)
    writer.start()
    try:
        yield
    finally:
        done.set()
        writer.join()


def _show(what: str, done: Event) -> None:
    began, shown = monotonic(), False
    while not done.wait(WAITING_LINE_DELAY_MS / 1000):
        sys.stderr.write(f"{_WIPE}{what} … {monotonic() - began:.0f} s")
        sys.stderr.flush()
        shown = True
    if shown:
        sys.stderr.write(_WIPE)
        sys.stderr.flush()
