"""Declares the statuses of runs and of nodes, one row each: whether it is an end, and how it is shown.

The state of a run names them as members (`core.state`). The command line, the stores and the API read these tables, the console a
copy that is generated from them. tests/contract/test_statuses.py names the readers that need more than a row.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple


class Tone(StrEnum):
    """What a status means at a glance, the most urgent first. A colour and a mark follow from it."""

    FAILED = "failed"
    RUNNING = "running"
    HELD = "held"
    WAITING = "waiting"
    NEW = "new"
    COMPLETED = "completed"
    QUIET = "quiet"


class Row(NamedTuple):
    """`is_end`: nothing follows. `is_stored`: a header may have it, so lists can be filtered by it. `mark` is its sign in a
    terminal, `plain_mark` the same in ASCII."""

    tone: Tone
    is_end: bool = False
    is_stored: bool = True
    mark: str = ""
    plain_mark: str = ""


RUN_STATUSES: Final[Mapping[str, Row]] = MappingProxyType({
    "created": Row(Tone.NEW),
    "running": Row(Tone.RUNNING),
    "paused": Row(Tone.WAITING),
    "completed": Row(Tone.COMPLETED, is_end=True),
    "failed": Row(Tone.FAILED, is_end=True),
    "cancelled": Row(Tone.QUIET, is_end=True),
    "timed_out": Row(Tone.FAILED, is_end=True),
    "damaged_log": Row(Tone.FAILED),
    "newer_log": Row(Tone.FAILED),
    "damaged": Row(Tone.FAILED, is_stored=False),  # said of a header that cannot be read
    "held": Row(Tone.HELD, is_stored=False),  # shown for `paused` or `created` while an operator holds the run
})
"""The statuses of a run. The log of a `damaged_log` or `newer_log` run cannot be read: it stays unchanged until it can."""

NODE_STATUSES: Final[Mapping[str, Row]] = MappingProxyType({
    "pending": Row(Tone.QUIET, mark="·", plain_mark="."),
    "queued": Row(Tone.NEW, mark="·", plain_mark="."),
    "running": Row(Tone.RUNNING, mark="●", plain_mark="*"),
    "waiting": Row(Tone.WAITING, mark="◷", plain_mark="~"),
    "completed": Row(Tone.COMPLETED, is_end=True, mark="✓", plain_mark="+"),
    "failed": Row(Tone.FAILED, is_end=True, mark="✗", plain_mark="x"),
    "skipped": Row(Tone.QUIET, is_end=True, mark="–", plain_mark="-"),
    "cancelled": Row(Tone.QUIET, is_end=True, mark="–", plain_mark="-"),
})
"""The statuses of an instance."""

STORED: Final = tuple(name for name, row in RUN_STATUSES.items() if row.is_stored)
"""The statuses by which runs can be listed."""
ENDED: Final = frozenset(name for name, row in RUN_STATUSES.items() if row.is_end)
SETTLED: Final = frozenset(name for name, row in NODE_STATUSES.items() if row.is_end)


def tone_of(status: str) -> Tone:
    """Returns the tone of a status of a run or of an instance; the tone of any other text is QUIET."""
    row = NODE_STATUSES.get(status) or RUN_STATUSES.get(status)
    return row.tone if row is not None else Tone.QUIET
