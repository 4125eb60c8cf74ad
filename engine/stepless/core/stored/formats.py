"""Declares the formats of logs and snapshots, and the gate between two releases.

During a deployment two releases serve the same runs, and a rollback deploys the former one again. So a release writes only
formats that the release before it reads. A new format takes two releases: the first one reads it (`reads` becomes its number),
the next one writes it (so does `writes`). A format that is only read waits here for one release.

Not every addition is a new format: releases ignore fields of events, headers and documents that they do not know. What a release
would misunderstand without knowing it gets a new format. An unknown format, type of event or kind of node is refused, and the run
rests until a release that knows it (`runtime/run_backoff.py`).
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Format(NamedTuple):
    """`writes` is the format of everything that a release writes, `reads` the newest that it reads. It reads all older ones."""

    writes: int
    reads: int


class Formats(NamedTuple):
    log: Format
    snapshot: Format


FORMATS: Final = Formats(log=Format(writes=1, reads=1), snapshot=Format(writes=1, reads=2))
FORMER: Final = Formats(log=Format(writes=1, reads=1), snapshot=Format(writes=1, reads=1))  # of the release before this one

# The snapshot of a run that has received messages. It is written already, because the release before cannot serve such a run in
# any case: its log has `message.received`. That release takes no snapshot of this format, reads the log, and lets the run rest.
WITH_MESSAGES: Final = 2
