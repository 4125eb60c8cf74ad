"""Defines what clients and the log of a draft exchange: log entries, and answers that are no entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from stepless.model.json import JSON


class LogEntry(NamedTuple):
    """An entry of the log. `at_ms` rises with `seq`. `by` is the person, as the key or token names them. `closes` is set in the
    last entry of an epoch only: the next head."""

    seq: int
    client: str
    n: int
    tag: str
    by: str
    at_ms: int
    effects: Sequence[JSON]
    outcomes: Sequence[JSON] = ()
    closes: JSON = None
    first: str = ""  # as in the request


class Last(NamedTuple):
    """The last committed request of a client, and the person who sent it; empty where that was not kept."""

    n: int
    seq: int
    tag: str
    by: str = ""


class Answer(NamedTuple):
    """Why a request is not in the log: `stale`, `forked`, `too_large`, `replaced` or `busy`, and before it reaches the log
    `rate` or `forbidden`. Its `n` stays free, so the client may send it again, after `retry_after_ms` if that is given."""

    code: str
    retry_after_ms: int | None = None
