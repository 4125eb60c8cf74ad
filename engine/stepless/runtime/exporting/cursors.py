"""Reads and writes the cursors of exporters, which a run's header holds as one short text: `bus12 otel9/2`.

Each word is an exporter's name, the sequence number of the last event that it has confirmed, and after a slash how many sessions
in a row have ended without confirming the rest.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple, TypedDict

from stepless.limits import EXPORT_RETRY_MS, MAX_EXPORT_RETRY_MS

_WORD: Final = re.compile(r"([a-z]{1,8})(\d{1,15})(?:/(\d{1,4}))?")


class Also(TypedDict, total=False):
    """Returns what a write of the header stores in addition; empty where nothing is exported, so that a store need not know
    `exported`."""

    exported: str


class Cursor(NamedTuple):
    sequence: int = 0
    failures: int = 0


NOTHING: Final = Also()
BUS: Final = "bus"  # the exporter to EventBridge
ALL: Final = "all"  # in place of an exporter's name: sessions in a row in which the exporters could not be made


def decode(text: str) -> dict[str, Cursor]:
    """Returns the cursors by exporter. Words of another form are left out: their exporters start again from the first event."""
    words = map(_WORD.fullmatch, text.split())
    return {word[1]: Cursor(int(word[2]), int(word[3] or 0)) for word in words if word}


def encode(cursors: Mapping[str, Cursor]) -> str:
    """Returns the text of a header, the same for the same cursors."""
    return " ".join(
        f"{name}{cursor.sequence}{f'/{cursor.failures}' if cursor.failures else ''}" for name, cursor in sorted(cursors.items())
    )


def is_behind(text: str, sequence: int) -> bool:
    """Returns whether an exporter has not confirmed every event up to `sequence`."""
    return any(cursor.sequence < sequence for cursor in decode(text).values())


def retry_after_ms(failures: int) -> int:
    """Returns how long after a session the next one tries again, after this many in a row without a confirmation."""
    return min(EXPORT_RETRY_MS << min(failures - 1, 20), MAX_EXPORT_RETRY_MS)
