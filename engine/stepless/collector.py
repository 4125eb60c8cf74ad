"""Configures Python's garbage collector at process start, so that it skips objects that live as long as the process.

Only the processes that Stepless owns use it: the entry points of the Lambda functions and the `stepless` command. The rest of
the library runs in its caller's process and never changes that process's collector.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_SERVING_OBJECTS: Final = 5_000


@contextmanager
def paused_collector() -> Iterator[None]:
    """Disables garbage collection inside the block and freezes the objects that exist at its end.

    For the start of a process: imports and clients, which live until the process ends. Collecting while they are created takes
    about a tenth of the start-up time. After the block, the collector no longer scans them.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        if was_on:
            gc.enable()


@contextmanager
def serving_collector() -> Iterator[None]:
    """Opens a block in which the collector skips what exists now, and runs after 5,000 new objects instead of 700.

    For a process that serves until it is stopped. Requests and runs leave few cycles, but looking for them among the objects of
    the start took an eighth of a request's time. Restores the settings afterwards.
    """
    former = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(_SERVING_OBJECTS, *former[1:])
    try:
        yield
    finally:
        gc.set_threshold(*former)
        gc.unfreeze()


@contextmanager
def resting_collector() -> Iterator[None]:
    """Disables garbage collection inside the block.

    For the compilation of a graph, which makes a million objects for a hundred thousand nodes. They stay, so looking through them
    again and again finds nothing, and took more than half of the time. For several threads at once: the collector is on again
    when the one that found it on leaves its block, at the latest.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
