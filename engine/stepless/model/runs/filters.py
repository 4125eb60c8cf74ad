"""Declares the filters of a listing of runs, one row each: how its value is written, and what it means.

The command line makes its options from this table. tests/contract/test_run_filters.py compares it with the readers that declare a
filter in a form of their own: the query and the bulk filter of the API, and the search. The list of the console is checked by the
TypeScript compiler, against the query of the API.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple


class Form(StrEnum):
    """How the value of a filter is written."""

    TEXT = "text"
    STATUS = "status"
    WAITING = "waiting"
    INSTANT = "instant"  # ISO 8601, or milliseconds since 1970
    DURATION = "duration"  # `10s` for people, milliseconds in the API
    KEYWORDS = "keywords"  # may be repeated
    WORDS = "words"  # separated by spaces; a run must have each


class Filter(NamedTuple):
    """`name` is the parameter of `GET /runs`, `option` that of `runs list`. The store applies an `indexed` filter, a
    search the others, to the headers that the store has found."""

    name: str
    form: Form
    about: str
    option: str
    metavar: str
    indexed: bool = False


RUN_FILTERS: Final = (
    Filter("workflow", Form.TEXT, "only runs of this workflow", "workflow", "ID", True),
    Filter("status", Form.STATUS, "only runs with this status", "status", "STATUS", True),
    Filter("waiting", Form.WAITING, "only runs that wait for this", "waiting", "WHAT", True),
    Filter("since", Form.INSTANT, "only runs created at or after this, like 2026-01-31T12:00:00Z", "since", "INSTANT", True),
    Filter("until", Form.INSTANT, "only runs created before this", "until", "INSTANT"),
    Filter("keyword", Form.KEYWORDS, "only runs started with this word; may be repeated", "keyword", "WORD"),
    Filter("key", Form.TEXT, "only runs with this key, such as the number of an order", "key", "KEY"),
    Filter("search", Form.WORDS, "only runs with these words in an id, a keyword, the error or a question", "search", "WORDS"),
    Filter("error", Form.TEXT, "only runs that failed with this code, like provider_error", "error", "CODE"),
    Filter("min_duration_ms", Form.DURATION, "only runs that took at least this long, like 10s", "min-duration", "TIME"),
    Filter("max_duration_ms", Form.DURATION, "only runs that took at most this long, like 2h", "max-duration", "TIME"),
)  # fmt: skip
